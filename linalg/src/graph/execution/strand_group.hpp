// SPDX-License-Identifier: Apache-2.0
// The runtime whose workers run a graph: the task that owns the graph, and the group of strands.
#pragma once

#include <optional>
#include <utility>

#include <creek/tasking.hpp>

namespace creek::linalg::detail {

/// Bound to a task between begin() and end(); on a plain thread to that thread, without a group.
class strand_group {
 public:
  /// Binds the graph to the calling task or plain thread.
  void begin() {
    home_ = creek::ext::current_executor();
    owner_ = creek::ext::current_stack;
    if (home_ != nullptr) group_.emplace();
  }
  bool is_caller() const noexcept {
    return home_ == creek::ext::current_executor() && owner_ == creek::ext::current_stack;
  }
  /// Returns whether there are workers to spawn strands on.
  bool exists() const noexcept { return group_.has_value(); }
  /// Returns whether strands have task stacks. Elsewhere deques may hold only a few tasks, and one
  /// thread may run all workers: then spinning keeps the others from running.
  bool has_task_stacks() const noexcept { return owner_ != nullptr; }
  power_policy* policy() const noexcept { return home_ != nullptr ? home_->policy() : nullptr; }

  /// Spawns `run` as a strand. Returns false if there is no memory for it. Not inlined, nor is
  /// wait(): the caller may have moved to another thread, and must not keep the address of a
  /// thread-local variable from before.
  template <class F>
  [[gnu::noinline]] bool spawn(F run) noexcept {
    try {
      group_->spawn(std::move(run));
      return true;
    } catch (...) {
      return false;
    }
  }
  /// Waits for all strands.
  [[gnu::noinline]] void wait() {
    if (group_) group_->wait();
  }
  /// Like wait(), on any thread.
  void join() noexcept {
    if (group_) group_.emplace();  // the destructor of the old group joins
  }
  void end() noexcept { group_.reset(); }

 private:
  creek::ext::executor* home_ = nullptr;
  const creek::ext::task_stack* owner_ = nullptr;
  std::optional<task_group> group_;
};

}  // namespace creek::linalg::detail
