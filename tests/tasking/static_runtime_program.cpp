// SPDX-License-Identifier: Apache-2.0
// A runtime at namespace scope: made before main(), used by static objects around it, ended after
// them. Prints the events, which the build compares.
#include <atomic>
#include <cstdio>

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
    std::printf("begin %d, end %d\n", begin, rt.run([] { return 2; }));
  }
} user;

}  // namespace

int main() {
  for (int i = 0; i < 100; ++i) {
    (void)rt.async([] { counter.finished.fetch_add(1); });
  }
}
