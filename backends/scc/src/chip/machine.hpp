// SPDX-License-Identifier: Apache-2.0
// The simulated chip: its parts, in the order in which they need each other.
#pragma once

#include <cstddef>
#include <functional>

#include <creek/core/execution_observer.hpp>
#include <creek/scc/chip.hpp>

#include "core_waits.hpp"
#include "power/power_control.hpp"
#include "records/run_records.hpp"

namespace creek::scc_backend {

/// An operation of a core is one call of a part, inside a core_operation. The part charges its time
/// to the running core and orders it before others can see the effect.
class machine {
 public:
  /// Smallest and largest stack of a core, in bytes.
  static constexpr std::size_t min_stack = std::size_t{16} << 10;
  static constexpr std::size_t max_stack = std::size_t{1} << 32;

  /// `stuck_after`: see time_limits. `check`: a coherence checker follows every access.
  machine(const chip& description, std::size_t stack_bytes, virtual_time stuck_after, bool check);

  /// Calls engine::run(), with the statements of creek::charge() on this thread going to the core
  /// that runs, or to `observer`.
  void run(const std::function<void(core_id)>& body);
  void run(execution_observer& observer, const std::function<void(core_id)>& body);

  const chip& description() const noexcept { return chip_; }
  engine& simulation() noexcept { return simulation_; }
  const tile_clocks& clocks() const noexcept { return clocks_; }
  compute_time& computing() noexcept { return computing_; }
  memory_system& memory() noexcept { return memory_; }
  activity_log& log() noexcept { return log_; }
  interrupt_controller& interrupts() noexcept { return interrupts_; }
  core_waits& waits() noexcept { return waits_; }
  power_control& power() noexcept { return power_; }
  const power_control& power() const noexcept { return power_; }
  run_records& records() noexcept { return records_; }

 private:
  chip chip_;
  engine simulation_;
  tile_clocks clocks_;
  time_limits limits_;
  compute_time computing_;
  memory_system memory_;
  activity_log log_;
  interrupt_controller interrupts_;
  core_waits waits_;
  power_control power_;
  run_records records_;
};

/// While one lives, the running core is in an operation of the chip, or of a runtime on it, which
/// states its own time.
class core_operation {
 public:
  explicit core_operation(machine& on) : on_(&on), ends_stretch_(on.computing().stop()) {
    on.computing().notice_time();
  }
  /// Marks an operation that interrupts may come before.
  struct interruptible {};
  core_operation(machine& on, interruptible) : core_operation(on) {
    on.interrupts().interruptible_point();
  }
  ~core_operation() {
    if (ends_stretch_) [[unlikely]]
      on_->computing().start();
  }
  core_operation(const core_operation&) = delete;
  core_operation& operator=(const core_operation&) = delete;
  machine* operator->() const noexcept { return on_; }
  machine& operator*() const noexcept { return *on_; }
  /// Returns true if computing code whose time is measured called this operation.
  [[nodiscard]] bool ends_stretch() const noexcept { return ends_stretch_; }

 private:
  machine* on_;
  bool ends_stretch_;
};

}  // namespace creek::scc_backend
