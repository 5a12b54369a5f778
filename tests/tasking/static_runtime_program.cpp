// SPDX-License-Identifier: Apache-2.0
// A runtime at namespace scope: made before main(), used by static objects around it, ended after
// them. Prints the events, which the build compares.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace {

struct outlives_runtime {
  std::atomic<int> finished{0};
  ~outlives_runtime() { std::printf("finished %d\n", finished.load()); }
} counter;  // created before the runtime: its tasks may use it to the end

creek::runtime rt{creek::host(2)};

struct uses_runtime {
  int begin = rt.run([] { return 1; });
  ~uses_runtime() {
    // A wait for a limited time still ends.
    const int end = rt.run([] {
      creek::promise<void> never;
      const auto how = never.get_future().wait_for(std::chrono::milliseconds{1});
      return how == std::future_status::timeout ? 2 : 3;
    });
    std::printf("begin %d, end %d\n", begin, end);
  }
} user;

}  // namespace

int main() {
  static auto& never = *new creek::promise<void>;  // no part of the end of the program fulfils it
  (void)rt.async([late = never.get_future()] {
    if (late.wait_for(std::chrono::milliseconds{100}) == std::future_status::timeout) {
      counter.finished.fetch_add(1);
    }
  });
  for (int i = 0; i < 99; ++i) {
    (void)rt.async([] { counter.finished.fetch_add(1); });
  }
}
