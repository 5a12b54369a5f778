// SPDX-License-Identifier: Apache-2.0
// The list of parked strands by itself.
#include <gtest/gtest.h>

#include <vector>

#include "fibers/parked_strands.hpp"
#include "workers/worker.hpp"

namespace creek {
namespace {

using host_backend::fiber;
using host_backend::parked_look;
using host_backend::parked_strands;
using host_backend::worker;

TEST(parked_strands, lists_a_fiber_and_its_worker_until_it_leaves) {
  parked_strands parked;
  worker here;
  fiber suspended;
  suspended.on = &here;
  EXPECT_TRUE(parked.empty());
  parked.add(suspended);
  EXPECT_FALSE(parked.empty());
  EXPECT_EQ(suspended.parked, &here);
  parked.remove(suspended);
  EXPECT_TRUE(parked.empty());
  EXPECT_EQ(suspended.parked, nullptr);
}

TEST(parked_strands, is_asked_in_order_until_one_fiber_is_accepted) {
  parked_strands parked;
  std::vector<fiber> fibers(3);
  for (fiber& each : fibers) parked.add(each);
  std::vector<fiber*> seen;
  const auto accept = [&](fiber& each) {
    seen.push_back(&each);
    return &each == &fibers[1] ? parked_look::taken : parked_look::keeps;
  };
  EXPECT_TRUE(parked.any_of(accept));
  EXPECT_EQ(seen, (std::vector<fiber*>{&fibers[0], &fibers[1]}));
  parked.remove(fibers[1]);
  EXPECT_FALSE(parked.any_of(accept));
}

TEST(parked_strands, does_not_ask_again_where_a_look_found_nothing) {
  parked_strands parked;
  worker here;
  std::vector<fiber> fibers(4);
  for (fiber& each : fibers) {
    each.on = &here;
    parked.add(each);
  }
  std::vector<fiber*> seen;
  const auto only_last_has_tasks = [&](fiber& each) {
    seen.push_back(&each);
    return &each == &fibers[3] ? parked_look::keeps : parked_look::nothing;
  };
  EXPECT_FALSE(parked.any_of(only_last_has_tasks));
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_FALSE(parked.any_of(only_last_has_tasks));
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_EQ(fibers[0].parked, &here) << "the strand has not run again";
  for (fiber& each : fibers) parked.remove(each);
  EXPECT_TRUE(parked.empty());
  EXPECT_EQ(fibers[0].parked, nullptr);
  parked.add(fibers[0]);
  EXPECT_TRUE(parked.any_of([](fiber&) { return parked_look::taken; }));
}

}  // namespace
}  // namespace creek
