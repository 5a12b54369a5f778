// SPDX-License-Identifier: Apache-2.0
// Sleep of tasks.
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "setups.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;

class Sleep : public Conformance {};
CONFORMANCE(Sleep);

TEST_P(Sleep, LastsAtLeastItsSpan) {
  in_each_runtime([this] {
    for (const auto span : {1us, 300us, 2000us}) {
      const auto begin = std::chrono::steady_clock::now();
      creek::sleep_for(span);
      if (!is_simulated()) {
        EXPECT_GE(std::chrono::steady_clock::now() - begin, span);
      }
    }
  });
}

TEST_P(Sleep, IsOverAtOnceWithoutASpan) {
  in_each_runtime([] {
    creek::sleep_for(0ns);
    creek::sleep_for(-1h);
    EXPECT_TRUE(creek::sleep_for(0ns, std::stop_token()));
  });
}

/// The task that ends the sleep would not run if the sleeper kept the only worker.
TEST_P(Sleep, LeavesTheWorkerToTheTaskThatEndsIt) {
  if (is_simulated()) return;
  in_each_runtime([] {
    std::stop_source stop;
    creek::spawn([&] { stop.request_stop(); });
    EXPECT_FALSE(creek::sleep_for(std::chrono::hours(24 * 365 * 200), stop.get_token()));
    EXPECT_FALSE(creek::sleep_for(1h, stop.get_token()));
    creek::taskwait();
  });
}

TEST_P(Sleep, OfManyTasksEnds) {
  in_each_runtime([] {
    std::atomic<int> over{0};
    for (int i = 0; i < 1000; ++i) {
      creek::spawn([&, i] {
        creek::sleep_for(std::chrono::microseconds(i % 50));
        ++over;
      });
    }
    creek::taskwait();
    EXPECT_EQ(over.load(), 1000);
  });
}

TEST_P(Sleep, OfAForeignThreadIsItsOwn) {
  std::stop_source stop;
  creek::sleep_for(100us);
  std::jthread ender([&] { stop.request_stop(); });
  EXPECT_FALSE(creek::sleep_for(1h, stop.get_token()));
}

}  // namespace
