// SPDX-License-Identifier: Apache-2.0
#include "core_observer.hpp"

#include <exception>

#include <creek/scc/work_costs.hpp>

namespace creek::scc_backend {

void core_observer::computed(cycles length) noexcept {
  // Computation that is measured need not be stated.
  if (on_.computing().measures()) return;
  try {
    on_.computing().charge(length);
    on_.computing().notice_time();
  } catch (...) {
    on_.simulation().fail(std::current_exception());
  }
}

void core_observer::worked(std::span<const work_amount> done) noexcept {
  computed(cost_of(done));
}

void core_observer::moved(std::uint64_t block, std::size_t bytes, bool written) noexcept {
  try {
    const core_operation begun(on_);
    on_.memory().bulk().move_block(block, bytes, written);
    on_.computing().notice_time();
  } catch (...) {
    on_.simulation().fail(std::current_exception());
  }
}

std::optional<std::chrono::nanoseconds> core_observer::time() noexcept {
  const core_operation begun(on_);
  return std::chrono::nanoseconds{on_.simulation().now().femtoseconds / 1'000'000};
}

}  // namespace creek::scc_backend
