// SPDX-License-Identifier: Apache-2.0
// The statistics of `creek compare` against published and hand-computed values.
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "report/activity_classes.hpp"

namespace creek::tool::compare {
namespace {

// [Hollander 2014], table 3.1: Hamilton depression scale factor IV of nine patients before
// and after tranquilizers; example 3.3 gives -0.46, example 3.4 (-0.786, -0.010) with 96.1 %.
const std::vector<double> before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
const std::vector<double> after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

std::vector<double> published_differences() {
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
  return differences;
}

TEST(statistics, typical_difference_and_interval_of_a_textbook) {
  const auto differences = published_differences();
  EXPECT_NEAR(typical_difference(differences), -0.46, 1e-12);
  const auto range = difference_interval(differences);
  ASSERT_TRUE(range);
  EXPECT_NEAR(range->low, -0.786, 1e-12);
  EXPECT_NEAR(range->high, -0.010, 1e-12);
  EXPECT_NEAR(range->confidence, 1 - 2 * 10.0 / 512, 1e-12);  // P(W <= 5) = 10 / 2^9
  EXPECT_TRUE(range->excludes_zero());
}

TEST(statistics, six_pairs_are_the_fewest_with_an_interval) {
  EXPECT_FALSE(difference_interval(std::vector<double>{1, 2, 3, 4, 5}));
  const auto range = difference_interval(std::vector<double>{1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(range);
  EXPECT_DOUBLE_EQ(range->low, 1);
  EXPECT_DOUBLE_EQ(range->high, 6);
  EXPECT_DOUBLE_EQ(range->confidence, 1 - 2.0 / 64);
}

// For 15 pairs, tables of the signed rank test give 25 as the two-sided critical value of 0.05: the
// interval goes from the 26th smallest of 120 averages to the 26th largest.
TEST(statistics, fifteen_pairs_leave_out_twenty_five_averages_at_each_end) {
  std::vector<double> powers;
  for (int i = 0; i < 15; ++i) powers.push_back(static_cast<double>(1 << i));
  std::vector<double> averages;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    for (std::size_t j = i; j < powers.size(); ++j) {
      averages.push_back((powers[i] + powers[j]) / 2);
    }
  }
  std::sort(averages.begin(), averages.end());
  const auto range = difference_interval(powers);
  ASSERT_TRUE(range);
  EXPECT_DOUBLE_EQ(range->low, averages[25]);
  EXPECT_DOUBLE_EQ(range->high, averages[120 - 26]);
  EXPECT_NEAR(range->confidence, 0.952, 5e-4);
}

TEST(statistics, interval_of_no_difference_holds_zero) {
  const auto range = difference_interval(std::vector<double>(20, 0.0));
  ASSERT_TRUE(range);
  EXPECT_FALSE(range->excludes_zero());
}

TEST(statistics, one_disturbed_run_does_not_move_the_estimate) {
  std::vector<double> steady(15, 0.01);
  steady[3] = 5;
  EXPECT_DOUBLE_EQ(typical_difference(steady), 0.01);
  EXPECT_LT(difference_interval(steady)->high, 0.011);
}

TEST(statistics, differences_are_shares_of_the_baseline_of_the_same_round) {
  const auto found =
      relative_difference(std::vector<double>{11, 22, 0}, std::vector<double>{10, 20, 10});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->estimate, -0.175, 1e-12);  // averages: -1, -.45, -.45, .1, .1, .1
  EXPECT_FALSE(found->range);
}

TEST(statistics, there_are_no_shares_of_nothing) {
  EXPECT_FALSE(relative_difference(std::vector<double>{1, 2}, std::vector<double>{0, 1}));
  EXPECT_FALSE(relative_difference(std::vector<double>{}, std::vector<double>{1}));
}

TEST(statistics, summary_of_runs) {
  const summary of = summary_of({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(of.median, 3);
  EXPECT_DOUBLE_EQ(of.min, 1);
  EXPECT_DOUBLE_EQ(of.max, 5);
  EXPECT_DOUBLE_EQ(of.spread, 1.0 / 3);
  EXPECT_DOUBLE_EQ(summary_of({7}).spread, 0);
}

TEST(activity, classes_cover_every_number_of_workers_once) {
  for (const unsigned workers : {1U, 2U, 8U, 9U, 48U, 100U}) {
    std::size_t next = 0;
    for (const activity_class& each : activity_classes(workers)) {
      EXPECT_EQ(each.first, next);
      EXPECT_GE(each.last, each.first);
      next = each.last + 1;
    }
    EXPECT_EQ(next, workers + 1U);
    EXPECT_LE(activity_classes(workers).size(), 9U);
  }
}

TEST(activity, mean_and_shares) {
  const std::vector<double> shares{0.1, 0.2, 0.3, 0.4};
  EXPECT_DOUBLE_EQ(mean_workers(shares), 2);
  EXPECT_DOUBLE_EQ(share_of({1, 2, ""}, shares), 0.5);
}

}  // namespace
}  // namespace creek::tool::compare
