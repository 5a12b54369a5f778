// SPDX-License-Identifier: Apache-2.0
// How the ranks of a machine share its processors.
#pragma once

#include <sched.h>

#include <cstdint>
#include <span>

#include <creek/core/language.hpp>

namespace creek::mpi_backend {

/// The processors that a rank may use, in a form that ranks send each other.
struct allowed_processors {
  cpu_set_t mask;  ///< by its affinity
  /// The CPU quota of its control group, in processors; 0 if none limits it.
  double quota = 0;
  /// The control group that sets the quota, by its folder's device and number: equal for all ranks
  /// of a machine that the group limits together, also where containers give it different paths.
  std::uint64_t group_device = 0, group_number = 0;

  /// Reads those of this process.
  [[nodiscard]] static allowed_processors here();
  /// Returns the processors of a process that shares them with no other rank; 0 if it is not known.
  [[nodiscard]] double alone() const noexcept;
};

/// Returns how many processors are a rank's if the ranks of its machine may use these: each is
/// shared by all that may use it, and a quota by all ranks that it limits together. May be a
/// fraction.
[[nodiscard]] double share_of_processors(std::span<const allowed_processors> here,
                                         int rank) noexcept;

}  // namespace creek::mpi_backend
