// SPDX-License-Identifier: Apache-2.0
// The place of ranks: which of them share a machine, with its counters of energy, or processors.
#pragma once

#include <sched.h>

#include <vector>

#include <creek/core/language.hpp>

namespace creek::tool::dense {

/// A rank's machine and processors, in a form that ranks send each other.
struct rank_site {
  char machine[64];  ///< the same for all ranks of a machine, also in different containers
  char host[64];     ///< name of the machine, for people
  cpu_set_t processors;

  /// Reads those of this process.
  [[nodiscard]] static rank_site here();
};

/// Returns the lowest rank on the machine of `rank`.
[[nodiscard]] int first_rank_of_machine(const std::vector<rank_site>& sites, int rank);
/// Returns how many ranks are on the machine of `rank`.
[[nodiscard]] int ranks_of_machine(const std::vector<rank_site>& sites, int rank);
/// Returns whether another rank may use one of the rank's processors.
[[nodiscard]] bool shares_processors(const std::vector<rank_site>& sites, int rank);

}  // namespace creek::tool::dense
