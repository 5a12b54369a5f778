// SPDX-License-Identifier: Apache-2.0
// The tick clock against std::chrono::steady_clock. Bounds are one-sided or generous: the test may
// be descheduled anywhere.
#include <gtest/gtest.h>

#include <thread>

#include <creek/core/measuring/clock.hpp>

namespace creek {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

TEST(clock, never_goes_back) {
  ticks last = tick_clock::now();
  for (int i = 0; i < 100'000; ++i) {
    const ticks next = tick_clock::now();
    ASSERT_LE(last, next);
    last = next;
  }
}

TEST(clock, time_of_lies_between_two_readings_of_the_system_clock) {
  spin_for(20ms);  // a base for measuring the rate
  constexpr nanoseconds slack = 50us;
  for (int i = 0; i < 100; ++i) {
    const nanoseconds before = steady_clock::now().time_since_epoch();
    const ticks now = tick_clock::now();
    const nanoseconds after = steady_clock::now().time_since_epoch();
    const nanoseconds time = tick_clock::scale().time_of(now);
    ASSERT_GE(time + slack, before);
    ASSERT_LE(time - slack, after);
  }
}

TEST(clock, a_point_before_the_origin_has_a_time) {
  const tick_scale scale{{1000}, 5000ns, 2.0};
  EXPECT_EQ(scale.time_of({900}), 4800ns);
  EXPECT_EQ(scale.time_of({1010}), 5020ns);
}

TEST(clock, spans_convert_both_ways) {
  const ticks span = tick_clock::from_nanoseconds(1ms);
  const nanoseconds back = tick_clock::to_nanoseconds(span);
  EXPECT_NEAR(static_cast<double>(back.count()), 1e6, 1e3);
  EXPECT_EQ(tick_clock::from_nanoseconds(-5ns).count, 0U);
  EXPECT_GT(tick_clock::from_nanoseconds(std::chrono::nanoseconds::max()),
            tick_clock::from_nanoseconds(24h * 365 * 10));
}

TEST(clock, spin_for_takes_at_least_its_time) {
  const auto start = steady_clock::now();
  spin_for(2ms);
  EXPECT_GE(steady_clock::now() - start, 1990us);  // the first rate is accurate to 1e-3
}

TEST(clock, spin_until_ends_with_the_condition_or_the_limit) {
  EXPECT_TRUE(spin_until([] { return true; }, 0ns));
  EXPECT_FALSE(spin_until([] { return false; }, 100us));
  std::atomic<bool> set{false};
  std::jthread setter([&] { set.store(true); });
  EXPECT_TRUE(spin_until([&] { return set.load(); }, 60s));
}

}  // namespace
}  // namespace creek
