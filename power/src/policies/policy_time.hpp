// SPDX-License-Identifier: Apache-2.0
// Time as seen by the tasks of the calling worker: by the clock of its meter, if it has one.
#pragma once

#include <chrono>

#include <creek/core/energy.hpp>
#include <creek/core/measuring/clock.hpp>

namespace creek::power::detail {

/// Returns the time since some fixed point. Takes 5-10 ns on host.
inline std::chrono::nanoseconds policy_time() noexcept {
  if (backend_meter* meter = backend_meter::current()) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(meter->now().value * 1e9));
  }
  return tick_clock::to_nanoseconds(tick_clock::now());
}

}  // namespace creek::power::detail
