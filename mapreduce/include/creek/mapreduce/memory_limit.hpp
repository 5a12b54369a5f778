// SPDX-License-Identifier: Apache-2.0
// A limit on the memory of a run's intermediate data, and what keeping it took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// What a run may take for pairs that were emitted and are no records yet, and where it puts those
/// for which that is too little: see spill.hpp.
struct memory_limit {
  /// Of one worker; less than this times the workers is refused.
  static constexpr std::size_t least = std::size_t{64} << 10;

  /// For all workers together, which get equal shares. Not counted are the input and the result.
  std::size_t bytes = 0;
  /// A directory for temporary files. They have no names, so nothing is left behind whatever
  /// happens to the program (on file systems without O_TMPFILE a name exists for a moment).
  std::string directory = {};
};

/// What a run with a limit did.
struct spill_use {
  std::uint64_t bytes = 0;  ///< written to files
  std::uint64_t runs = 0;  ///< times that a worker's memory was full, or done with, and written out
  std::uint64_t peak = 0;  ///< bytes of intermediate data in memory at most
};

namespace detail {
/// Throws usage_error for a limit that `workers` workers cannot work within.
void check_limit(const memory_limit& limit, std::size_t workers);
}  // namespace detail

}  // namespace creek::mapreduce
