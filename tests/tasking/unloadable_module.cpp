// SPDX-License-Identifier: Apache-2.0
// A plug-in that contains creek, for dlclose_test.cpp.
#include <chrono>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace {
creek::runtime* kept = nullptr;
}

extern "C" int module_sum() {
  creek::runtime rt{creek::host(2)};
  // Starts the thread of the timers, which ends with this code.
  rt.run([] {
    creek::promise<void> never;
    (void)never.get_future().wait_for(std::chrono::nanoseconds{1});
  });
  auto [a, b] = rt.run([] { return creek::fork_join([] { return 40; }, [] { return 2; }); });
  return a + b;
}

/// Leaves a runtime with sleeping workers behind.
extern "C" void module_keep_a_runtime() {
  if (kept == nullptr) kept = new creek::runtime{creek::host(2)};
  kept->run([] {});
}

extern "C" int module_use_the_kept() {
  return kept->run([] { return 7; });
}
