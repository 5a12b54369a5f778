// SPDX-License-Identifier: Apache-2.0
// Places ranks on cores of a chip so that neighbours are near in the mesh.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/messages/neighbour_graph.hpp>
#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

/// Returns a core for each rank, by place_near() (creek/core/messages/placement.hpp) over the hops
/// between cores; for simulate_on(). Throws usage_error if there are more ranks than cores.
[[nodiscard]] std::vector<core_id> place_ranks(const neighbour_graph& graph, const chip& on);

/// Returns the sum of the hops between neighbours, each pair once, if rank i is on `cores[i]`.
[[nodiscard]] std::int64_t hops_between_neighbours(const neighbour_graph& graph, const chip& on,
                                                   std::span<const core_id> cores);

}  // namespace creek::scc_backend
