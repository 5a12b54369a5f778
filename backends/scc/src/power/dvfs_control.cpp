// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/dvfs_control.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

int dvfs_control::power_domain() const noexcept {
  return on().power().island(self());
}
clock_period dvfs_control::clock() const {
  require_running();
  return on().clocks().of(self());
}
units::volts dvfs_control::voltage() const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  order.order_at(order.now());  // others of the island may have asked for another voltage
  const int level = on().power().state().level_at(power_domain(), now());
  return on().description().power.levels[static_cast<std::size_t>(level)].voltage;
}
bool dvfs_control::is_safe(int divider) const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  on().power().state().require_divider(divider);
  order.order_at(order.now());
  return on().power().state().is_safe(power_domain(), divider, now());
}
void dvfs_control::set_frequency_divider(int divider) const {
  enter()->power().set_frequency_divider(divider);
}
void dvfs_control::set_island_divider(int divider) const {
  enter()->power().set_island_divider(divider);
}
clock_period dvfs_control::clock_of_tile(int tile) const {
  return enter()->power().read_clock(tile);
}
power_request dvfs_control::request_power(int divider) const {
  return enter()->power().request(divider);
}
void dvfs_control::wait_power(const power_request& request) const {
  enter()->power().wait(request);
}

}  // namespace creek::scc_backend
