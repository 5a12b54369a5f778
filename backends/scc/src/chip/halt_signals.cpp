// SPDX-License-Identifier: Apache-2.0
#include "halt_signals.hpp"

#include <algorithm>
#include <string>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

void require_crossing(const chip& of, cycles kernel_crossing) {
  constexpr virtual_time second{1'000'000'000'000'000};
  const clock_period slowest = std::max(of.clocks.core, of.power.divided(of.power.highest_divider));
  const std::int64_t most = second.femtoseconds / slowest.length.femtoseconds;
  if (kernel_crossing.count >= 0 && kernel_crossing.count <= most) return;
  throw usage_error("simulated chip: kernel_crossing must be between 0 and " +
                    std::to_string(most) + " cycles, a second; got " +
                    std::to_string(kernel_crossing.count));
}

void halt_signals::announce(bool halts) {
  core_state& self = here();
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = memory_.network().to_tile(simulation_.running(), chip_.costs.uc_write);
  self.announced = halts;
  if (!halts) self.interrupted = false;
  simulation_.set_clock(way.start);
}

void halt_signals::halt(const char* what, std::uint64_t address) {
  core_state& self = here();
  if (!self.interrupted) sleep(what, address);
  memory_.watchers().forget(simulation_.running());
  simulation_.set_clock(std::max(simulation_.now(), self.interrupted_at));
  computing_.spend(wake_cost());
  interrupts_.count_taken();
  announce(false);
}

void halt_signals::sleep(const char* what, std::uint64_t address) {
  set_asleep(true);
  try {
    log_.park(what, address, activity::halted);
  } catch (...) {
    set_asleep(false);
    throw;
  }
  set_asleep(false);
}

void halt_signals::set_asleep(bool asleep) noexcept {
  here().asleep = asleep;
  memory_.watchers().set_asleep(asleep);
}

void halt_signals::interrupt(core_id core) {
  if (core == simulation_.running()) return;
  const passage look = memory_.network().to_tile(core, chip_.costs.uc_read);
  simulation_.set_clock(look.answered);
  core_state& target = cores_[core.index()];
  if (!target.announced || target.interrupted) return;
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = memory_.network().to_tile(core, chip_.costs.uc_write);
  simulation_.set_clock(way.start);
  if (!target.announced) return;  // it has seen what it waited for
  target.interrupted = true;
  target.interrupted_at = way.served;
  if (target.asleep && simulation_.cores().is_parked(core)) simulation_.wake(core, way.served);
}

}  // namespace creek::scc_backend
