// SPDX-License-Identifier: Apache-2.0
// The split task stack on one thread: the effect of each call of its owner and of its thieves, then
// random sequences of them against a deque that is obviously right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <random>
#include <vector>

#include "fake_home.hpp"

namespace creek::support {
namespace {

using ext::join_result;

std::vector<std::uint32_t> ran;
void note(std::uint32_t id) {
  ran.push_back(id);
}

class task_stacks : public ::testing::Test {
 protected:
  task_stacks() { ran.clear(); }
};

std::uint32_t stolen_id(lone_stack& tasks) {
  ext::task_slot* slot = tasks.steal();
  return slot != nullptr ? lone_stack::id_of(slot) : 0;
}

TEST_F(task_stacks, a_join_gives_the_newest_fork_back) {
  lone_stack tasks(8, note);
  auto* one = tasks.push_fork(1);
  auto* two = tasks.push_fork(2);
  EXPECT_EQ(tasks.join(two), join_result::run_inline);
  EXPECT_EQ(tasks.join(one), join_result::run_inline);
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_FALSE(tasks.stack.has_work());
  EXPECT_EQ(tasks.home.available.load(), 0U) << "nobody asked";
}

TEST_F(task_stacks, nothing_can_be_stolen_before_somebody_asked) {
  lone_stack tasks(8, note);
  tasks.push_fork(1);
  EXPECT_TRUE(tasks.stack.has_work());
  ext::task_slot* task = nullptr;
  EXPECT_EQ(tasks.stack.steal(task), steal_result::empty);
}

TEST_F(task_stacks, the_next_push_answers_with_the_older_half) {
  lone_stack tasks(8, note);
  for (std::uint32_t id = 1; id <= 3; ++id) tasks.push_fork(id);
  tasks.stack.ask();
  EXPECT_EQ(tasks.steal(), nullptr);
  tasks.push_fork(4);
  EXPECT_EQ(tasks.home.available.load(), 1U);
  EXPECT_EQ(stolen_id(tasks), 1U);
  EXPECT_EQ(stolen_id(tasks), 2U);
  EXPECT_EQ(tasks.steal(), nullptr);
  tasks.push_fork(5);
  EXPECT_EQ(tasks.steal(), nullptr) << "one question, one answer";
}

TEST_F(task_stacks, the_next_join_answers_too) {
  lone_stack tasks(8, note);
  tasks.push_fork(1);
  auto* newest = tasks.push_fork(2);
  tasks.stack.ask();
  EXPECT_EQ(tasks.join(newest), join_result::run_inline);
  EXPECT_EQ(stolen_id(tasks), 1U);
}

TEST_F(task_stacks, a_join_takes_the_shared_part_back) {
  lone_stack tasks(8, note);
  auto* only = tasks.push_fork(1);
  ASSERT_TRUE(tasks.stack.force_share());
  EXPECT_EQ(tasks.join(only), join_result::run_inline);
  EXPECT_EQ(tasks.steal(), nullptr);
}

TEST_F(task_stacks, a_join_of_a_finished_stolen_fork_is_done) {
  lone_stack tasks(8, note);
  auto* one = tasks.push_fork(1);
  ASSERT_TRUE(tasks.stack.force_share());
  lone_stack::run_taken(tasks.steal());
  EXPECT_EQ(tasks.join(one), join_result::done);
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(tasks.push_fork(2), one) << "the slot is free again";
}

TEST_F(task_stacks, sharing_by_force_needs_no_owner) {
  lone_stack tasks(8, note);
  EXPECT_FALSE(tasks.stack.force_share()) << "nothing there";
  for (std::uint32_t id = 1; id <= 5; ++id) tasks.push_spawned(id);
  EXPECT_TRUE(tasks.stack.force_share());
  EXPECT_EQ(stolen_id(tasks), 1U);
  EXPECT_EQ(stolen_id(tasks), 2U);
  EXPECT_EQ(stolen_id(tasks), 3U);
  EXPECT_EQ(tasks.steal(), nullptr);
}

TEST_F(task_stacks, reports_every_push_that_a_policy_judges_until_nobody_sleeps) {
  lone_stack tasks(8, note);
  tasks.home.which = ext::announced_pushes::all;
  tasks.stack.arm();
  EXPECT_TRUE(tasks.stack.is_armed());
  tasks.push_spawned(1);
  tasks.push_spawned(2);
  tasks.push_spawned(3);
  EXPECT_EQ(tasks.home.available.load(), 3U);
  EXPECT_EQ(stolen_id(tasks), 1U) << "a push that wakes somebody shares";
  tasks.home.which = ext::announced_pushes::none;
  tasks.push_spawned(4);
  EXPECT_FALSE(tasks.stack.is_armed());
  tasks.push_spawned(5);
  EXPECT_EQ(tasks.home.available.load(), 4U);
}

class guarded_stack : public task_stacks {
 protected:
  guarded_stack() {
    tasks.home.which = ext::announced_pushes::oldest;
    tasks.stack.arm();
    tasks.push_fork(1);  // shared
    oldest = tasks.push_fork(2);
  }
  std::uint64_t reports() const { return tasks.home.available.load(); }

