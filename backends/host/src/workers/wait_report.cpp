// SPDX-License-Identifier: Apache-2.0
// Looks at the suspended strands.
#include "wait_report.hpp"

#include <memory>
#include <utility>

#include <creek/tasking/ext/wait_report.hpp>

namespace creek::host_backend {

std::vector<waiting_task> waiting_tasks(const worker_set& workers, const fiber_pool& fibers) {
  if (workers.lost_in_fork()) return {};
  std::unique_ptr<ext::wait_report> report;
  {
    const fiber_pool::look now(fibers);
    const ticks time = tick_clock::now();
    std::vector<ext::suspended_strand> strands(now.all().size());
    std::size_t count = 0;
    for (const fiber_ptr& each : now.all()) {
      const wait_note::wait wait = each->waits.get();
      if (wait.what == nullptr) continue;
      const bool is_off_stack = wait.subject.is_off_stack();
      strands[count++] = {
          .task = wait.task,
          .reason = is_off_stack ? wait.subject.reason(wait.what) : wait.what,
          .waited = tick_clock::to_nanoseconds(time > wait.since ? time - wait.since : ticks{}),
          .stack = is_off_stack ? &each->tasks : nullptr};
    }
    std::vector<const ext::stealable_stack*> running(workers.size());
    for (const worker& each : workers)
      running[each.index] = each.active.load(std::memory_order_acquire);
    strands.erase(strands.begin() + static_cast<std::ptrdiff_t>(count), strands.end());
    report = ext::wait_report::make(std::move(strands), running);
  }
  return report->tasks();
}

}  // namespace creek::host_backend
