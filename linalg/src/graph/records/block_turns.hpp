// SPDX-License-Identifier: Apache-2.0
// Turns of tasks that change blocks commutatively: who has a block, and who waits for it.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "byte_block.hpp"
#include "graph_task.hpp"

namespace creek::linalg::detail {

/// A block that tasks change in any order, but not at the same time.
struct block_turn {
  // Guarded by the lock of the graph.
  bool taken = false;
  graph_task* first =
      nullptr;  ///< tasks that are put aside until it is free, linked through `next`
  graph_task* last = nullptr;
  /// Unfinished tasks that refer to it: raised by the enqueuer, lowered under the lock.
  std::atomic<std::size_t> users{0};
};

/// Takes the turns of a task at all its blocks, or none: then the task is put aside at one that is
/// taken. Under the lock of the graph. A task that holds a turn waits for no other one.
inline bool take_turns(graph_task& task) noexcept {
  if (task.has_turns) return true;
  for (block_turn* each : task.extras->turns) {
    if (!each->taken) continue;
    task.next = nullptr;
    (each->first == nullptr ? each->first : each->last->next) = &task;
    each->last = &task;
    return false;
  }
  for (block_turn* each : task.extras->turns) each->taken = true;
  task.has_turns = true;
  return true;
}

/// Gives the turns of a task back. Returns the tasks that took theirs, linked through `next`: they
/// are ready. Under the lock of the graph. Each turn goes to the first task put aside there that
/// can take all of its turns; those before it go to the turns that they miss.
inline graph_task* release_turns(graph_task& task) noexcept {
  graph_task* released = nullptr;
  task.has_turns = false;
  for (block_turn* each : task.extras->turns) each->taken = false;
  for (block_turn* each : task.extras->turns) {
    while (!each->taken && each->first != nullptr) {
      graph_task& waiting = *std::exchange(each->first, each->first->next);
      if (take_turns(waiting)) waiting.next = std::exchange(released, &waiting);
    }
    // The enqueuer may destroy it from here on.
    each->users.fetch_sub(1, std::memory_order_release);
  }
  return released;
}

/// The turns of all blocks, by address and extent. Used by the enqueuer only.
class turn_table {
 public:
  /// Finds the turns of the operands, and makes room for them in a record that is not in use.
  /// Forgets turns that no unfinished task needs. Throws std::bad_alloc.
  void look_up(std::span<const operand> operands, graph_task& task) {
    found_.clear();
    for (const operand& each : operands) {
      if (each.how == access::commutative) add(each);
    }
    if (task.extras == nullptr) task.extras = std::make_unique<task_extras>();
    task.extras->turns.reserve(found_.size());
  }
  /// Gives a task the turns found by the latest look_up() for its record.
  void enter(graph_task& task) const noexcept {
    task.commutes = true;
    task.extras->turns.assign(found_.begin(), found_.end());
    for (block_turn* each : found_) each->users.fetch_add(1, std::memory_order_relaxed);
  }
  /// All tasks have ended.
  void clear() noexcept { turns_.clear(); }
  std::size_t size() const noexcept { return turns_.size(); }

 private:
  static constexpr std::size_t enough = 1024;

  void add(const operand& of) {
    if (turns_.size() >= forget_at_) {
      const auto is_free = [&](const auto& each) {
        return each.second.users.load(std::memory_order_acquire) == 0 &&
               std::find(found_.begin(), found_.end(), &each.second) == found_.end();
      };
      std::erase_if(turns_, is_free);
      forget_at_ = std::max(enough, 2 * turns_.size());
    }
    block_turn* const turn = &turns_[byte_block::of(of)];
    if (std::find(found_.begin(), found_.end(), turn) == found_.end()) found_.push_back(turn);
  }

  std::unordered_map<byte_block, block_turn, byte_block_hash> turns_;
  std::size_t forget_at_ = enough;
  std::vector<block_turn*> found_;
};

}  // namespace creek::linalg::detail
