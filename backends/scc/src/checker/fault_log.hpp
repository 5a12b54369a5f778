// SPDX-License-Identifier: Apache-2.0
// The faults that the checker has found.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <creek/scc/check.hpp>

#include "allocated_blocks.hpp"

namespace creek::scc_backend {

class symbols;

/// An access and what its core did, such as "read".
struct described_access {
  access_record access;  ///< without bytes: there is no such access
  const char* did = "";
};

/// Faults of one kind between the same two places of the program count as one.
class fault_log {
 public:
  fault_log(const address_map& map, const program_points& points,
            const allocated_blocks& blocks) noexcept
      : map_(map), points_(points), blocks_(blocks) {}

  /// Adds a fault at `bytes` of a line, found at one access and clashing with another one.
  void add(fault_kind kind, std::uint32_t line, byte_mask bytes, const described_access& found,
           const described_access& other = {});
  /// Returns all faults, with their places in the program looked up.
  [[nodiscard]] std::vector<fault> faults() const;

 private:
  struct finding {
    fault_kind kind{};
    described_access found;
    described_access other;
    std::size_t at = 0;
    int bytes = 0;
    std::string allocation;
    std::uint64_t count = 1;
  };
  using finding_key = std::tuple<fault_kind, std::uintptr_t, std::uintptr_t>;

  [[nodiscard]] std::vector<std::string> calls_of(site_id site, symbols& names) const;
  [[nodiscard]] fault_access side(const described_access& of, symbols& names) const;
  [[nodiscard]] fault described(const finding& of, symbols& names) const;

  const address_map& map_;
  const program_points& points_;
  const allocated_blocks& blocks_;
  std::vector<finding> findings_;
  std::map<finding_key, std::size_t> known_;
};

}  // namespace creek::scc_backend
