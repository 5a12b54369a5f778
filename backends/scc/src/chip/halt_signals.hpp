// SPDX-License-Identifier: Apache-2.0
// Waits in which a core halts, and the core that stores the awaited word interrupts it.
//
// A core that waits for a word of its own message-passing memory may halt. It polls for a while,
// writes into a word there that it halts, looks once more and halts. A signaller first stores to
// such a word, then reads the other one, and interrupts the core if that says so. Each writes
// before it reads, so one of the two sees the other, and no wake-up is lost. A pin that is up when
// the core halts ends that at once. Only signals wake: a memory policy's waits promise no more.
// Words of others' memory are polled for, as a core that stores there cannot know who waits.
#pragma once

#include <vector>

#include "interrupt_controller.hpp"

namespace creek::scc_backend {

/// Throws usage_error unless the cycles take at most a second at the chip's slowest clock.
void require_crossing(const chip& of, cycles kernel_crossing);

/// A core halts only after it has announced that, and is interrupted at most once per announcement.
class halt_signals {
 public:
  halt_signals(const chip& on, engine& simulation, const tile_clocks& clocks,
               compute_time& computing, memory_system& memory, activity_log& log,
               interrupt_controller& interrupts)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        computing_{computing},
        memory_{memory},
        log_{log},
        interrupts_{interrupts},
        cores_(static_cast<std::size_t>(on.cores())) {}

  /// Sets the time of a halted core besides the entry of the interrupt. Call before the run.
  void set_kernel_crossing(cycles length) noexcept { kernel_crossing_ = length; }
  /// Returns what an interrupt costs the core that it wakes.
  cycles wake_cost() const noexcept { return chip_.costs.interrupt_entry + kernel_crossing_; }
  /// Has signals check for halted cores from now on.
  void expect() noexcept { expected_ = true; }

  /// Interrupts the core whose word at `at` has just been stored to, if that core is halted.
  void wake_halted(std::size_t at) {
    if (expected_ && memory_.bytes().is_mpb(at)) [[unlikely]]
      interrupt(memory_.bytes().owner(at));
  }

  // --- Of the running core -----------------------------------------------------------------------
  bool is_announced() noexcept { return here().announced; }
  /// Writes the core's word that tells others whether it halts.
  void announce(bool halts);
  /// Takes the announcement back without a write, in a run that has failed.
  void drop() noexcept { here() = {}; }
  /// Halts until a signal interrupts the core, and takes its announcement back.
  void halt(const char* what, std::uint64_t address);

 private:
  struct core_state {
    bool announced = false;    ///< its word says that it halts: signals interrupt it
    bool asleep = false;       ///< parked, halted
    bool interrupted = false;  ///< interrupted since it announced that
    virtual_time interrupted_at;
  };
  core_state& here() noexcept { return cores_[simulation_.running().index()]; }
  void sleep(const char* what, std::uint64_t address);
  void set_asleep(bool asleep) noexcept;
  void interrupt(core_id core);

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  compute_time& computing_;
  memory_system& memory_;
  activity_log& log_;
  interrupt_controller& interrupts_;
  cycles kernel_crossing_;
  bool expected_ = false;  ///< a core may have halted
  std::vector<core_state> cores_;
};

}  // namespace creek::scc_backend
