// SPDX-License-Identifier: Apache-2.0
// One core's view of the chip: the base of the memory policy and of the classes that give access to
// what else the core has.
#pragma once

#include <creek/core/core_id.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek {

class allocation_observer;

namespace scc_backend {

class core_operation;
class machine;

/// Names a core of a chip. May be used on that simulated core only; elsewhere it throws
/// usage_error. Cheap to copy; it is valid as long as the run.
class core_view {
 public:
  core_view(machine& on, core_id self) noexcept : on_{&on}, self_{self} {}

  [[nodiscard]] core_id self() const noexcept { return self_; }
  /// Returns the core that runs now: this one except in interrupted calls. For signal handlers.
  [[nodiscard]] core_id running() const noexcept;
  [[nodiscard]] int cores() const noexcept;
  /// Returns the core's clock.
  [[nodiscard]] virtual_time now() const;
  /// Returns the checker for symmetric_allocator::observe(), or null in a run without one.
  [[nodiscard]] allocation_observer* allocations() const noexcept;

 protected:
  [[nodiscard]] machine& on() const noexcept { return *on_; }
  /// Throws usage_error unless this core runs.
  void require_running() const;
  /// Checks that the right core calls, and lets interrupts in.
  core_operation enter() const;

 private:
  machine* on_;
  core_id self_;
};

}  // namespace scc_backend

}  // namespace creek
