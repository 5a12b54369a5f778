// SPDX-License-Identifier: Apache-2.0
// Observer of what strands do: the work that they state, the data that they move, and their turns
// at data that workers share. A backend that models a machine (creek::scc simulates a chip) gives
// these a cost by its own clock; a program may count or trace them. Usually there is none: then
// each statement costs one predicted branch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <creek/core/units.hpp>
#include <creek/core/work.hpp>

namespace creek {

/// Receives the statements of strands, each on the strand's thread. One observer serves all workers
/// of a runtime. A call may let other strands of the thread run before it returns, except between
/// entered() and left().
class execution_observer {
 public:
  /// Returns the observer of the calling thread, or nullptr. After a call that may suspend, ask
  /// again in a function that is not inlined: the strand may be on another thread.
  static execution_observer* current() noexcept { return current_; }
  /// Installs an observer, or none, for the calling thread; returns the one before.
  static execution_observer* exchange(execution_observer* next) noexcept {
    return std::exchange(current_, next);
  }

  /// Called after the strand has computed for `length` cycles of its worker's clock.
  virtual void computed(cycles /*length*/) noexcept {}
  /// Called after the strand has done some work, once per piece of it.
  virtual void worked(std::span<const work_amount> /*done*/) noexcept {}
  /// Called when the strand reads or writes `bytes` of a block that all workers share. `block`
  /// numbers the blocks from 0: neighbouring ones may lie in different memories.
  virtual void moved(std::uint64_t /*block*/, std::size_t /*bytes*/, bool /*written*/) noexcept {}
  /// Called before the strand reads or changes data that workers share, under the lock of worker
  /// `owner`. Returns when it is the strand's turn.
  virtual void entered(unsigned /*owner*/) noexcept {}
  /// Called at the end of that turn, with the work done in it.
  virtual void left(unsigned /*owner*/, std::span<const work_amount> /*done*/) noexcept {}
  /// Returns the time of the backend's own clock, or nothing if strands go by the host's.
  virtual std::optional<std::chrono::nanoseconds> time() noexcept { return std::nullopt; }

 protected:
  ~execution_observer() = default;

 private:
  static inline constinit thread_local execution_observer* current_ = nullptr;
};

/// Observes the calling thread while it lives. Observers nest: a task may run another machine to
/// its end.
class observed_thread {
 public:
  explicit observed_thread(execution_observer& observer) noexcept
      : outer_(execution_observer::exchange(&observer)) {}
  ~observed_thread() { execution_observer::exchange(outer_); }
  observed_thread(const observed_thread&) = delete;
  observed_thread& operator=(const observed_thread&) = delete;

 private:
  execution_observer* outer_;
};

}  // namespace creek
