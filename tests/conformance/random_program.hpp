// SPDX-License-Identifier: Apache-2.0
// Random task programs whose meaning does not depend on which worker runs which task: a tree of
// forks, spawns, groups, futures, pipelines and tasks that outlive their creators.
#pragma once

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <random>
#include <vector>

namespace conformance {

enum class step : std::uint8_t {
  leaf,        ///< a number, after some work
  thrown,      ///< an exception that carries a number
  forked,      ///< fork_join of two or three
  spawned,     ///< spawn of all, taskwait
  grouped,     ///< a task_group of all
  futures,     ///< async of all, get in another order
  chained,     ///< async, then one after the other
  gathered,    ///< async of all, when_all
  pipeline,    ///< spawn of all in another order, each waits for the promise of the one before
  looped,      ///< parallel_for over the children
  left_alone,  ///< spawn of all, without waiting: they add to `side` later
  ranked,      ///< spawn of all with priorities, taskwait
};
inline constexpr unsigned inner_kinds = 10;  ///< those from `forked` on

/// One node; the program is the tree below it.
struct program {
  step kind = step::leaf;
  std::uint64_t number = 0;
  std::vector<program> children;
  std::vector<std::size_t> order;  ///< a permutation of the children, if one is needed

  std::size_t size() const;
};

/// Result of a program: a value, or an exception with a number, and a side sum.
struct outcome {
  std::uint64_t value = 0;
  std::uint64_t side = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
};

/// Creates a random program. Without `pipelines` no task waits for one that its creator makes
/// later, so each may run at once where it is made, as happens when the deque is full.
program make_program(std::mt19937_64& random, int depth, bool pipelines = true);
/// Runs the program sequentially, by its definition.
outcome run_sequentially(const program& p);
/// Runs the program as a task of the current runtime.
std::uint64_t run_as_task(const program& p, std::atomic<std::uint64_t>& side);
std::ostream& operator<<(std::ostream& out, const program& p);

}  // namespace conformance
