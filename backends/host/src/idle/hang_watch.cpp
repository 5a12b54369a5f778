// SPDX-License-Identifier: Apache-2.0
// Looks for a hang and reports it.
#include "hang_watch.hpp"

#include <cstdio>
#include <new>
#include <utility>
#include <vector>

#include <creek/core/threads/futex.hpp>

#include "workers/wait_report.hpp"

namespace creek::host_backend {

namespace {

/// A limit beyond this might leave the range of the clock.
constexpr std::chrono::hours never{24 * 365 * 10};

}  // namespace

bool hang_watch::all_wait() const noexcept {
  return idle_.sleepers() == workers_.consumers() && shutdown_.any_suspended() &&
         !shutdown_.any_waits_outside() && workers_.servers_sleep() &&
         !reported_.load(std::memory_order_relaxed);
}

void hang_watch::sleep(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint32_t bits) noexcept {
  const std::chrono::nanoseconds limit = workers_.options().hang_limit;
  // The last worker to fall asleep sees that all others do.
  if (limit <= limit.zero() || limit > never || !all_wait()) {
    futex_wait(word, expected, bits);
    return;
  }
  const std::uint64_t before = shutdown_.sleeps_ended();
  const futex_status why = futex_wait_until(word, expected, deadline_clock::now() + limit, bits);
  if (why == futex_status::timed_out && shutdown_.sleeps_ended() == before && all_wait() &&
      !reported_.exchange(true, std::memory_order_relaxed)) {
    report();
  }
}

void hang_watch::report() const noexcept {
  try {
    const std::vector<waiting_task> tasks = waiting_tasks(workers_, fibers_);
    if (workers_.options().on_hang) {
      // It runs beside the workers, not as one: the worker of this thread sleeps.
      ext::task_stack* const here = std::exchange(ext::current_stack, nullptr);
      workers_.options().on_hang(tasks);
      ext::current_stack = here;
      return;
    }
    const auto seconds = std::chrono::duration<double>(workers_.options().hang_limit).count();
    std::fprintf(stderr,
                 "creek: nothing has run for %g s while %zu tasks wait (CREEK_HANG_LIMIT):\n%s",
                 seconds, tasks.size(), to_string(tasks).c_str());
  } catch (const std::bad_alloc&) {  // the program has worse problems
  }
}

}  // namespace creek::host_backend
