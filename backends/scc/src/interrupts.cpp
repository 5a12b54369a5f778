// SPDX-License-Identifier: Apache-2.0
// Interrupts between cores, halting, and the look-up tables: the work of configuration registers.
#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "checker.hpp"
#include "machine.hpp"

namespace creek::scc_backend {

int machine::core_state::first_pin() const noexcept {
  static_assert(interrupt_pins == 2);
  if (pins != 3) return pins - 1;
  return pin_since[0] <= pin_since[1] ? 0 : 1;
}

void machine::raise_interrupt(core_id to, int pin) {
  require_core(to);
  if (pin < 0 || pin >= interrupt_pins) {
    throw usage_error("simulated chip: no interrupt pin " + std::to_string(pin) + " of core " +
                      std::to_string(to.value));
  }
  note_progress();
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_tile(to, chip_.costs.uc_write);
  engine_.set_clock(way.start);
  if (checker_) checker_->raised(to, pin);
  core_state& target = local_[to.index()];
  const auto bit = static_cast<std::uint8_t>(1U << pin);
  if ((target.pins & bit) != 0) return;  // still up: it is one interrupt
  target.pins |= bit;
  target.pin_since[pin] = way.served;
  if (engine_.is_parked(to) && (target.halted || (target.handler && !target.in_handler))) {
    forget_watch(to);
    engine_.wake(to, way.served);
  }
}

void machine::on_interrupt(std::function<void(int pin)> handler) {
  here().handler = std::move(handler);
}

/// Clears the pin that was set first, as the core has seen it, and returns it.
int machine::take_pin() {
  core_state& self = here();
  const int pin = self.first_pin();
  self.pins &= static_cast<std::uint8_t>(~(1U << pin));
  ++self.interrupts;
  if (checker_) checker_->took(pin);
  return pin;
}

/// Runs the handler for pins raised by now; called where a core may be interrupted.
void machine::take_interrupts() {
  core_state& self = here();
  while (self.pins != 0 && self.handler && !self.in_handler) {
    if (self.pin_since[self.first_pin()] > engine_.now()) return;
    const int pin = take_pin();
    engine_.advance(chip_.costs.interrupt_entry * here_clock());
    self.in_handler = true;
    struct leave {
      core_state& of;
      ~leave() { of.in_handler = of.computes = false; }
    } const at_end{self};
    const auto handler = self.handler;  // it may install another one
    start_computing();
    handler(pin);
    stop_computing();
  }
}

/// Returns whether a pin is up that the core would miss if it parked now; moves its clock there.
bool machine::interrupt_due() {
  core_state& self = here();
  if (self.pins == 0 || self.in_handler || (!self.handler && !self.halted)) return false;
  engine_.set_clock(std::max(engine_.now(), self.pin_since[self.first_pin()]));
  return true;
}

void machine::halt() {
  core_state& self = here();
  note_progress();
  send_combined();
  self.halted = true;
  while (!interrupt_due()) {
    park("an interrupt, core", engine_.running().index(), activity::halted);
  }
  self.halted = false;
  if (self.handler) {
    take_interrupts();
  } else {
    take_pin();
  }
}

// --- Look-up tables -----------------------------------------------------------------------------

namespace {

void require_entry(int entry) {
  if (entry < 0 || entry >= lut_entries) {
    throw usage_error("simulated chip: a look-up table has entries 0 to 255, not " +
                      std::to_string(entry));
  }
}

}  // namespace

lut_entry machine::entry_now(core_id of, int entry) const {
  const auto& table = tables_[of.index()];
  return table ? (*table)[static_cast<std::size_t>(entry)]
               : off_chip_.initial_entry(chip_, of, entry);
}

lut_entry machine::lut(core_id of, int entry) {
  require_core(of);
  require_entry(entry);
  const passage way = request_tile(of, chip_.costs.uc_read);
  engine_.set_clock(way.answered);
  return entry_now(of, entry);
}

void machine::set_lut(core_id of, int entry, const lut_entry& value) {
  require_core(of);
  require_entry(entry);
  const bool tile = value.to == lut_entry::target::mpb && value.destination >= 0 &&
                    value.destination < chip_.columns * chip_.rows;
  if (value.to != lut_entry::target::none && !tile && !off_chip_.offset_of(value)) {
    throw usage_error("simulated chip: entry " + std::to_string(entry) +
                      " of a look-up table cannot map what is no memory");
  }
  note_progress();
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_tile(of, chip_.costs.uc_write);
  engine_.set_clock(way.start);
  auto& table = tables_[of.index()];
  if (!table) {
    table = std::make_unique<std::array<lut_entry, lut_entries>>();
    for (int i = 0; i < lut_entries; ++i) {
      (*table)[static_cast<std::size_t>(i)] = off_chip_.initial_entry(chip_, of, i);
    }
  }
  (*table)[static_cast<std::size_t>(entry)] = value;
}

std::byte* machine::mapped(std::uint32_t address) {
  engine_.order_at(engine_.now());  // others may have changed the table
  const auto number = static_cast<int>(address / lut_block_bytes);
  const std::size_t within = address % lut_block_bytes;
  const lut_entry entry = entry_now(engine_.running(), number);
  if (const auto block = off_chip_.offset_of(entry)) return bytes_at(mpb_end_ + *block + within);
  const std::size_t tile_bytes = static_cast<std::size_t>(chip_.cores_per_tile) * chip_.mpb_bytes;
  if (entry.to == lut_entry::target::mpb && within < tile_bytes) {
    return bytes_at(static_cast<std::size_t>(entry.destination) * tile_bytes + within);
  }
  throw usage_error("simulated chip: core " + std::to_string(engine_.running().value) +
                    " has no memory at address " + std::to_string(address));
}

}  // namespace creek::scc_backend
