// SPDX-License-Identifier: Apache-2.0
// Validation, distances and JSON of a topology.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/core/topology.hpp>

#include "json_text.hpp"

namespace creek {
namespace {

int ssize_of(const auto& container) {
  return static_cast<int>(std::ssize(container));
}

// Renumbers what is left of cores or packages from 0, keeping their order.
template <typename Member>
void compact(std::vector<processing_unit>& units, Member member) {
  std::set<int> used;
  for (const auto& unit : units) used.insert(unit.*member);
  for (auto& unit : units) {
    unit.*member = static_cast<int>(std::distance(used.begin(), used.find(unit.*member)));
  }
}

/// Appends an element of a JSON array.
void append(std::string& array, std::string_view element) {
  if (!array.empty()) array += ',';
  array += element;
}

}  // namespace

const char* to_string(cache_kind kind) noexcept {
  switch (kind) {
    case cache_kind::unified:
      return "unified";
    case cache_kind::data:
      return "data";
    case cache_kind::instruction:
      return "instruction";
  }
  return "unknown";
}

topology::topology(topology_description description) : data_(std::move(description)) {
  check();
  count();
  measure();
}

topology topology::flat(int units) {
  topology_description description;
  for (int i = 0; i < units; ++i) {
    description.units.push_back({.os_index = i, .core = i, .package = 0, .numa_node = 0});
  }
  description.numa_nodes.push_back({});
  description.source = "flat";
  return topology(std::move(description));
}

void topology::check() const {
  if (data_.units.empty()) throw usage_error("topology: has no processing unit");
  const int nodes = ssize_of(data_.numa_nodes);
  for (const auto& unit : data_.units) {
    if (unit.core < 0 || unit.package < 0 || unit.numa_node < 0 || unit.numa_node >= nodes) {
      throw usage_error(
          fmt::format("topology: unit {} refers to core {}, package {}, NUMA node {} "
                      "of {}; numbers count from 0",
                      unit.os_index, unit.core, unit.package, unit.numa_node, nodes));
    }
  }
  for (const auto& c : data_.caches) {
    const bool known = std::ranges::all_of(
        c.units, [&](int unit) { return unit >= 0 && unit < ssize_of(data_.units); });
    if (!known) throw usage_error("topology: a cache is shared by a unit that does not exist");
  }
  const auto expected = data_.numa_nodes.size() * data_.numa_nodes.size();
  if (!data_.numa_latencies.empty() && data_.numa_latencies.size() != expected) {
    throw usage_error(fmt::format("topology: {} NUMA latencies for {} nodes; give {} or none",
                                  data_.numa_latencies.size(), nodes, expected));
  }
}

void topology::count() {
  std::set<int> cores, packages, nodes;  // nodes of memory alone are no place to steal from
  for (const auto& unit : data_.units) {
    cores.insert(unit.core);
    packages.insert(unit.package);
    nodes.insert(unit.numa_node);
  }
  cores_ = ssize_of(cores);
  packages_ = ssize_of(packages);

  std::set<unsigned> remote;
  for (int from : nodes) {
    for (int to : nodes) {
      if (from != to) remote.insert(std::max(numa_latency(from, to), numa_latency(to, from)));
    }
  }
  remote_latencies_.assign(remote.begin(), remote.end());
}

void topology::measure() {
  const int n = ssize_of(data_.units);
  distances_.resize(data_.units.size() * data_.units.size());
  // Pairs behind a common cache are found cache by cache, the others from the units' numbers, so a
  // machine of a thousand units takes milliseconds.
  std::vector<std::uint8_t> level(distances_.size(), 0);
  for (const auto& c : data_.caches) {
    for (int a : c.units) {
      for (int b : c.units) {
        auto& known = level[static_cast<std::size_t>(a * n + b)];
        if (known == 0 || c.level < known) known = static_cast<std::uint8_t>(c.level);
      }
    }
  }
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      const auto at = static_cast<std::size_t>(a * n + b);
      distances_[at] = static_cast<std::uint8_t>(distance_between(a, b, level[at]));
    }
  }
}

