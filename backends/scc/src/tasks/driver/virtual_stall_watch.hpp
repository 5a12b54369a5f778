// SPDX-License-Identifier: Apache-2.0
// Watchdog for long calls in virtual time.
#pragma once

#include <memory>

#include <creek/tasking/ext/stall_watch.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

/// Returns a watch by which each running core looks at itself when its time passes; null if the
/// options set no limit. Call it before the run; it must live as long as the run.
std::unique_ptr<ext::stall_watch> make_stall_watch(const scheduler_options& options, machine& chip);

}  // namespace creek::scc_backend
