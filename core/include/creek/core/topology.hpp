// SPDX-License-Identifier: Apache-2.0
// Topology of the machine under a program: processing units (PUs), the cores, packages, caches
// and NUMA nodes that they belong to, and how far apart two of them are. Plain data: backends fill
// it (host from hwloc), schedulers ask it whom to steal from first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// A hardware thread. The numbers refer to cores, packages and NUMA nodes counted from 0 over the
/// whole machine.
struct processing_unit {
  int os_index = 0;  ///< the number that the operating system binds to
  int core = 0;
  int package = 0;
  int numa_node = 0;
};

enum class cache_kind : std::uint8_t { unified, data, instruction };

struct cache {
  int level = 1;
  cache_kind kind = cache_kind::unified;
  std::uint64_t bytes = 0;  ///< 0: unknown
  unsigned line_bytes = 0;  ///< 0: unknown
  std::vector<int> units;   ///< indices of the PUs that share it
};

struct numa_node {
  int os_index = 0;
  std::uint64_t bytes = 0;  ///< local memory; 0: unknown
};

/// The parts of a topology.
struct topology_description {
  std::vector<processing_unit> units;
  std::vector<cache> caches;
  std::vector<numa_node> numa_nodes;
  /// Relative memory latency, numa_nodes.size() squared values by rows, as in ACPI's SLIT (local is
  /// 10); empty if the machine does not say.
  std::vector<unsigned> numa_latencies;
  std::string source;  ///< origin of the data, for people: "hwloc", "synthetic", ...
};

/// An immutable, validated description with distances. Any thread. Units are named by their index
/// in units(), which is not the operating system's.
class topology {
 public:
  /// Steps of distance(); beyond `other_node` come more, ever farther NUMA nodes.
  enum step : int {
    same_unit = 0,
    same_core = 1,  ///< SMT siblings
    shares_l2 = 2,  ///< another core behind the same cache of level 2 or less
    shares_l3 = 3,  ///< ... of a higher level
    same_node = 4,  ///< same NUMA node, no cache in common
    other_node = 5,
  };

  /// Throws usage_error if there is no unit, or a number refers to nothing.
  explicit topology(topology_description description);

  /// Returns a machine of `units` equal units in one NUMA node, for when nothing is known.
  static topology flat(int units);

  [[nodiscard]] std::span<const processing_unit> units() const noexcept { return data_.units; }
  [[nodiscard]] std::span<const cache> caches() const noexcept { return data_.caches; }
  [[nodiscard]] std::span<const numa_node> numa_nodes() const noexcept { return data_.numa_nodes; }
  [[nodiscard]] int cores() const noexcept { return cores_; }
  [[nodiscard]] int packages() const noexcept { return packages_; }
  [[nodiscard]] const std::string& source() const noexcept { return data_.source; }

  /// Returns how far apart two units are: 0 if equal, else by what they share (`step`). Without
  /// NUMA latencies another node in the same package is at 5 and one elsewhere at 6; with them, 5
  /// plus the rank of the latency among the machine's remote latencies. Symmetric; constant time.
  [[nodiscard]] int distance(int a, int b) const noexcept {
    return distances_[static_cast<std::size_t>(a) * data_.units.size() +
                      static_cast<std::size_t>(b)];
  }

  /// Returns the relative memory latency between two NUMA nodes (10 is local), 0 if unknown.
  [[nodiscard]] unsigned numa_latency(int from, int to) const noexcept;

  /// Returns all other units, nearest first, and by index where equally near.
  [[nodiscard]] std::vector<int> others_by_distance(int unit) const;

  /// Returns all units in the order in which workers should take them: one per core first, then the
  /// second of each, and so on, so that SMT siblings share a core only when there is no other left.
  [[nodiscard]] std::vector<int> cores_first() const;

  /// Returns the index of the unit with this operating system number, or -1.
  [[nodiscard]] int find_os_index(int os_index) const noexcept;

  /// Returns the part of the machine with these operating system numbers (an affinity mask).
  /// Unknown numbers are ignored; throws usage_error if nothing remains.
  [[nodiscard]] topology restricted_to(std::span<const int> os_indices) const;

 private:
  void check() const;
  void count();
  void measure();
  [[nodiscard]] int distance_between(int a, int b, int shared_cache_level) const;

  topology_description data_;
  int cores_ = 0;
  int packages_ = 0;
  std::vector<unsigned> remote_latencies_;  // distinct, ascending
  std::vector<std::uint8_t> distances_;     // one per pair of units
};

/// Returns {"source":...,"packages":1,"cores":4,"units":[...],"caches":[...],"numa_nodes":[...],
/// "distances":[[...]]}.
[[nodiscard]] std::string to_json(const topology& machine);

/// Returns the kind's name: "data", ...
const char* to_string(cache_kind kind) noexcept;

}  // namespace creek
