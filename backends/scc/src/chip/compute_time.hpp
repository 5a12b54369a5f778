// SPDX-License-Identifier: Apache-2.0
// The time that programs spend between operations of the chip: as they state it, or as measured.
#pragma once

#include <optional>
#include <vector>

#include "simulation/engine.hpp"
#include "simulation/stretch_clock.hpp"
#include "simulation/time_limits.hpp"
#include "tile_clocks.hpp"

namespace creek::scc_backend {

/// A core either computes, and its time is measured, or is in an operation, which states its own.
/// Cores begin not computing. Without measure() nothing is measured.
class compute_time {
 public:
  compute_time(const chip& on, engine& simulation, const tile_clocks& clocks, time_limits& limits)
      : simulation_{simulation},
        clocks_{clocks},
        limits_{limits},
        computes_(static_cast<std::size_t>(on.cores())) {}

  /// Makes computing take the host's CPU time, times this factor, from now on, not the charged
  /// time; 0: as charged. Call before the run. Throws usage_error if it is negative or too large.
  void measure(double cycles_a_host_second);
  /// Begins to measure computing on the running core.
  void start() noexcept {
    if (measured_) [[unlikely]]
      begin_stretch();
  }
  /// Ends measuring. Returns true if the core computed and its time is measured.
  bool stop() { return measured_ && end_stretch(); }
  /// Ends measuring on a core, and drops the time since it began.
  void abandon(core_id core) noexcept { computes_[core.index()] = false; }
  /// Returns whether the running core computes and its time is measured.
  bool measures() const noexcept {
    return measured_ && computes_[simulation_.running().index()] != 0;
  }

  /// Has `noticed` called on a core whose clock may have moved: before each of its operations, and
  /// after a charge to it. It must do nothing to the simulation. Call before the run.
  void when_time_passes(void (*noticed)(void*), void* argument) noexcept {
    noticed_ = noticed;
    noticed_by_ = argument;
  }
  void notice_time() {
    if (noticed_ != nullptr) [[unlikely]]
      noticed_(noticed_by_);
  }

  /// Advances the running core. Throws usage_error if `length` is negative, and creek::error
  /// (EOVERFLOW) at the end of virtual time, as every request does.
  void spend(cycles length) {
    std::int64_t span = 0;
    if (length.count < 0 ||
        __builtin_mul_overflow(length.count, clocks_.here().length.femtoseconds, &span) ||
        span > time_limits::latest.femtoseconds - simulation_.now().femtoseconds) [[unlikely]]
      refuse(length);
    simulation_.advance({span});
  }
  /// Like spend(), for work that is progress.
  void charge(cycles length) {
    spend(length);
    limits_.note_progress();
  }
  /// Like spend(), for a gap between two looks.
  void pause(cycles length) {
    spend(length);
    limits_.throw_if_stuck();
  }

 private:
  void begin_stretch() noexcept;
  bool end_stretch();
  [[noreturn]] void refuse(cycles length) const;

  engine& simulation_;
  const tile_clocks& clocks_;
  time_limits& limits_;
  std::optional<stretch_clock> measured_;  ///< none: charged cycles count
  std::vector<std::uint8_t> computes_;     ///< per core: it computes, and its time is measured
  void (*noticed_)(void*) = nullptr;
  void* noticed_by_ = nullptr;
};

}  // namespace creek::scc_backend