  lone_stack tasks{8, note};
  ext::task_slot* oldest = nullptr;  ///< the oldest private task, which guards the stack
};

TEST_F(guarded_stack, reports_the_pushes_of_the_oldest_private_task_alone) {
  EXPECT_EQ(reports(), 2U);
  EXPECT_FALSE(tasks.stack.is_armed());
  for (std::uint32_t id = 3; id <= 6; ++id) {
    EXPECT_EQ(tasks.join(tasks.push_fork(id)), join_result::run_inline);
  }
  EXPECT_EQ(reports(), 2U);
  EXPECT_EQ(tasks.join(oldest), join_result::run_inline);
  EXPECT_TRUE(tasks.stack.is_armed()) << "its oldest private task is gone";
  tasks.push_fork(7);
  EXPECT_EQ(reports(), 3U);
  EXPECT_FALSE(tasks.stack.is_armed());
}

TEST_F(guarded_stack, is_armed_when_the_task_that_guards_it_is_shared_by_force) {
  ASSERT_TRUE(tasks.stack.force_share());
  EXPECT_EQ(stolen_id(tasks), 1U);
  EXPECT_EQ(stolen_id(tasks), 2U);
  EXPECT_TRUE(tasks.stack.is_armed());
  tasks.push_fork(3);
  EXPECT_EQ(reports(), 3U);
}

TEST_F(guarded_stack, is_guarded_by_the_next_task_when_it_has_answered) {
  tasks.push_fork(3);
  EXPECT_EQ(stolen_id(tasks), 1U);
  tasks.stack.ask();
  tasks.push_fork(4);  // shares 2 and 3
  EXPECT_EQ(reports(), 3U);
  EXPECT_EQ(stolen_id(tasks), 2U);
  EXPECT_FALSE(tasks.stack.is_armed());
  tasks.push_fork(5);
  EXPECT_EQ(reports(), 3U);
}

TEST_F(guarded_stack, is_armed_when_it_has_taken_back_all_that_it_shared) {
  auto* first = tasks.stack.slots();
  EXPECT_EQ(tasks.join(oldest), join_result::run_inline);
  EXPECT_EQ(tasks.join(first), join_result::run_inline);
  EXPECT_TRUE(tasks.stack.is_armed());
  EXPECT_TRUE(tasks.stack.verify());
}

TEST_F(guarded_stack, is_armed_when_it_has_shared_all) {
  tasks.stack.share_all();
  EXPECT_TRUE(tasks.stack.is_armed());
  tasks.push_fork(3);
  EXPECT_EQ(reports(), 3U);
}

TEST_F(guarded_stack, needs_no_guard_once_nobody_sleeps) {
  tasks.home.which = ext::announced_pushes::none;
  EXPECT_EQ(tasks.join(oldest), join_result::run_inline);
  EXPECT_FALSE(tasks.stack.is_armed());
  tasks.push_fork(3);
  EXPECT_EQ(reports(), 2U);
}

TEST_F(task_stacks, what_finds_no_room_runs_at_once) {
  lone_stack tasks(2, note);
  ASSERT_NE(tasks.push_spawned(1), nullptr);
  ASSERT_NE(tasks.push_spawned(2), nullptr);
  EXPECT_EQ(tasks.push_spawned(3), nullptr);
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(tasks.push_fork(4), nullptr) << "a fork is left to its maker";
  EXPECT_EQ(ran.size(), 1U);
  EXPECT_EQ(tasks.stack.record().inline_runs.load(), 2U);
  while (tasks.run_newest()) {
  }
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{3, 2, 1}));
}

