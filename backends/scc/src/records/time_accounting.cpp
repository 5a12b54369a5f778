// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/time_accounting.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

void time_accounting::stop_computing() const {
  require_running();
  on().computing().stop();
}
void time_accounting::start_computing() const {
  require_running();
  on().computing().start();
}
energy_account time_accounting::switch_energy_account(energy_account to) const {
  require_running();
  const core_operation begun(on());
  return on().log().switch_account(to);
}
void time_accounting::begin_span(trace::name what, std::int64_t argument) const {
  require_running();
  const core_operation begun(on());
  on().log().begin_span(what, argument);
}
void time_accounting::end_span() const {
  require_running();
  const core_operation begun(on());
  on().log().end_span();
}

}  // namespace creek::scc_backend
