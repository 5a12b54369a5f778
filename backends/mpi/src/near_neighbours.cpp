// SPDX-License-Identifier: Apache-2.0
// Ranks with numbers so that neighbours are near, by the times of messages between them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/placement.hpp>
#include <creek/mpi.hpp>

namespace creek::mpi_backend {
namespace {

using clock = std::chrono::steady_clock;
constexpr int max_time = 1'000'000'000;

/// Returns the shortest of some round trips to a rank that calls this, too, in nanoseconds. A
/// single one may be disturbed, or wait until the other rank comes.
int round_trip(mpi_communicator& ranks, int other) {
  constexpr int round_trips = 10;
  auto shortest = clock::duration::max();
  for (int i = 0; i < round_trips; ++i) {
    const auto begin = clock::now();
    if (ranks.rank() < other) {
      ranks.send(i, other);
      (void)ranks.recv<int>(other);
    } else {
      (void)ranks.recv<int>(other);
      ranks.send(i, other);
    }
    shortest = std::min(shortest, clock::now() - begin);
  }
  const auto nanoseconds = std::chrono::nanoseconds(shortest).count();
  return static_cast<int>(std::clamp<long>(nanoseconds, 1, max_time));
}

/// Returns the times of round trips to all ranks; 0 to itself. In each round every rank has another
/// partner, as in a tournament, so that all pairs take as many rounds as there are ranks.
std::vector<int> times_to_all(mpi_communicator& ranks) {
  const int size = ranks.size(), rank = ranks.rank();
  const int places = size + size % 2;  // of which one is free if the number is odd
  std::vector<int> times(static_cast<std::size_t>(size));
  for (int round = 0; round < places - 1; ++round) {
    // The last place stays; the others meet those whose sum with theirs is the round.
    const int turning = places - 1;
    int other = (round - rank % turning + turning) % turning;
    if (rank == turning) {
      other = round % 2 == 0 ? round / 2 : (round + turning) / 2;
    } else if (other == rank) {
      other = turning;
    }
    if (other < size) times[static_cast<std::size_t>(other)] = round_trip(ranks, other);
  }
  return times;
}

/// Returns distances between ranks: 1 on one machine, between two machines the shortest time of
/// their ranks, in powers of two of the shortest time on a machine, and at least 2. Times of single
/// ranks differ too much, in particular where ranks share processors.
place_distances distances_of(std::span<const int> times, std::span<const int> machines) {
  const std::size_t size = machines.size();
  std::map<std::pair<int, int>, int> shortest;
  int on_a_machine = max_time;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      if (a == b) continue;
      const int time = times[a * size + b];
      if (machines[a] == machines[b]) {
        on_a_machine = std::min(on_a_machine, time);
      } else {
        const auto pair = std::minmax(machines[a], machines[b]);
        int& known = shortest.try_emplace(pair, max_time).first->second;
        known = std::min(known, time);
      }
    }
  }
  for (const auto& [pair, time] : shortest) on_a_machine = std::min(on_a_machine, time);
  std::vector<int> distances(size * size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      int& distance = distances[a * size + b];
      if (machines[a] == machines[b]) {
        distance = a == b ? 0 : 1;
      } else {
        const int time = shortest.at(std::minmax(machines[a], machines[b]));
        distance = std::max(
            2, static_cast<int>(std::bit_floor(static_cast<unsigned>(time / on_a_machine))));
      }
    }
  }
  return place_distances(std::move(distances));
}

/// Returns the rank of the parent that gets each number.
std::vector<int> place(const neighbour_graph& graph, const place_distances& distances) {
  std::vector<int> as_they_are(static_cast<std::size_t>(graph.size()));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  std::vector<int> placement = place_near(graph, distances);
  const auto before = placement_cost(graph, distances, as_they_are);
  const auto after = placement_cost(graph, distances, placement);
  return before - after < before / 8 ? as_they_are : placement;
}

}  // namespace

void require_ranks(const neighbour_graph& graph, int ranks) {
  if (graph.size() == ranks) return;
  throw usage_error(fmt::format("a graph of {} neighbours for {} ranks: give one with as many",
                                graph.size(), ranks));
}

int number_near_neighbours(mpi_communicator& ranks, int machine, const neighbour_graph& graph) {
  require_ranks(graph, ranks.size());
  const std::vector<int> own = times_to_all(ranks);
  const std::vector<int> machines = ranks.allgather(machine);
  std::vector<int> times(ranks.rank() == 0 ? own.size() * own.size() : 0);
  ranks.gather(std::span<const int>(own), std::span<int>(times), 0);
  std::vector<int> placement(own.size());
  if (ranks.rank() == 0) placement = place(graph, distances_of(times, machines));
  ranks.bcast(std::span<int>(placement), 0);
  return static_cast<int>(std::ranges::find(placement, ranks.rank()) - placement.begin());
}

}  // namespace creek::mpi_backend
