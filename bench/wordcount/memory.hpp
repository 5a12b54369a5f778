// SPDX-License-Identifier: Apache-2.0
// Memory that a count uses besides its input.
#pragma once

#include <cstdint>
#include <string>

namespace creek_bench {

struct memory_use {
  std::uint64_t peak = 0;  ///< peak resident bytes, without the mapped input and the initial bytes
  std::uint64_t answer = 0;  ///< bytes of the distinct words, and 8 per word for its count
};

/// Counts a file with `workers` workers in a child process and returns that process's peak. Call it
/// before the calling process has threads.
memory_use measure_memory(const std::string& file, unsigned workers);

}  // namespace creek_bench
