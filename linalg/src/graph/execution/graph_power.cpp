// SPDX-License-Identifier: Apache-2.0
#include "graph_power.hpp"

#include <algorithm>

#include <creek/tasking/this_worker.hpp>

namespace creek::linalg::detail {

unsigned worker_here() noexcept {
  return static_cast<unsigned>(std::max(this_worker(), 0));
}

unsigned graph_power::max_awake() const noexcept {
  return policy_ == nullptr ? ~0U : std::max(policy_->max_awake(), 1U);
}

power_limits graph_power::ask(std::size_t made_ready) const noexcept {
  if (made_ready == 0) return {max_awake(), 0};
  // Asked before the limit is read: being told of ready tasks may change the limit.
  const auto count = static_cast<unsigned>(std::min<std::size_t>(made_ready, ~0U));
  const unsigned spawns = policy_->tasks_ready(worker_here(), count);
  return {max_awake(), spawns};
}

void graph_power::tell(const graph_task& task, const void* graph) const noexcept {
  policy_->task_about_to_run(worker_here(), {.name = task.name,
                                             .number = task.number,
                                             .graph = graph,
                                             .flops = task.flops,
                                             .priority = task.priority});
}

}  // namespace creek::linalg::detail