TEST_F(task_stacks, an_open_fork_stops_run_newest) {
  lone_stack tasks(8, note);
  tasks.push_spawned(1);
  auto* open = tasks.push_fork(2);
  EXPECT_FALSE(tasks.run_newest());
  tasks.push_spawned(3);
  EXPECT_TRUE(tasks.run_newest());
  EXPECT_FALSE(tasks.run_newest());
  EXPECT_EQ(tasks.join(open), join_result::run_inline);
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{3, 2}));
}

TEST_F(task_stacks, a_join_leaves_what_was_spawned_above) {
  lone_stack tasks(8, note);
  auto* open = tasks.push_fork(1);
  tasks.push_spawned(2);
  tasks.push_spawned(3);
  EXPECT_EQ(tasks.join(open), join_result::run_inline);
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1}));
  while (tasks.run_newest()) {
  }
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1, 3, 2}));
  EXPECT_EQ(tasks.push_fork(4), open) << "nothing is left behind";
}

TEST_F(task_stacks, a_stolen_fork_below_spawned_tasks_is_done) {
  lone_stack tasks(8, note);
  auto* open = tasks.push_fork(1);
  tasks.push_spawned(2);
  ASSERT_TRUE(tasks.stack.force_share());
  lone_stack::run_taken(tasks.steal());
  EXPECT_EQ(tasks.join(open), join_result::done);
  EXPECT_TRUE(tasks.run_newest());
  EXPECT_FALSE(tasks.run_newest());
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(tasks.push_fork(4), open);
}

TEST_F(task_stacks, a_thief_passes_over_a_fork_that_was_joined_below_others) {
  lone_stack tasks(8, note);
  auto* open = tasks.push_fork(1);
  tasks.push_spawned(2);
  EXPECT_EQ(tasks.join(open), join_result::run_inline);
  tasks.stack.share_all();
  lone_stack::run_taken(tasks.steal());
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1}));
  lone_stack::run_taken(tasks.steal());
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(task_stacks, share_all_offers_everything) {
  lone_stack tasks(8, note);
  for (std::uint32_t id = 1; id <= 4; ++id) tasks.push_spawned(id);
  tasks.stack.share_all();
  for (std::uint32_t id = 1; id <= 4; ++id) EXPECT_EQ(stolen_id(tasks), id);
}

/// One random walk: whatever is called, thieves get the oldest task, the owner the newest, each
/// task runs once, and nothing is lost.
class random_walk {
 public:
  random_walk(std::uint64_t seed, std::uint32_t capacity)
      : random_(seed), capacity_(capacity), tasks_(capacity, note) {}

