// SPDX-License-Identifier: Apache-2.0
// The ways to run a job of the MapReduce studies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace creek::tool::bench {

/// The way in which a job is run.
enum class way : std::uint8_t {
  combine,    ///< pairs combined where they are emitted
  group,      ///< no combiner
  automatic,  ///< the library chooses one of the two as it goes, where it can
  fill,       ///< the library's form of the job, which fills an array instead of emitting pairs
};
inline constexpr std::array<const char*, 4> way_names{"combine", "group", "automatic", "fill"};

/// Returns the name of a way for tables.
[[nodiscard]] inline const char* describe(way how) {
  constexpr std::array<const char*, 4> told{"with combiner", "without combiner",
                                            "combiner or not, by the input", "in arrays"};
  return told[static_cast<std::size_t>(how)];
}

/// Help text of the option that chooses workloads.
inline constexpr const char* workload_choice =
    "Workloads to run, of word-count, histogram, linear-regression, k-means, string-match, "
    "inverted-index, line-filter (default: all)";

}  // namespace creek::tool::bench
