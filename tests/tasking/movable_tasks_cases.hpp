// SPDX-License-Identifier: Apache-2.0
// Cases of movable tasks for any communicator: each rank runs every case.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/objects/object_space.hpp>
#include <creek/host.hpp>
#include <creek/tasking/movable_tasks.hpp>

#include "../../support/unbalanced_tree.hpp"

namespace creek::movable_tasks_cases {

using creek_bench::tree_node;

inline void visit(task_bag<std::uint64_t>& bag, tree_node at, std::int64_t limit) {
  ++bag.result();
  const int count = creek_bench::children(at, limit);
  for (int i = 0; i < count; ++i) bag.spawn<&visit>(creek_bench::child(at, i), limit);
}

/// Ranks whose thread runs the tasks, or workers do.
template <class Result>
std::unique_ptr<movable_tasks<Result>> make_tasks(object_space& space, runtime* workers) {
  if (workers == nullptr) return std::make_unique<movable_tasks<Result>>(space);
  return std::make_unique<movable_tasks<Result>>(space, *workers);
}

inline thread_local std::int64_t not_taken_here = 0;
inline void search_trees(object_space& space, runtime* workers) {
  const auto tasks = make_tasks<std::uint64_t>(space, workers);
  for (const int limit : {1, 6, 8}) {
    const std::uint64_t expected = creek_bench::count_nodes(creek_bench::tree_root(), limit);
    for (int root = 0; root < space.size(); ++root) {
      if (space.rank() == root) tasks->spawn<&visit>(creek_bench::tree_root(), limit);
      EXPECT_EQ(tasks->run(std::plus<>{}), expected);
      // All that was given was taken.
      not_taken_here = static_cast<std::int64_t>(tasks->counts().given) -
                       static_cast<std::int64_t>(tasks->counts().taken);
      space.barrier();
      std::int64_t not_taken = 0;
      for (int rank = 0; rank < space.size(); ++rank) {
        not_taken += space.call_on<[] { return not_taken_here; }>(rank);
      }
      EXPECT_EQ(not_taken, 0);
      space.barrier();
    }
  }
}

/// Many short runs, one right after the other, so that some ranks are in the next one already.
inline void run_again_and_again(object_space& space, runtime* workers) {
  const auto tasks = make_tasks<std::uint64_t>(space, workers);
  const std::uint64_t expected = creek_bench::count_nodes(creek_bench::tree_root(), 4);
  for (int run = 0; run < 40; ++run) {
    EXPECT_EQ(tasks->run(std::plus<>{}), 0u);  // without a task
    if (space.rank() == run % space.size()) tasks->spawn<&visit>(creek_bench::tree_root(), 4);
    if (space.rank() == run % 3) tasks->spawn<&visit>(creek_bench::tree_root(), 4);
    EXPECT_EQ(tasks->run(std::plus<>{}), (space.size() > run % 3 ? 2 : 1) * expected);
  }
}

using totals = std::vector<std::uint64_t>;
inline totals add(totals a, const totals& b) {
  a.resize(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) a[i] += b[i];
  return a;
}
inline void note(task_bag<totals>& bag, std::string text, const std::vector<std::uint16_t>& odd,
                 std::uint64_t left) {
  totals& all = bag.result();
  all.resize(3);
  ++all[0];
  all[1] += text.size();
  for (const std::uint16_t each : odd) all[2] += each;
  if (left == 0) return;
  bag.spawn<&note>(text + "x", odd, left - 1);
  bag.spawn<[](task_bag<totals>& here, const std::string& other) {
    here.result().resize(3);
    here.result()[1] += other.size();
  }>(std::string(300, 'y'));
}

/// Arguments that own memory, of tasks with two functions, and more of them than one message takes.
inline void pass_arguments(object_space& space, runtime* workers) {
  const auto tasks = make_tasks<totals>(space, workers);
  constexpr std::uint64_t first = 1500;
  if (space.rank() == space.size() - 1) {
    for (std::uint64_t i = 0; i < first; ++i) {
      tasks->spawn<&note>(std::string(400, 'a'), std::vector<std::uint16_t>{1, 3, 5}, 2u);
    }
  }
  const totals expected{3 * first, first * (400 + 401 + 402 + 2 * 300), 3 * 9 * first};
  EXPECT_EQ(tasks->run(&add), expected);
}

// A task that ends on another rank only, and one that goes on until that has happened.
inline thread_local int rank_here = 0;
inline thread_local bool has_arrived = false;
inline void arrive() {
  has_arrived = true;
}
inline void travel(task_bag<totals>& bag, int home, const std::string& text) {
  if (rank_here == home) return bag.spawn<&travel>(home, text);
  object_space::current().post_on<&arrive>(home);
  bag.result().push_back(text.size());
}
inline void keep(task_bag<totals>& bag) {
  if (!has_arrived) bag.spawn<&keep>();
}

/// A rank without tasks gets some from each other rank in turn.
inline void move_tasks(object_space& space) {
  rank_here = space.rank();
  const auto tasks = make_tasks<totals>(space, nullptr);
  for (int home = 0; home < space.size() && space.size() > 1; ++home) {
    has_arrived = false;
    space.barrier();
    if (rank_here == home) {
      tasks->spawn<&travel>(home, std::string(100'000, 't'));
      tasks->spawn<&keep>();
    }
    EXPECT_EQ(tasks->run(&add), totals{100'000});
    EXPECT_EQ(tasks->counts().given != 0, rank_here == home);
  }
}

/// Results are optional.
inline thread_local int runs_here = 0;
inline void run_without_results(object_space& space) {
  constexpr auto sum = [](int a, int b) { return a + b; };
  runs_here = 0;
  movable_tasks tasks(space);
  constexpr auto count = [](task_bag<void>& bag, int left) {
    ++runs_here;
    if (left > 0) {
      bag.spawn<[](task_bag<void>&) { ++runs_here; }>();
    }
  };
  for (int i = 0; i < 10; ++i) tasks.spawn<count>(i);
  tasks.run();
  const auto all = space.make_on_all<int>();
  constexpr auto own = [](const int&) { return runs_here; };
  EXPECT_EQ((all.reduce<own>(sum)), 19 * space.size());
}

inline void refuse_a_second_one(object_space& space) {
  movable_tasks tasks(space);
  EXPECT_THROW(movable_tasks second(space), usage_error);
  tasks.run();
}

/// Runs all cases on a communicator.
template <class Communicator>
void run_all(Communicator& ranks) {
  runtime workers{host{2}};
  for (const auto& one : {&search_trees, &run_again_and_again, &pass_arguments}) {
    object_space space(ranks);
    one(space, nullptr);
    one(space, &workers);
  }
  for (const auto& one : {&move_tasks, &run_without_results, &refuse_a_second_one}) {
    object_space space(ranks);
    one(space);
  }
}

}  // namespace creek::movable_tasks_cases
