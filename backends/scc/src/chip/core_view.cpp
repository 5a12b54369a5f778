// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/core_view.hpp>

#include <string>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"
#include "chip/machine.hpp"

namespace creek::scc_backend {

core_id core_view::running() const noexcept {
  return on().simulation().running();
}
int core_view::cores() const noexcept {
  return on().description().cores();
}
allocation_observer* core_view::allocations() const noexcept {
  return on().memory().check() == nullptr ? nullptr
                                          : on().memory().check()->blocks().observer(self());
}
void core_view::require_running() const {
  if (running() != self_) {
    throw usage_error("simulated chip: core " + std::to_string(self_.value) + " was used on core " +
                      std::to_string(running().value));
  }
}
core_operation core_view::enter() const {
  require_running();
  return {on(), core_operation::interruptible{}};
}
virtual_time core_view::now() const {
  require_running();
  const core_operation begun(on());
  return on().simulation().now();
}

}  // namespace creek::scc_backend
