// SPDX-License-Identifier: Apache-2.0
// A power policy as a task graph sees it.
#pragma once

#include <cstddef>

#include <creek/core/power_policy.hpp>

#include "graph/records/graph_task.hpp"

namespace creek::linalg::detail {

/// Limits on spawning strands; without a policy nothing limits it.
struct power_limits {
  unsigned max_awake = ~0U;
  unsigned max_spawns = ~0U;
};

/// Asks the runtime's policy, if there is one. Called without the graph's lock and outside of its
/// sections: a policy may do anything.
class graph_power {
 public:
  void begin(power_policy* policy) noexcept { policy_ = policy; }
  bool has_policy() const noexcept { return policy_ != nullptr; }
  /// Tells the policy how many tasks became ready; returns its limits.
  power_limits limits(std::size_t made_ready) const noexcept {
    return policy_ == nullptr ? power_limits{} : ask(made_ready);
  }
  unsigned max_awake() const noexcept;
  /// Tells the policy of a task of `graph` that is about to run.
  void announce(const graph_task& task, const void* graph) const noexcept {
    if (policy_ != nullptr) tell(task, graph);
  }

 private:
  power_limits ask(std::size_t made_ready) const noexcept;
  void tell(const graph_task& task, const void* graph) const noexcept;

  power_policy* policy_ = nullptr;
};

/// Returns the calling worker, 0 on a plain thread. Not inlined: the caller may have moved to
/// another thread, and must not keep the address of a thread-local variable from before.
[[gnu::noinline]] unsigned worker_here() noexcept;

}  // namespace creek::linalg::detail
