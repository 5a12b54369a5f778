// SPDX-License-Identifier: Apache-2.0
// The algebra of quantities: known conversions, and that simulated time does not drift.
#include <gtest/gtest.h>

#include <type_traits>

#include <creek/core/units.hpp>

namespace {

using namespace creek;
using namespace creek::units;

static_assert(std::is_same_v<decltype(watts{} * seconds{}), joules>);
static_assert(std::is_same_v<decltype(joules{} / seconds{}), watts>);
static_assert(std::is_same_v<decltype(joules{} / joules{}), double>);
static_assert(std::is_same_v<decltype(bytes{} / seconds{}), bytes_per_second>);
static_assert(std::is_same_v<decltype(bytes{} / bytes_per_second{}), seconds>);

template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
static_assert(addable<joules, joules> && !addable<joules, watts> && !addable<volts, double>);
static_assert(addable<cycles, cycles> && !addable<cycles, exact_time>);

TEST(units, products_and_quotients) {
  EXPECT_DOUBLE_EQ((watts{25} * seconds{2}).value, 50);
  EXPECT_DOUBLE_EQ(joules{50} / joules{25}, 2);
  EXPECT_DOUBLE_EQ((2 * joules{3} - joules{1}).value, 5);
  EXPECT_LT(volts{0.7}, volts{1.1});
}

TEST(units, clocks_divided_from_1600_MHz_are_whole_femtoseconds) {
  EXPECT_EQ(period_of(megahertz(1600)).length.femtoseconds, 625'000);
  for (int divider = 2; divider <= 16; ++divider) {
    const clock_period clock = period_of(megahertz(1600.0 / divider));
    EXPECT_EQ(clock.length, divider * exact_time{625'000}) << divider;
    EXPECT_NEAR(clock.frequency().value, 1600e6 / divider, 1e-3);
  }
}

TEST(units, a_second_of_cycles_is_a_second) {
  const clock_period core = period_of(megahertz(1600.0 / 3));
  exact_time now;
  for (int i = 0; i < 1000; ++i) now += cycles{533'333} * core;
  EXPECT_EQ(now.femtoseconds, 1000LL * 533'333 * 1'875'000);
  EXPECT_NEAR(now.in_seconds().value, 0.999999375, 1e-12);
  EXPECT_EQ(nearest_exact_time(seconds{1e-9}).femtoseconds, 1'000'000);
  EXPECT_EQ(exact_time{7} / exact_time{2}, 3);
}

}  // namespace
