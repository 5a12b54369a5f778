// SPDX-License-Identifier: Apache-2.0
// Interrupts between cores, and halting until one comes.
#pragma once

#include <functional>

#include <creek/scc/core_view.hpp>

namespace creek::scc_backend {

/// The interrupt pins of the cores: any core raises them, each core handles its own.
class interrupt_pins : public core_view {
 public:
  explicit interrupt_pins(const core_view& core) noexcept : core_view(core) {}

  /// Raises a pin, 0 or 1, of a core. It runs its handler at its next operation, after the cost of
  /// entry; one that waits or is halted wakes up for it. A pin that is still up stays up.
  void raise(core_id to, int pin = 0) const;
  /// Sets the interrupt handler of this core: called with the pin, on this core, never nested.
  /// Without a handler pins stay up.
  void set_handler(std::function<void(int pin)> handler) const;
  /// Stops this core until an interrupt has been handled.
  void halt() const;
};

}  // namespace creek::scc_backend
