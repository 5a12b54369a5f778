// SPDX-License-Identifier: Apache-2.0
// Looks at the suspended strands.
#include "wait_report.hpp"

#include <optional>

#include <creek/tasking/ext/wait_graph.hpp>

namespace creek::host_backend {

std::vector<waiting_task> waiting_tasks(const worker_set& workers, const fiber_pool& fibers) {
  if (workers.lost_in_fork()) return {};
  std::optional<ext::wait_graph> waits;
  {
    const fiber_pool::look now(fibers);
    const ticks time = tick_clock::now();
    std::vector<ext::suspended_strand> strands;
    for (const fiber_ptr& each : now.all()) {
      const wait_note::wait wait = each->waits.get();
      if (wait.what == nullptr) continue;
      const bool is_off_stack = wait.subject.is_off_stack();
      strands.push_back(
          {.task = wait.task,
           .reason = is_off_stack ? wait.subject.reason(wait.what) : wait.what,
           .waited = tick_clock::to_nanoseconds(time > wait.since ? time - wait.since : ticks{}),
           .stack = is_off_stack ? &each->tasks : nullptr});
    }
    std::vector<const ext::stealable_stack*> running;
    for (const worker& each : workers) running.push_back(each.active.load(std::memory_order_acquire));
    waits.emplace(std::move(strands), running);
  }
  return waits->report();
}

}  // namespace creek::host_backend
