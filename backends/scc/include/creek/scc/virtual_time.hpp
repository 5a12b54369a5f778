// SPDX-License-Identifier: Apache-2.0
// The time of the simulated chip.
#pragma once

#include <creek/core/units.hpp>

namespace creek {

/// A point or a span of simulated time.
using virtual_time = exact_time;

}  // namespace creek
