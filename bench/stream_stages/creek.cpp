// SPDX-License-Identifier: Apache-2.0
// A network of processes.
#include <creek/stream.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::stream_stages {
namespace {

using creek::stream::in;
using creek::stream::out;

template <int Stages>
sample run(const settings& s) {
  sample result;
  inside(s, [&] {
    result = measure(s, Stages, [&](int stages, std::uint64_t& sum) {
      creek::stream::network net({.capacity = capacity});
      auto [first, last] = net.make_channel<std::uint64_t>();
      net.add(
          "source",
          [n = static_cast<std::uint64_t>(s.n)](out<std::uint64_t>& to) {
            for (std::uint64_t i = 0; i < n; ++i) to.write(i);
          },
          std::move(first));
      for (int i = 2; i < stages; ++i) {
        auto next = net.make_channel<std::uint64_t>();
        net.add(
            "stage",
            [](in<std::uint64_t>& from, out<std::uint64_t>& to) {
              for (const std::uint64_t each : from) to.write(each);
            },
            std::move(last), std::move(next.writer));
        last = std::move(next.reader);
      }
      net.add(
          "sink",
          [&sum](in<std::uint64_t>& from) {
            std::uint64_t all = 0;
            for (const std::uint64_t each : from) all += each;
            sum = all;
          },
          std::move(last));
      net.run();
    });
  });
  return result;
}

const registration with_two{two, run<2>};
const registration with_four{four, run<4>};

}  // namespace
}  // namespace bench::stream_stages
