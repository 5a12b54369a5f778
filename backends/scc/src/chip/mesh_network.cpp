// SPDX-License-Identifier: Apache-2.0
#include "mesh_network.hpp"

#include <algorithm>
#include <string>

#include <creek/core/error.hpp>

#include "simulation/time_limits.hpp"

namespace creek::scc_backend {

namespace {

virtual_time half(virtual_time whole) noexcept {
  return {whole.femtoseconds / 2};
}

}  // namespace

void require_core(const chip& on, core_id id) {
  if (id.value >= 0 && id.value < on.cores()) [[likely]]
    return;
  throw usage_error("simulated chip: there is no core " + std::to_string(id.value) + " among " +
                    std::to_string(on.cores()));
}

mesh_network::mesh_network(const chip& on, engine& simulation, const tile_clocks& clocks,
                           chip_memory& bytes)
    : chip_{on},
      simulation_{simulation},
      clocks_{clocks},
      bytes_{bytes},
      ports_(static_cast<std::size_t>(on.columns * on.rows)),
      acknowledged_(static_cast<std::size_t>(on.cores())) {}

template <class Begin>
passage mesh_network::send(virtual_time there_and_back, Begin begin) {
  virtual_time& acknowledged = acknowledged_[simulation_.running().index()];
  passage way;
  way.start = std::max(simulation_.now(), acknowledged);
  if (way.start > time_limits::latest) [[unlikely]]
    time_limits::throw_end_of_time();
  way.arrival = way.start + half(there_and_back);
  simulation_.order_at(way.arrival);
  way.served = begin(way.arrival);
  way.answered = way.served + (there_and_back - half(there_and_back));
  acknowledged = way.answered;
  return way;
}

virtual_time mesh_network::time_to(mesh_place to) const noexcept {
  const int hops = chip::hops(chip_.place(simulation_.running()), to);
  return hops * (chip_.costs.hop_round_trip * chip_.clocks.mesh);
}

passage mesh_network::to_tile(core_id to, cycles overhead, std::int64_t requests) {
  server& port = ports_[static_cast<std::size_t>(to.value / chip_.cores_per_tile)];
  const cycles core_cycles = overhead + chip_.costs.mpb_access;
  const virtual_time each =
      core_cycles * clocks_.of(simulation_.running()) + time_to(chip_.place(to));
  return send(requests * each, [&](virtual_time arrival) {
    return port.begin(arrival, requests * chip_.costs.mpb_service * clocks_.of(to));
  });
}

passage mesh_network::to_dram(const off_chip::block& to, cycles overhead, std::int64_t requests) {
  const cycles core_cycles = overhead + chip_.costs.dram_access;
  const virtual_time each = core_cycles * clocks_.of(simulation_.running()) +
                            time_to(chip_.controllers_at[static_cast<std::size_t>(to.controller)]) +
                            chip_.costs.dram_latency * chip_.clocks.memory;
  return send(requests * each, [&](virtual_time arrival) {
    return bytes_.dram().serve(to, arrival, requests,
                               chip_.costs.controller_service * chip_.clocks.memory,
                               chip_.costs.rank_service * chip_.clocks.memory);
  });
}

passage mesh_network::to_memory(std::size_t at, cycles in_mpb, cycles in_dram,
                                std::int64_t requests) {
  if (bytes_.is_mpb(at)) [[likely]]
    return to_tile(bytes_.owner(at), in_mpb, requests);
  return to_dram(bytes_.dram().block_at(bytes_.off_chip_offset(at)), in_dram, requests);
}

passage mesh_network::to_system_interface(cycles core_cycles) {
  return send(core_cycles * clocks_.of(simulation_.running()) + time_to(chip_.counters_at),
              [](virtual_time arrival) { return arrival; });
}

passage mesh_network::to_counter() {
  return send(chip_.costs.counter * clocks_.here() + time_to(chip_.counters_at),
              [&](virtual_time arrival) {
                return counter_port_.begin(arrival, chip_.costs.counter_service * clocks_.here());
              });
}

void mesh_network::stop_until(virtual_time at) {
  simulation_.order_at(at);
  simulation_.failure().throw_if_aborted();
  simulation_.set_clock(at);
  virtual_time& acknowledged = acknowledged_[simulation_.running().index()];
  acknowledged = std::max(acknowledged, at);
}

}  // namespace creek::scc_backend