int topology::distance_between(int a, int b, int shared_cache_level) const {
  const auto& one = data_.units[static_cast<std::size_t>(a)];
  const auto& two = data_.units[static_cast<std::size_t>(b)];
  if (a == b) return same_unit;
  if (one.core == two.core) return same_core;
  if (shared_cache_level > 0) return shared_cache_level <= 2 ? shares_l2 : shares_l3;
  if (one.numa_node == two.numa_node) return same_node;
  if (data_.numa_latencies.empty()) return one.package == two.package ? other_node : other_node + 1;
  const unsigned latency = std::max(numa_latency(one.numa_node, two.numa_node),
                                    numa_latency(two.numa_node, one.numa_node));
  const auto rank = std::ranges::lower_bound(remote_latencies_, latency);
  constexpr int farthest = 255;  // largest value that the matrix holds
  return std::min(other_node + static_cast<int>(rank - remote_latencies_.begin()), farthest);
}

unsigned topology::numa_latency(int from, int to) const noexcept {
  if (data_.numa_latencies.empty()) return 0;
  return data_.numa_latencies[static_cast<std::size_t>(from) * data_.numa_nodes.size() +
                              static_cast<std::size_t>(to)];
}

std::vector<int> topology::others_by_distance(int unit) const {
  std::vector<int> order(data_.units.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase(order, unit);
  std::ranges::stable_sort(order, {}, [&](int other) { return distance(unit, other); });
  return order;
}

std::vector<int> topology::cores_first() const {
  std::map<int, int> seen;                     // units of each core so far
  std::vector<int> round(data_.units.size());  // how many units of its core come before it
  for (std::size_t i = 0; i < round.size(); ++i) round[i] = seen[data_.units[i].core]++;
  std::vector<int> order(data_.units.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](int unit) { return round[static_cast<std::size_t>(unit)]; });
  return order;
}

int topology::find_os_index(int os_index) const noexcept {
  const auto found = std::ranges::find(data_.units, os_index, &processing_unit::os_index);
  return found == data_.units.end() ? -1 : static_cast<int>(found - data_.units.begin());
}

topology topology::restricted_to(std::span<const int> os_indices) const {
  topology_description part;
  part.source = data_.source;
  part.numa_nodes = data_.numa_nodes;
  part.numa_latencies = data_.numa_latencies;
  std::vector<int> new_index(data_.units.size(), -1);
  for (std::size_t i = 0; i < data_.units.size(); ++i) {
    if (std::ranges::find(os_indices, data_.units[i].os_index) == os_indices.end()) continue;
    new_index[i] = ssize_of(part.units);
    part.units.push_back(data_.units[i]);
  }
  for (cache c : data_.caches) {
    for (int& unit : c.units) unit = new_index[static_cast<std::size_t>(unit)];
    std::erase(c.units, -1);
    if (!c.units.empty()) part.caches.push_back(std::move(c));
  }
  compact(part.units, &processing_unit::core);
  compact(part.units, &processing_unit::package);
  return topology(std::move(part));
}

std::string to_json(const topology& machine) {
  std::string units, caches, nodes, distances;
  const int n = ssize_of(machine.units());
  for (int i = 0; i < n; ++i) {
    const auto& unit = machine.units()[static_cast<std::size_t>(i)];
    append(units, fmt::format(R"({{"os_index":{},"core":{},"package":{},"numa_node":{}}})",
                              unit.os_index, unit.core, unit.package, unit.numa_node));
    std::string row;
    for (int j = 0; j < n; ++j) append(row, decimal(machine.distance(i, j)));
    append(distances, '[' + row + ']');
  }
  for (const auto& c : machine.caches()) {
    std::string members;
    for (const int unit : c.units) append(members, decimal(unit));
    append(caches,
           fmt::format(R"({{"level":{},"kind":"{}","bytes":{},"line_bytes":{},"units":[{}]}})",
                       c.level, to_string(c.kind), c.bytes, c.line_bytes, members));
  }
  for (const auto& node : machine.numa_nodes()) {
    append(nodes, fmt::format(R"({{"os_index":{},"bytes":{}}})", node.os_index, node.bytes));
  }
  return fmt::format(R"({{"source":{},"packages":{},"cores":{},"units":[{}],"caches":[{}],)"
                     R"("numa_nodes":[{}],"distances":[{}]}})",
                     detail::json_string(machine.source()), machine.packages(), machine.cores(),
                     units, caches, nodes, distances);
}

}  // namespace creek
