// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of the algorithms: every test body runs on one, two and five workers,
// and every random input comes from a seed that a failure prints.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include <creek/tasking.hpp>

namespace creek::support {

/// Calls f() inside runtimes of several sizes, including oversubscribed ones.
template <class F>
void on_workers(F f) {
  for (unsigned workers : {1u, 2u, 5u}) {
    SCOPED_TRACE("workers = " + std::to_string(workers));
    scheduler_options options;
    options.workers = workers;
    runtime rt(options);
    rt.run(f);
  }
}

/// Returns a generator with a new seed per run, or with CREEK_TEST_SEED to repeat a run.
class seeded {
 public:
  seeded()
      : seed_(choose()),
        trace_(__FILE__, __LINE__, "replay with CREEK_TEST_SEED=" + std::to_string(seed_)),
        engine(seed_) {}

 private:
  static std::uint64_t choose() {
    const char* given = std::getenv("CREEK_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }
  std::uint64_t seed_;
  ::testing::ScopedTrace trace_;

 public:
  std::mt19937_64 engine;
};

}  // namespace creek::support
