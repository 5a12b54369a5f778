// SPDX-License-Identifier: Apache-2.0
// Looks at the suspended strands.
#include "wait_report.hpp"

#include <memory>
#include <utility>

#include <creek/tasking/ext/wait_report.hpp>

namespace creek::host_backend {

namespace {

int worker_of(const void* workers, std::uintptr_t stack) noexcept {
  for (const worker& each : *static_cast<const worker_set*>(workers)) {
    if (reinterpret_cast<std::uintptr_t>(each.active.load(std::memory_order_relaxed)) == stack)
      return static_cast<int>(each.index);
  }
  return -1;
}

}  // namespace

std::vector<waiting_task> waiting_tasks(const worker_set& workers, const fiber_pool& fibers) {
  if (workers.lost_in_fork()) return {};
  std::unique_ptr<ext::wait_report> report;
  {
    const fiber_pool::look now(fibers);
    const ticks time = tick_clock::now();
    ext::suspended_strands found{
        .first = std::make_unique<ext::suspended_strand[]>(now.all().size()),
        .worker_of = &worker_of,
        .workers = &workers};
    for (const fiber_ptr& each : now.all()) {
      const wait_note::wait wait = each->waits.get();
      if (wait.what == nullptr) continue;
      const bool is_off_stack = wait.subject.is_off_stack();
      found.first[found.count++] = {
          .task = wait.task,
          .reason = is_off_stack ? wait.subject.reason(wait.what) : wait.what,
          .waited = tick_clock::to_nanoseconds(time > wait.since ? time - wait.since : ticks{}),
          .stack = is_off_stack ? &each->tasks : nullptr};
    }
    report = ext::wait_report::make(std::move(found));
  }
  return report->tasks();
}

}  // namespace creek::host_backend
