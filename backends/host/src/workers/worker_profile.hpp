// SPDX-License-Identifier: Apache-2.0
// The account of one worker: the time of each task, and of what it does between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include <creek/core/measuring/clock.hpp>

namespace creek::host_backend {

/// The times of a task that has begun. Lies in the frame that runs the task, and moves with it from
/// worker to worker.
struct task_times {
  const char* kind;  ///< task_type::name, or null
  ticks ran{};
  ticks waited{};
  ticks left_at{};  ///< when it was suspended last
  task_times* outer =
      nullptr;  ///< task on whose stack it runs, in a wait that has none to leave for
};

/// Divides the time of a worker among the tasks that it runs and what it does between them. Used
/// only by who acts as the worker, and read when the workers have ended. Each call charges the time
/// since the last one, so nothing is counted twice or left out.
class worker_profile {
 public:
  /// Activity of a worker that runs no task.
  enum class idle : std::uint8_t { searching, sleeping, waiting };

  /// Sums over the ended tasks of one kind.
  struct totals {
    std::string name;  ///< a copy: the library with the kind's name may be unloaded
    std::uint64_t count = 0;
    ticks ran{}, longest{}, waited{};
  };

  worker_profile(ticks begin, idle first) noexcept : charged_to_(begin), idle_(first) {}

  /// Called around a task.
  void begin(task_times& task) noexcept {
    charge();
    task.outer = std::exchange(running_, &task);
  }
  void end() noexcept;
  /// Called instead of end() if there was no task to run after all.
  void call_off() noexcept;
  /// Called before a task leaves its worker, or idles in its wait: returns what go_on() needs, on
  /// the worker that continues it.
  task_times* leave(idle next) noexcept;
  void go_on(task_times* task) noexcept;
  /// Called where no task runs.
  void becomes(idle next) noexcept {
    charge();
    idle_ = next;
  }

  /// Charges the time until `at`; called when the worker has ended.
  void finish(ticks at) noexcept { charge(at); }
  ticks ran() const noexcept { return ran_; }
  ticks spent(idle what) const noexcept { return spent_[static_cast<std::size_t>(what)]; }
  /// Calls `visit(totals)` for each kind of which a task ended.
  template <class Visitor>
  void for_each_kind(Visitor visit) const {
    for (const auto& [kind, sum] : kinds_) visit(sum);
    if (unnamed_.count != 0) visit(unnamed_);
  }

 private:
  void charge() noexcept { charge(tick_clock::now()); }
  void charge(ticks now) noexcept;
  totals& totals_of(const char* kind) noexcept;

  ticks charged_to_;
  idle idle_;
  task_times* running_ = nullptr;
  ticks ran_{};
  std::array<ticks, 3> spent_{};
  std::unordered_map<const char*, totals> kinds_;  ///< by task_type::name
  totals unnamed_;
};

}  // namespace creek::host_backend
