// SPDX-License-Identifier: Apache-2.0
// Time when a file was last written.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace creek::mapreduce {

/// Returns the modification time in nanoseconds since 1970.
[[nodiscard]] inline std::int64_t modified_at(const struct stat& facts) noexcept {
  return std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

}  // namespace creek::mapreduce
