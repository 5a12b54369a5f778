// SPDX-License-Identifier: Apache-2.0
#include "interrupt_controller.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

int interrupt_controller::core_pins::first() const noexcept {
  static_assert(interrupt_controller::pins == 2);
  if (up != 3) return up - 1;
  return since[0] <= since[1] ? 0 : 1;
}

void interrupt_controller::raise(core_id to, int pin) {
  require_core(chip_, to);
  if (pin < 0 || pin >= pins) {
    throw usage_error("simulated chip: no interrupt pin " + std::to_string(pin) + " of core " +
                      std::to_string(to.value));
  }
  limits_.note_progress();
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = memory_.network().to_tile(to, chip_.costs.uc_write);
  simulation_.set_clock(way.start);
  if (checker* check = memory_.check()) check->order().raised(to, pin);
  core_pins& target = cores_[to.index()];
  const auto bit = static_cast<std::uint8_t>(1U << pin);
  if ((target.up & bit) != 0) return;  // still up: it is one interrupt
  target.up |= bit;
  target.since[pin] = way.served;
  if (simulation_.cores().is_parked(to) &&
      (target.halted || (target.handler && !target.in_handler))) {
    memory_.watchers().forget(to);
    simulation_.wake(to, way.served);
  }
}

void interrupt_controller::set_handler(std::function<void(int pin)> handler) {
  here().handler = std::move(handler);
}

/// Clears the pin that was set first, as the core has seen it, and returns it.
int interrupt_controller::take_first() {
  core_pins& self = here();
  const int pin = self.first();
  self.up &= static_cast<std::uint8_t>(~(1U << pin));
  ++self.taken;
  if (checker* check = memory_.check()) check->order().took(pin);
  return pin;
}

/// Runs the handler for pins raised by now; called where a core may be interrupted.
void interrupt_controller::handle_raised() {
  core_pins& self = here();
  while (self.up != 0 && self.handler && !self.in_handler) {
    if (self.since[self.first()] > simulation_.now()) return;
    const int pin = take_first();
    simulation_.advance(chip_.costs.interrupt_entry * clocks_.here());
    self.in_handler = true;
    struct leave {
      core_pins& of;
      compute_time& computing;
      core_id core;
      ~leave() {
        of.in_handler = false;
        computing.abandon(core);
      }
    } const at_end{self, computing_, simulation_.running()};
    const auto handler = self.handler;  // it may install another one
    computing_.start();
    handler(pin);
    computing_.stop();
  }
}

bool interrupt_controller::is_due() {
  core_pins& self = here();
  if (self.up == 0 || self.in_handler || (!self.handler && !self.halted)) return false;
  simulation_.set_clock(std::max(simulation_.now(), self.since[self.first()]));
  return true;
}

void interrupt_controller::halt() {
  core_pins& self = here();
  limits_.note_progress();
  memory_.lines().send_combined();
  self.halted = true;
  while (!is_due()) {
    log_.park("an interrupt, core", simulation_.running().index(), activity::halted);
  }
  self.halted = false;
  if (self.handler) {
    handle_raised();
  } else {
    take_first();
  }
}

}  // namespace creek::scc_backend
