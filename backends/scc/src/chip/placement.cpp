// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/placement.hpp>

#include <creek/core/messages/placement.hpp>

namespace creek::scc_backend {
namespace {

place_distances hops_of(const chip& on) {
  std::vector<int> hops;
  for (int a = 0; a < on.cores(); ++a) {
    for (int b = 0; b < on.cores(); ++b) {
      hops.push_back(chip::hops(on.place(core_id{a}), on.place(core_id{b})));
    }
  }
  return place_distances(std::move(hops));
}

}  // namespace

std::vector<core_id> place_ranks(const neighbour_graph& graph, const chip& on) {
  std::vector<core_id> cores;
  for (const int core : place_near(graph, hops_of(on))) cores.push_back(core_id{core});
  return cores;
}

std::int64_t hops_between_neighbours(const neighbour_graph& graph, const chip& on,
                                     std::span<const core_id> cores) {
  std::vector<int> placement;
  for (const core_id core : cores) placement.push_back(core.value);
  return placement_cost(graph, hops_of(on), placement);
}

}  // namespace creek::scc_backend
