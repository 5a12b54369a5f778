// SPDX-License-Identifier: Apache-2.0
#include "halo.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <creek/core/messages/neighbour_graph.hpp>
#include <creek/scc/placement.hpp>

#include "rounds_on_chip.hpp"

namespace creek::tool {
namespace {

/// A way to send the messages of a halo.
struct halo_form {
  const char* name;
  communicator_options messages;
  bool declares = false;  ///< states the neighbours
  bool places = false;    ///< ranks near their neighbours, else in the order of the cores
};

const halo_form forms[] = {
    {"chunks (RCCE)", {.chunks_in_flight = 1}},
    {"pipelined (iRCCE)", {.chunks_in_flight = 2}},
    {"sections, equal", {.chunks_in_flight = 1, .buffers = message_buffers::write_sections}},
    {"sections of neighbours",
     {.chunks_in_flight = 1, .buffers = message_buffers::write_sections},
     true},
    {"pipelined, placed near", {.chunks_in_flight = 2}, false, true},
    {"sections of neighbours, placed near",
     {.chunks_in_flight = 1, .buffers = message_buffers::write_sections},
     true,
     true},
};

int shorter_side(int cores) {
  int side = static_cast<int>(std::sqrt(cores));
  while (cores % side != 0) --side;
  return side;
}

/// Exchanges messages with all neighbours at once.
void exchange_halo(scc_communicator& c, std::span<const int> neighbours, std::size_t bytes) {
  using request = scc_communicator::request;
  const std::vector<char> out(bytes);
  std::vector<std::vector<char>> in(neighbours.size(), std::vector<char>(bytes));
  std::vector<std::unique_ptr<request>> begun;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    begun.emplace_back(new request(c.isend(std::span<const char>(out), neighbours[i])));
    begun.emplace_back(new request(c.irecv(std::span(in[i]), neighbours[i])));
  }
  for (auto& each : begun) each->wait();
}

double halo_microseconds(const scc_backend::machine_options& on, const neighbour_graph& grid,
                         const halo_form& how, std::size_t bytes) {
  const std::vector<core_id> cores = how.places
                                         ? scc_backend::place_ranks(grid, on.description)
                                         : scc_backend::first_cores(on.description, grid.size());
  return microseconds_a_round(
      on, cores, how.messages,
      [&](scc_communicator& c) {
        if (how.declares) c.declare_neighbours(grid);
      },
      [&](scc_communicator& c) { exchange_halo(c, grid.of(c.rank()), bytes); });
}

}  // namespace

json_value measure_halo(const scc_backend::machine_options& on, int cores) {
  const int side = shorter_side(cores);
  const auto grid = neighbour_graph::grid({side, cores / side});
  json_value rows = json_value::array();
  for (const halo_form& how : forms) {
    for (const std::size_t bytes : {std::size_t{256}, std::size_t{2048}, std::size_t{16384}}) {
      rows.push_back({{"halo", fmt::format("{} x {}", side, cores / side)},
                      {"messages", how.name},
                      {"bytes_a_neighbour", bytes},
                      {"virtual_us", halo_microseconds(on, grid, how, bytes)}});
    }
  }
  return rows;
}

}  // namespace creek::tool
