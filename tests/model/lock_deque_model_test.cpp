// SPDX-License-Identifier: Apache-2.0
// The lock-based deque over memory that goes stale: owner and two thieves, capacity 2.
#include <gtest/gtest.h>

#include <creek/tasking/lock_deque.hpp>

#include "stale_memory.hpp"

namespace {

using namespace creek;
using namespace creek::model;

// Longer than a line, so that a copy can be torn.
struct task {
  std::uint32_t number = 0;
  std::uint32_t rest[11] = {};
  explicit task(std::uint32_t n = 0) : number{n} {
    for (std::uint32_t& r : rest) r = n;
  }
  [[nodiscard]] bool whole() const {
    return std::all_of(std::begin(rest), std::end(rest), [this](auto r) { return r == number; });
  }
};

constexpr std::uint32_t tasks = 5;
constexpr std::size_t capacity = 2;

template <class Memory>
struct deque_run {
  using deque = lock_deque<Memory, task>;
  std::array<int, tasks + 1> taken{};
  bool done = false;

  void take(const task& t) {
    expect(t.whole(), "a torn or stale task");
    expect(t.number >= 1 && t.number <= tasks, "a task that nobody made");
    expect(++taken[t.number] == 1, "a task taken twice");
  }
  deque view(Memory& memory) { return deque{core_id{0}, memory.at(core_id{0}, 0), capacity}; }

  void own(Memory& memory) {
    deque mine = view(memory);
    task got;
    for (std::uint32_t n = 1; n <= tasks; ++n) {
      if (!mine.push(memory, task{n})) take(task{n});
      if (n % 2 == 0 && mine.pop_newest(memory, got)) take(got);
    }
    while (mine.pop_newest(memory, got)) take(got);
    done = true;
  }
  void steal(Memory& memory) {
    deque victim = view(memory);
    task got;
    for (int attempt = 0; attempt < 3 && !done; ++attempt) {
      if (victim.steal_oldest(memory, got) == steal_result::taken) take(got);
    }
  }
  outcome explore(exploration how, int thieves) {
    return explore_on<Memory>(
        1 + thieves, how,
        [this](Memory& memory) { memory.self() == core_id{0} ? own(memory) : steal(memory); },
        [this] { *this = {}; },
        [this] {
          for (std::uint32_t n = 1; n <= tasks; ++n) expect(taken[n] == 1, "a lost task");
        });
  }
};

TEST(LockDequeModel, LosesAndDuplicatesNothingWithOneThief) {
  const outcome all = deque_run<stale_memory>{}.explore({.preemptions = 4}, 1);
  EXPECT_EQ(all.failure, "");
  EXPECT_TRUE(all.complete);
  RecordProperty("runs", std::to_string(all.runs));
}

TEST(LockDequeModel, LosesAndDuplicatesNothingWithTwoThieves) {
  const outcome all = deque_run<stale_memory>{}.explore({.preemptions = 3}, 2);
  EXPECT_EQ(all.failure, "");
  EXPECT_TRUE(all.complete);
  RecordProperty("runs", std::to_string(all.runs));
}

TEST(LockDequeModel, HoldsInRandomRuns) {
  EXPECT_EQ(deque_run<stale_memory>{}.explore({.random_runs = 20'000, .seed = 3}, 3).failure, "");
}

TEST(LockDequeModel, NeedsItsFlushes) {
  EXPECT_NE(deque_run<memory_that_never_flushes>{}.explore({}, 1).failure, "");
}

TEST(LockDequeModel, NeedsItsInvalidations) {
  EXPECT_NE(deque_run<memory_that_never_invalidates>{}.explore({}, 1).failure, "");
}

}  // namespace
