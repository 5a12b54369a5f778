// SPDX-License-Identifier: Apache-2.0
// The costs of chip_costs by name, with the clock that each is counted in, its purpose and its
// source: one list for descriptions, checks and the output of `creek scc info`.
#pragma once

#include <span>

#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

/// The clock that a cost scales with.
enum class clock_domain : std::uint8_t { core, mesh, memory };
[[nodiscard]] const char* to_string(clock_domain domain) noexcept;

struct cost_entry {
  const char* name;
  cycles chip_costs::*cost;
  clock_domain domain;
  const char* what;
  const char* source;  ///< tag of chip.hpp, or "counted": an estimate
};

/// Returns all entries, in the order of chip_costs.
[[nodiscard]] std::span<const cost_entry> cost_table() noexcept;

}  // namespace creek::scc_backend
