// SPDX-License-Identifier: Apache-2.0
// Limit on the memory of a run's intermediate data, and statistics of keeping it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// Limit on the memory for pairs that were emitted and are not records yet, and the directory for
/// pairs that do not fit: see spill.hpp.
struct memory_limit {
  /// Minimum per worker; a limit below this times the number of workers is refused.
  static constexpr std::size_t least = std::size_t{64} << 10;

  /// Limit for all workers together, which get equal shares; excludes the input and the result.
  std::size_t bytes = 0;
  /// Directory for temporary files. They have no names, so nothing is left behind even if the
  /// program crashes (on file systems without O_TMPFILE a name exists for a moment).
  std::string directory = {};
};

/// Statistics of a run with a memory limit.
struct spill_use {
  std::uint64_t bytes = 0;  ///< written to files
  std::uint64_t runs = 0;   ///< times that a worker's memory was written out: full, or at its end
  std::uint64_t peak = 0;   ///< maximum bytes of intermediate data in memory
};

namespace detail {
/// Throws usage_error if the limit is too small for `workers` workers.
void check_limit(const memory_limit& limit, std::size_t workers);
}  // namespace detail

}  // namespace creek::mapreduce
