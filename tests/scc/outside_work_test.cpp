// SPDX-License-Identifier: Apache-2.0
// Work that threads outside hand in to a task runtime, without a simulation.
#include "tasks/messages/outside_work.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "support/process_facts.hpp"

namespace {

using creek::scc_backend::outside_work;
namespace ext = creek::ext;

std::exception_ptr no_deadlock() {
  ADD_FAILURE() << "no strand waits";
  return nullptr;
}

struct given_up_task : ext::submitted_task {
  given_up_task() {
    submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
      static_cast<given_up_task*>(self)->reason = std::move(why);
    };
  }
  std::exception_ptr reason;
};

TEST(OutsideWork, IsTakenInTheOrderInWhichItCame) {
  outside_work work;
  given_up_task first, second;
  ext::strand strand;
  EXPECT_FALSE(work.is_waiting());
  work.hand_in(&first);
  work.hand_in(&strand);
  work.hand_in(&second);
  EXPECT_TRUE(work.is_waiting());
  const outside_work::batch taken = work.take();
  EXPECT_EQ(taken.tasks, (std::vector<ext::submitted_task*>{&first, &second}));
  EXPECT_EQ(taken.strands, std::vector<ext::strand*>{&strand});
  EXPECT_FALSE(work.is_waiting());
  EXPECT_EQ(work.take().size(), 0U);
}

TEST(OutsideWork, EndsARest) {
  outside_work work;
  given_up_task task;
  std::thread other([&] { work.hand_in(&task); });
  EXPECT_EQ(work.rest(false, no_deadlock), outside_work::outcome::arrived);
  other.join();
  EXPECT_EQ(work.take().size(), 1U);
}

TEST(OutsideWork, ComesBeforeTheEnd) {
  outside_work work;
  given_up_task task;
  work.hand_in(&task);
  work.stop();
  EXPECT_EQ(work.rest(false, no_deadlock), outside_work::outcome::arrived);
  work.take();
  EXPECT_EQ(work.rest(false, no_deadlock), outside_work::outcome::stopped);
}

TEST(OutsideWork, IsRefusedAfterADeadlock) {
  if (creek::support::under_tsan) GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
  outside_work work;
  const auto deadlock = [] { return std::make_exception_ptr(std::runtime_error("deadlock")); };
  // This is the only thread, and it rests.
  EXPECT_EQ(work.rest(true, deadlock), outside_work::outcome::closed);
  given_up_task late;
  work.hand_in(&late);
  EXPECT_TRUE(late.reason);
  EXPECT_EQ(late.reason, work.closed_by());
  EXPECT_EQ(work.take().size(), 0U);
}

}  // namespace
