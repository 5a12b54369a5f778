// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/interrupts.hpp>

#include <utility>

#include "chip/machine.hpp"

namespace creek::scc_backend {

void interrupt_pins::raise(core_id to, int pin) const {
  enter()->interrupts().raise(to, pin);
}
void interrupt_pins::set_handler(std::function<void(int pin)> handler) const {
  enter()->interrupts().set_handler(std::move(handler));
}
// Does not use enter(): an interrupt that is up is the one that halt() ends with.
void interrupt_pins::halt() const {
  require_running();
  const core_operation begun(on());
  begun->interrupts().halt();
}

}  // namespace creek::scc_backend
