// SPDX-License-Identifier: Apache-2.0
// How much memory a count takes beside its input.
#pragma once

#include <cstdint>
#include <string>

namespace creek_bench {

struct memory_use {
  std::uint64_t peak = 0;  ///< resident at most, without the mapped input and what was there before
  std::uint64_t answer = 0;  ///< bytes of the distinct words, and 8 a word for its count
};

/// Counts a file with `workers` workers in a child process and looks at that process's peak. Call
/// before the calling process has threads.
memory_use measure_memory(const std::string& file, unsigned workers);

}  // namespace creek_bench
