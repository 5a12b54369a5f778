// SPDX-License-Identifier: Apache-2.0
// The order of victims by itself.
#include <gtest/gtest.h>

#include <set>

#include "scheduling/victim_order.hpp"

namespace creek {
namespace {

using host_backend::victim_order;

scheduler_options with(scheduler_kind kind) {
  scheduler_options options;
  options.scheduler = kind;
  options.seed = 7;
  return options;
}

TEST(victim_order, at_random_reaches_all_others_and_never_the_worker_itself) {
  victim_order order(with(scheduler_kind::stealing_random), 2, {0, 1, 3});
  std::set<unsigned> seen;
  for (unsigned attempt = 0; attempt < 200; ++attempt) seen.insert(order.next(attempt));
  EXPECT_EQ(seen, (std::set<unsigned>{0, 1, 3}));
}

TEST(victim_order, at_random_repeats_with_its_seed) {
  victim_order one(with(scheduler_kind::stealing_random), 0, {1, 2, 3});
  victim_order two(with(scheduler_kind::stealing_random), 0, {1, 2, 3});
  for (unsigned attempt = 0; attempt < 50; ++attempt)
    EXPECT_EQ(one.next(attempt), two.next(attempt));
}

TEST(victim_order, returns_to_the_victim_that_had_work) {
  victim_order order(with(scheduler_kind::stealing_last_victim), 0, {1, 2, 3});
  order.had_work(3);
  for (int search = 0; search < 5; ++search) EXPECT_EQ(order.next(0), 3U);
}

TEST(victim_order, by_distance_visits_near_workers_first) {
  victim_order order(with(scheduler_kind::stealing_latency), 1, {2, 0, 3});
  EXPECT_EQ(order.others(), 3U);
  EXPECT_EQ(order.next(0), 2U);
  EXPECT_EQ(order.next(1), 0U);
  EXPECT_EQ(order.next(2), 3U);
}

}  // namespace
}  // namespace creek