  void run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      switch (random_() % 9) {
        case 0:
        case 1:
        case 2:
          push();
          break;
        case 3:
        case 4:
          pop();
          break;
        case 5:
          steal();
          break;
        case 6:
          force_and_steal();
          break;
        case 7:
          join_buried();
          break;
        default:
          disturb();
      }
      EXPECT_TRUE(tasks_.stack.verify()) << "step " << step;
    }
    while (!open_.empty()) pop();
    EXPECT_FALSE(tasks_.stack.has_work());
  }

 private:
  struct open_task {
    std::uint32_t id;  ///< 0: a hole, a fork that was joined while younger tasks lay above
    ext::task_slot* slot;
    bool is_fork, stolen;
  };

  void push() {
    const bool is_fork = random_() % 2 == 0;
    const std::uint32_t id = ++last_id_;
    ext::task_slot* slot = is_fork ? tasks_.push_fork(id) : tasks_.push_spawned(id);
    ASSERT_EQ(slot == nullptr, open_.size() == capacity_);
    if (slot != nullptr) {
      open_.push_back({id, slot, is_fork, false});
      return;
    }
    if (!is_fork) {
      ASSERT_EQ(ran.back(), id);
    }
    // A full stack whose tasks were all stolen drops those that it need not join.
    if (first_unstolen() < open_.size()) return;
    while (!open_.empty() && !open_.back().is_fork) open_.pop_back();
  }
  void pop() {
    if (open_.empty()) return;
    const open_task newest = open_.back();
    const std::size_t before = ran.size();
    if (newest.is_fork) {
      open_.pop_back();
      ASSERT_EQ(tasks_.join(newest.slot),
                newest.stolen ? join_result::done : join_result::run_inline);
      if (!newest.stolen) {
        ASSERT_EQ(ran.back(), newest.id);
      }
      return;
    }
    // Passes over stolen spawned tasks, stops at an open fork.
    while (!open_.empty() && !open_.back().is_fork && open_.back().stolen) open_.pop_back();
    const bool expected = !open_.empty() && !open_.back().is_fork;
    ASSERT_EQ(tasks_.run_newest(), expected);
    const bool is_hole = expected && open_.back().id == 0;
    ASSERT_EQ(ran.size(), before + (expected && !is_hole ? 1 : 0));
    if (expected) {
      if (!is_hole) {
        ASSERT_EQ(ran.back(), open_.back().id);
      }
      open_.pop_back();
    }
  }
  /// Joins the newest open fork, with spawned tasks above it.
  void join_buried() {
    const auto newest = std::find_if(open_.rbegin(), open_.rend(),
                                     [](const open_task& each) { return each.is_fork; });
    if (newest == open_.rbegin() || newest == open_.rend()) return;
    ASSERT_EQ(tasks_.join(newest->slot),
              newest->stolen ? join_result::done : join_result::run_inline);
    if (!newest->stolen) {
      ASSERT_EQ(ran.back(), newest->id);
    }
    *newest = {0, newest->slot, false, newest->stolen};
  }
  std::size_t first_unstolen() const {
    std::size_t index = 0;
    while (index < open_.size() && open_[index].stolen) ++index;
    return index;
  }
  bool steal() {
    ext::task_slot* slot = tasks_.steal();
    if (slot == nullptr) return false;
    const std::size_t oldest = first_unstolen();
    EXPECT_LT(oldest, open_.size());
    if (oldest == open_.size()) return false;
    EXPECT_EQ(slot, open_[oldest].slot);
    lone_stack::run_taken(slot);
    if (open_[oldest].id != 0) {
      EXPECT_EQ(ran.back(), open_[oldest].id);
    }
    open_[oldest].stolen = true;
    return true;
  }
  void force_and_steal() {
    const bool any = first_unstolen() < open_.size();
    ASSERT_EQ(tasks_.stack.has_work(), any);
    tasks_.stack.force_share();
    ASSERT_EQ(steal(), any);
  }
  void disturb() {
    switch (random_() % 4) {
      case 0:
        tasks_.stack.ask();
        break;
      case 1:
        tasks_.home.which = static_cast<ext::announced_pushes>(random_() % 3);
        break;
      case 2:
        tasks_.stack.arm();
        break;
      default:
        tasks_.stack.refresh_armed();
    }
  }

  std::mt19937_64 random_;
  std::uint32_t capacity_;
  lone_stack tasks_;
  std::deque<open_task> open_;
  std::uint32_t last_id_ = 0;
};

class random_walks : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(random_walks, agree_with_the_oracle) {
  const char* given = std::getenv("CREEK_TEST_SEED");
  const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
  for (std::uint64_t seed = first; seed < first + 40 && !HasFailure(); ++seed) {
    ran.clear();
    random_walk walk(seed, GetParam());
    walk.run(1500);
    if (HasFailure()) std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  }
}
INSTANTIATE_TEST_SUITE_P(capacity, random_walks, ::testing::Values(2, 3, 16, 256));

}  // namespace
}  // namespace creek::support
