// SPDX-License-Identifier: Apache-2.0
// How many strands run the tasks of a graph, and how many more are to be spawned. Used under the
// lock of the graph.
#pragma once

#include <algorithm>
#include <cstddef>

#include "graph_power.hpp"

namespace creek::linalg::detail {

/// Counts strands from the decision to spawn them until they leave, whether they have begun or not.
/// Invariant, after each call that adds ready tasks or allows more strands: there are as many
/// strands as ready tasks or as are allowed; with a power policy, at least one if a task is ready.
class strand_count {
 public:
  /// Maximum number of strands that one worker spawns, with `in_rounds`: all workers are reached in
  /// a few rounds all the same, and small deques can hold the strands.
  static constexpr unsigned spawns_per_round = 4;

  /// Allows strands for `workers` workers, 0 if there is no runtime. `in_rounds`: a worker spawns
  /// only a few strands at once, and those spawn further ones.
  void begin(unsigned workers, bool in_rounds) noexcept {
    workers_ = workers;
    in_rounds_ = in_rounds;
    enqueuer_waits_ = false;
  }
  /// Tells whether the enqueuer waits, so that its worker is free for a strand.
  void let_enqueuer_wait(bool waits) noexcept { enqueuer_waits_ = waits; }

  /// Counts strands to spawn for `ready` tasks; the caller spawns so many.
  [[nodiscard]] unsigned count_spawns(power_limits limits, std::size_t ready) noexcept {
    const unsigned allowed = max_strands(limits.max_awake);
    if (strands_ >= allowed || ready == 0) return 0;
    auto spawns = static_cast<unsigned>(std::min<std::size_t>(allowed - strands_, ready));
    // Without a strand, possibly no thread would run the ready tasks.
    spawns = std::min(spawns, std::max(limits.max_spawns, strands_ == 0 ? 1U : 0U));
    if (in_rounds_ && spawns > spawns_per_round) {
      pending_ = spawns - spawns_per_round;
      spawns = spawns_per_round;
    }
    strands_ += spawns;
    return spawns;
  }
  /// Like count_spawns(), for a strand that spawns what earlier rounds have left.
  [[nodiscard]] unsigned count_pending(unsigned max_awake, std::size_t ready) noexcept {
    if (pending_ == 0) [[likely]]
      return 0;
    const unsigned allowed = max_strands(max_awake);
    const auto wanted =
        static_cast<unsigned>(std::min<std::size_t>(allowed - std::min(allowed, strands_), ready));
    pending_ = std::min(pending_, wanted);
    const unsigned spawns = std::min(pending_, spawns_per_round);
    pending_ -= spawns;
    strands_ += spawns;
    return spawns;
  }
  /// Returns whether a strand may take a further task.
  bool may_stay(unsigned max_awake) const noexcept { return strands_ <= max_strands(max_awake); }
  /// Counts a strand that leaves, or could not be spawned.
  void leave() noexcept { --strands_; }

 private:
  /// The enqueuer at work takes one worker; but at least one strand is allowed, so that tasks run
  /// while the enqueuer waits for something else.
  unsigned max_strands(unsigned max_awake) const noexcept {
    if (workers_ == 0) return 0;
    const unsigned usable = std::min(workers_, max_awake);
    return enqueuer_waits_ ? usable : std::max(usable - 1, 1U);
  }

  unsigned workers_ = 0;
  bool in_rounds_ = false;
  bool enqueuer_waits_ = false;
  unsigned strands_ = 0;
  unsigned pending_ = 0;  ///< with `in_rounds_`: left for strands to spawn
};

}  // namespace creek::linalg::detail
