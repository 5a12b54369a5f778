// SPDX-License-Identifier: Apache-2.0
// How a core waits for a word: it polls, or halts as a power policy says.
#pragma once

#include <vector>

#include <creek/core/power_policy.hpp>

#include "halt_signals.hpp"

namespace creek::scc_backend {

class wished_clocks;

/// A core that has just looked in vain is parked until the look that sees a change. Waits may nest;
/// the policy is told of the outermost. Only a wait for the core's own memory halts.
class core_waits {
 public:
  core_waits(const chip& on, engine& simulation, const tile_clocks& clocks, compute_time& computing,
             memory_system& memory, activity_log& log, interrupt_controller& interrupts)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        memory_{memory},
        log_{log},
        interrupts_{interrupts},
        signals_{on, simulation, clocks, computing, memory, log, interrupts},
        cores_(static_cast<std::size_t>(on.cores())) {}

  /// Lets `policy`, which has begun with `clocks`, decide how cores wait. `kernel_crossing` is the
  /// time of a halted core besides the entry of the interrupt. Call before the run.
  void wait_by(power_policy& policy, wished_clocks& clocks, cycles kernel_crossing) noexcept {
    policy_ = &policy;
    wished_ = &clocks;
    signals_.set_kernel_crossing(kernel_crossing);
  }
  halt_signals& signals() noexcept { return signals_; }

  /// Begin and end a wait of the running core for more than one look.
  void begin() {
    if (policy_ != nullptr) [[unlikely]]
      begin_by_policy();
  }
  void end() noexcept {
    if (policy_ != nullptr) [[unlikely]]
      end_by_policy();
  }
  /// Parks the running core, which has just loaded an unwanted word at `at`, until it would see a
  /// store to that line.
  void await_store(std::size_t at);
  /// Parks it until it would see a store to its own memory after the first `seen_before`; its look
  /// began at `began`.
  void await_own_store(std::uint64_t seen_before, virtual_time began);

 private:
  struct core_state {
    int depth = 0;          ///< of nested waits that the policy is told of
    bool may_halt = false;  ///< it will halt at `polls_until`; else the policy is asked again
    virtual_time polls_until;
  };
  core_state& here() noexcept { return cores_[simulation_.running().index()]; }
  void begin_by_policy();
  void ask_policy();
  void end_by_policy() noexcept;
  bool waits_longer(bool own_word);
  void poll_or_halt(const char* what, std::uint64_t address, bool own_word);

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  memory_system& memory_;
  activity_log& log_;
  interrupt_controller& interrupts_;
  halt_signals signals_;
  power_policy* policy_ = nullptr;   ///< null: cores poll
  wished_clocks* wished_ = nullptr;  ///< the policy's
  std::vector<core_state> cores_;
};

}  // namespace creek::scc_backend
