// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/detail/wait_steps.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

// No interrupt comes in between a look and parking because of it: await_store() sees it.
void wait_steps::await_store(const void* address) const {
  const core_operation begun(on());
  begun->waits().await_store(on().memory().bytes().offset_of(address));
}
void wait_steps::begin() const {
  const core_operation begun(on());
  begun->waits().begin();
}
void wait_steps::end() const noexcept {
  const core_operation begun(on());
  begun->waits().end();
}
void wait_steps::await_own_store(std::uint64_t seen_before, virtual_time began) const {
  const core_operation begun(on());
  begun->waits().await_own_store(seen_before, began);
}

}  // namespace creek::scc_backend
