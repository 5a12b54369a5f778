// SPDX-License-Identifier: Apache-2.0
// Ledger of one worker: spans of time, each assigned to a task's name and a phase, with the weight
// that a model of the host gives to them.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include <creek/core/power_policy.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/power/host_model.hpp>

#include "phase_log.hpp"

namespace creek::power::detail {

/// Activity of a worker under one name in one phase. Times are in units of stamp.
struct ledger_entry {
  const char* name = nullptr;  ///< kept by address; see the names below
  phase_id phase = 0;
  double busy = 0;
  double polled = 0;
  double weight = 0;        ///< the model's watts x time
  double clock_busy = 0;    ///< hertz x busy time, where the clock is known
  double clock_known = 0;   ///< busy time where the clock is known
  std::uint64_t times = 0;  ///< number of tasks begun
};

/// Names for tasks without a name, spans without a task, and tasks beyond the table's room.
inline constexpr char unnamed_task[] = "task", no_task[] = "idle and runtime",
                      other_tasks[] = "other tasks";

/// Events come from the worker; readers are on other threads: hence a lock, which is otherwise
/// uncontended.
class alignas(64) worker_ledger {
 public:
  /// Starts the ledger at `at`; the worker has no task then.
  void begin(stamp at, phase_log::position phases) noexcept;
  void end(stamp at, bool metered) noexcept;
  void task(stamp at, bool metered, const char* name, units::hertz clock) noexcept;
  /// `search`: the search time of an idle_plan, in units of stamp.
  void idle(stamp at, bool metered, idle_policy how, stamp search) noexcept;

  void forget(stamp at, bool metered) noexcept;
  /// Calls `row(entry)` for each entry, with everything until `at` charged.
  template <class Row>
  void read(stamp at, bool metered, const Row& row) noexcept {
    const std::lock_guard alone(lock_);
    settle(at, metered);
    for (const ledger_entry& each : entries_) {
      if (each.name != nullptr) row(each);
    }
    for (const ledger_entry& each : overflow_) {
      if (each.name != nullptr) row(each);
    }
  }

  /// Maximum number of entries that read() finds.
  static constexpr std::size_t most_entries = 258;

  /// Set before begin().
  const host_model* model = nullptr;
  /// Returns the time up to which everything is charged.
  [[nodiscard]] stamp latest() noexcept {
    const std::lock_guard alone(lock_);
    return since_;
  }

 private:
  static constexpr std::size_t room = most_entries - 2;  ///< a power of two

  void settle(stamp at, bool metered) noexcept;
  void charge(stamp from, stamp to, phase_id phase) noexcept;
  ledger_entry& entry(const char* name, phase_id phase) noexcept;
  void set_clock(units::hertz clock) noexcept;

  spin_lock lock_;
  bool exists_ = false;
  const char* doing_ = no_task;
  idle_policy how_ = idle_policy::block;
  stamp since_ = 0;
  stamp polls_until_ = 0;  ///< end of its search, while it is idle
  phase_log::position phases_;
  units::hertz clock_;
  double computing_ = 0, polling_ = 0, asleep_ = 0;  ///< watts at clock_
  std::array<ledger_entry, room> entries_{};
  std::array<ledger_entry, 2> overflow_{};  ///< if there is no room: tasks, no task; no phase
};

}  // namespace creek::power::detail
