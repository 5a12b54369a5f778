// SPDX-License-Identifier: Apache-2.0
// Interrupts between cores, and halting until one comes.
#pragma once

#include <functional>
#include <vector>

#include "memory/memory_system.hpp"
#include "records/activity_log.hpp"

namespace creek::scc_backend {

/// A pin stays up from its request's arrival until its core takes it: raising it meanwhile is the
/// same interrupt. A handler is never interrupted. Without a handler only halt() takes a pin.
class interrupt_controller {
 public:
  static constexpr int pins = 2;  // [Mattson 2010] (docs/scc/machine.md)

  interrupt_controller(const chip& on, engine& simulation, const tile_clocks& clocks,
                       time_limits& limits, compute_time& computing, memory_system& memory,
                       activity_log& log)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        limits_{limits},
        computing_{computing},
        memory_{memory},
        log_{log},
        cores_(static_cast<std::size_t>(on.cores())) {}

  void raise(core_id to, int pin);
  void set_handler(std::function<void(int pin)> handler);
  /// Sends the write-combine buffer and stops the running core until an interrupt has been handled.
  void halt();
  /// Lets interrupts in; called at the beginning of each operation of a core.
  void interruptible_point() {
    if (here().up != 0) [[unlikely]]
      handle_raised();
  }
  /// Returns whether a pin is up that the core would miss if it parked now; moves its clock there.
  bool is_due();
  /// Counts an interrupt that the running core took in another way than through a pin.
  void count_taken() noexcept { ++here().taken; }
  /// Returns the number of interrupts that a core took.
  std::uint64_t taken(core_id core) const noexcept { return cores_[core.index()].taken; }

 private:
  struct core_pins {
    std::uint8_t up = 0;  ///< one bit per pin
    bool in_handler = false;
    bool halted = false;
    virtual_time since[pins];
    std::uint64_t taken = 0;
    std::function<void(int pin)> handler;
    int first() const noexcept;  ///< the pin up for longest; at least one must be up
  };
  core_pins& here() noexcept { return cores_[simulation_.running().index()]; }
  int take_first();
  void handle_raised();

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  time_limits& limits_;
  compute_time& computing_;
  memory_system& memory_;
  activity_log& log_;
  std::vector<core_pins> cores_;
};

}  // namespace creek::scc_backend
