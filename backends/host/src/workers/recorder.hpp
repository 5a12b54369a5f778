// SPDX-License-Identifier: Apache-2.0
// The records of one worker: its events for the trace, and its account for the profile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/trace.hpp>

#include "task_kinds.hpp"

namespace creek::host_backend {

/// The times of a task that has begun. Lies in the frame that runs the task, which need not
/// initialise it, and moves with it from worker to worker.
struct task_times {
  const char* kind;  ///< task_type::name, or null
  ticks ran;
  ticks waited;
  ticks left_at;      ///< when it was suspended last
  task_times* outer;  ///< task on whose stack it runs, in a wait that has none to leave for
};

/// Records what a worker does, for a trace, a profile or both. Used only by who acts as the worker,
/// except where noted, and read when the workers have ended.
///
/// The profile divides the time of the worker among the tasks that it runs and what it does between
/// them: each call charges the time since the last one, so nothing is counted twice or left out.
/// A profile begins before the worker; a trace may begin at any time, and so may end slices and
/// arrows that it has not begun, which its file leaves out.
class recorder {
 public:
  /// Activity of a worker that runs no task.
  enum class idle : std::uint8_t { searching, sleeping, waiting };

  /// State of the records of a strand while it is off its stack.
  struct absence {
    std::int64_t arrow = 0;       ///< of the trace, to where the strand goes on, or 0
    task_times* times = nullptr;  ///< of the profile
  };

  /// Begins the profile. Called before the worker begins.
  void profile_from(ticks begin, idle first) noexcept;
  /// Begins the trace; its arrows have numbers from `first_arrow` on. Any thread.
  void trace_on(trace::track& track, std::int64_t first_arrow) noexcept;
  /// Returns whether the worker is profiled. Any thread.
  bool profiles() const noexcept { return profiles_; }

  /// Called around a task.
  void task_begins(task_times& task, const char* kind, bool stolen) noexcept;
  void task_ends() noexcept;
  /// The same for the profile alone. `ran` is false if there was no task to run after all.
  void charge_task(task_times& task, const char* kind) noexcept;
  void task_charged(bool ran) noexcept;

  /// Called before a strand leaves its stack; returns what go_on() needs, perhaps on another
  /// worker.
  absence leave() noexcept;
  void go_on(absence left, const char* kind) noexcept;
  /// Called before a task idles on its stack; returns what end_idling() needs.
  task_times* begin_idling(idle next) noexcept;
  void end_idling(task_times* task) noexcept;

  /// Called where no task runs.
  void becomes(idle next) noexcept;
  /// Called around what is neither a task nor a part of one.
  void begin_slice(trace::name what) noexcept;
  void end_slice() noexcept;
  /// Called by a thief: begins an arrow from the worker that made the task, where it was at the
  /// time `at`, or is now if that is 0. `maker` may be null.
  void note_steal(const recorder* maker, ticks at = {}) noexcept;

  /// Charges the time until `at`; called when the worker has ended.
  void finish(ticks at) noexcept { charge(at); }
  ticks ran() const noexcept { return ran_; }
  ticks spent(idle what) const noexcept { return spent_[static_cast<std::size_t>(what)]; }
  task_kinds& kinds() noexcept { return kinds_; }

 private:
  trace::track* track() const noexcept { return track_.load(std::memory_order_acquire); }
  void charge() noexcept { charge(tick_clock::now()); }
  void charge(ticks now) noexcept;

  task_kinds kinds_;
  std::atomic<trace::track*> track_{nullptr};  ///< null: not traced
  std::int64_t next_arrow_ = 0;
  std::int64_t stolen_by_ = 0;  ///< arrow to the task that was stolen last and not begun, or 0
  bool profiles_ = false;
  idle idle_ = idle::searching;
  ticks charged_to_{};
  task_times* running_ = nullptr;
  ticks ran_{};
  std::array<ticks, 3> spent_{};
};

}  // namespace creek::host_backend
