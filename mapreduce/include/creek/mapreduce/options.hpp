// SPDX-License-Identifier: Apache-2.0
// Options and reports of a run: options, progress, the times of the seven stages.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stop_token>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// How the pairs of a key are brought together.
enum class strategy : std::uint8_t {
  automatic,  ///< the first if the job can combine, else the second; for small integer-keyed pairs
              ///< where both work, by what the first pieces show
  combine_on_emit,  ///< a hash table per mapper, combined at once, merged by partition
  emit_and_group,   ///< all values are kept and brought together by key; a job that combines
                    ///< has to allow it (job.hpp, `may_group`)
};

class failure_log;

/// Progress of a run; the run writes it, any thread may read it.
struct progress {
  std::atomic<std::uint64_t> splits_done{0};
  std::atomic<std::uint64_t> bytes_done{0};
};

struct options {
  /// Keeps only the first `top` records of the job's order; 0 keeps all.
  std::size_t top = 0;
  /// Whether to sort the records; without, their order is arbitrary and `top` must be 0.
  bool sort = true;
  strategy how = strategy::automatic;
  /// Bytes (elements, for spans) per split, the unit of work of a mapper.
  std::size_t split = std::size_t{1} << 20;
  progress* report = nullptr;
  /// Notes where exceptions of the job come from, for a handler around run().
  failure_log* failures = nullptr;
  /// Once a stop is requested, no further split begins and run() throws creek::error (ECANCELED).
  std::stop_token stop = {};
};

/// The seven stages. Combining on emission is part of `map`; a stage that a strategy or a job does
/// not need takes no time.
enum class stage : std::uint8_t { map, combine, partition, group, reduce, sort, merge };
inline constexpr std::size_t stage_count = 7;
inline constexpr std::array<const char*, stage_count> stage_names = {
    "map", "combine", "partition", "group", "reduce", "sort", "merge"};

/// Wall time per stage; zero if it was skipped.
struct stage_times {
  std::array<std::chrono::nanoseconds, stage_count> spent{};

  [[nodiscard]] std::chrono::nanoseconds& operator[](stage s) {
    return spent[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::chrono::nanoseconds operator[](stage s) const {
    return spent[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::chrono::nanoseconds total() const {
    return std::accumulate(spent.begin(), spent.end(), std::chrono::nanoseconds{0});
  }
};

}  // namespace creek::mapreduce
