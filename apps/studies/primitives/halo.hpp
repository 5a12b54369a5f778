// SPDX-License-Identifier: Apache-2.0
// A halo exchange on the simulated chip: each rank of a grid exchanges messages with its
// neighbours.
#pragma once

#include <creek/scc/spmd.hpp>

#include "json/json_value.hpp"

namespace creek::tool {

/// Returns a row for each way to send and each size, for the grid with the most equal sides.
[[nodiscard]] json_value measure_halo(const scc_backend::machine_options& on, int cores);

}  // namespace creek::tool
