// SPDX-License-Identifier: Apache-2.0
// Resources that a simulated run used: time by activity, energy, traffic. Part of run_report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/scc/power.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// Account of energy: a task, a phase, anything that a program numbers. 0 is for everything that
/// belongs to no other account. Numbers should be dense: a run keeps a table up to the highest.
struct energy_account {
  std::uint32_t number = 0;
  friend constexpr auto operator<=>(energy_account, energy_account) = default;
};

/// Time that a core spent at one operating point. Spans are exact.
struct residency {
  units::volts voltage;
  clock_period clock;
  std::array<virtual_time, activities> spent{};
};

struct core_usage {
  std::vector<residency> points;  ///< in the order in which the core first reached them
  /// Sums over the points.
  virtual_time busy, waiting, halted, finished;
  units::joules energy;         ///< switching and leakage
  std::uint64_t mpb_reads = 0;  ///< requests of this core to message-passing memory
  std::uint64_t mpb_writes = 0;
  std::uint64_t bytes_out = 0;   ///< read out of this core's message-passing memory, by any core
  std::uint64_t bytes_in = 0;    ///< written into it, by any core
  std::uint64_t interrupts = 0;  ///< number taken
};

struct account_usage {
  virtual_time busy, waiting;  ///< of all cores while the account was open on them
  units::joules energy;        ///< of the cores; the uncore's belongs to no account
};

/// Usage from time zero to the end of the run. Energies add up: cores = islands = accounts, and
/// with the uncore they are the total (but for rounding of doubles).
struct usage_report {
  std::vector<core_usage> cores;
  std::vector<units::joules> islands;
  std::vector<account_usage> accounts;  ///< by number
  units::joules uncore;
  units::joules total;
};

}  // namespace creek::scc_backend
