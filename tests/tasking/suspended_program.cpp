// SPDX-License-Identifier: Apache-2.0
// A small run of everything for tools that observe a process: valgrind (memory of
// fibers) and gdb, which stops in `stop_here` on a fiber that was suspended and resumed.
#include <cstdio>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

extern "C" [[gnu::noinline]] int stop_here(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int resumed(std::vector<creek::promise<int>>& values) {
  std::vector<creek::future<int>> results;
  for (auto& value : values) {
    results.push_back(creek::async([f = value.get_future()]() mutable {
      try {
        throw f.get();
      } catch (int thrown) {
        return thrown;
      }
    }));
  }
  creek::spawn([&] {
    for (auto& value : values) value.set_value(1);
  });
  int sum = 0;
  for (auto& each : results) sum += each.get();
  creek::taskwait();
  return stop_here(sum);
}

}  // namespace

int main() {
  creek::scheduler_options options;
  options.workers = 2;
  creek::runtime rt{creek::host(options)};
  const long forked = rt.run([] { return fib(12); });
  const int waited = rt.run([] {
    std::vector<creek::promise<int>> values(20);
    return resumed(values);
  });
  std::printf("%ld %d\n", forked, waited);
  return forked == 144 && waited == 20 ? 0 : 1;
}
