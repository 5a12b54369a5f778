// SPDX-License-Identifier: Apache-2.0
// Binding and naming threads.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>

namespace creek::host_backend {
namespace {

TEST(affinity, mask_is_ascending_and_holds_the_current_unit) {
  const auto mask = affinity_mask();
  ASSERT_FALSE(mask.empty());
  EXPECT_TRUE(std::ranges::is_sorted(mask));
  EXPECT_TRUE(std::ranges::binary_search(mask, sched_getcpu()));
}

TEST(affinity, a_bound_thread_runs_there_and_its_maker_does_not_care) {
  const auto before = affinity_mask();
  for (const int unit : before) {
    std::jthread([unit] {
      bind_this_thread(unit);
      EXPECT_EQ(affinity_mask(), std::vector<int>{unit});
      EXPECT_EQ(sched_getcpu(), unit);
    });
  }
  EXPECT_EQ(affinity_mask(), before);
}

TEST(affinity, binding_can_be_undone) {
  const auto before = affinity_mask();
  bind_this_thread(before.front());
  allow_this_thread(before);
  EXPECT_EQ(affinity_mask(), before);
}

TEST(affinity, a_unit_that_does_not_exist_is_named) {
  try {
    bind_this_thread(4095);
    GTEST_SKIP() << "a machine of 4096 units";
  } catch (const error& why) {
    EXPECT_EQ(why.code().value(), EINVAL);
    EXPECT_NE(std::string(why.what()).find("4095"), std::string::npos);
  }
  EXPECT_THROW(bind_this_thread(-1), usage_error);
  EXPECT_THROW(allow_this_thread({}), usage_error);
}

TEST(affinity, long_names_keep_their_end) {
  std::jthread([] {
    name_this_thread("creek/3");
    EXPECT_EQ(this_thread_name(), "creek/3");
    name_this_thread("fifteen letters");
    EXPECT_EQ(this_thread_name(), "fifteen letters");
    name_this_thread("my-long-program-name-1234");
    EXPECT_EQ(this_thread_name(), "my-long-pro1234");
  });
}

}  // namespace
}  // namespace creek::host_backend
