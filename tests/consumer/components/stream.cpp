// SPDX-License-Identifier: Apache-2.0
#include <creek/host.hpp>
#include <creek/stream.hpp>
#include <creek/tasking.hpp>

#include <utility>

int main() {
  int sum = 0;
  creek::runtime rt{creek::host{2}};
  rt.run([&] {
    creek::stream::network net;
    auto numbers = net.make_channel<int>();
    net.add(
        "numbers",
        [](creek::stream::out<int>& to) {
          for (int i = 1; i <= 100; ++i) to.write(i);
        },
        std::move(numbers.writer));
    net.add(
        "sum",
        [&](creek::stream::in<int>& from) {
          for (const int each : from) sum += each;
        },
        std::move(numbers.reader));
    net.run();
  });
  return sum == 5050 ? 0 : 1;
}
