// SPDX-License-Identifier: Apache-2.0
// Making and ending a runtime on oneTBB: options checked, fork() noticed, counters and trace.
#include <oneapi/tbb/info.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include <creek/core/error.hpp>
#include <creek/core/measuring/profile.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tbb.hpp>

#include "arena_executor.hpp"
#include "task_place.hpp"

namespace creek::onetbb {
namespace {

/// Throws usage_error if the program contains a sanitizer that oneTBB would make report errors
/// where there are none. A library compiled with the sanitizer is used: oneTBB may be, too.
void require_no_sanitizer() {
  const char* name = nullptr;
  if (sanitizer::needs_announcements()) name = "ThreadSanitizer";
  if (sanitizer::is_hidden_from_address_sanitizer()) name = "AddressSanitizer";
  if (name == nullptr) return;
  throw usage_error(std::string("tbb backend: this program is compiled with ") + name +
                    ", to which oneTBB announces neither its stacks nor its hand-overs of tasks, "
                    "so that correct programs get reports; use the host backend");
}

/// True if this process is a child of one that had used this backend before fork(). oneTBB's
/// threads stay behind in the parent then, and it makes no new ones.
std::atomic<bool> threads_lost{false};

void require_threads() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { threads_lost.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
  if (threads_lost.load(std::memory_order_relaxed)) {
    throw usage_error(
        "tbb backend: oneTBB's threads were lost in fork(); use the host backend in the child, or "
        "make the first tbb runtime after fork()");
  }
}

scheduler_options checked(scheduler_options options) {
  require_no_sanitizer();
  require_threads();
  if (options.workers > tbb_backend::max_workers) {
    throw usage_error("tbb backend: workers is " + std::to_string(options.workers) +
                      "; oneTBB runs at most " + std::to_string(tbb_backend::max_workers));
  }
  if (options.pin) {
    throw usage_error("tbb backend: oneTBB places its threads itself; leave pin off");
  }
  if (options.policy != nullptr) {
    throw usage_error(
        "tbb backend: policies cannot change how oneTBB's threads wait; run policy '" +
        std::string(options.policy->name()) + "' on the host or scc backend");
  }
  if (options.workers == 0) {
    options.workers =
        std::min(static_cast<unsigned>(tbb::info::default_concurrency()), tbb_backend::max_workers);
  }
  ext::check_serve_only(options);
  return options;
}

}  // namespace

arena_executor::arena_executor(scheduler_options options)
    : options_(checked(std::move(options))),
      workers_(options_.workers),
      threads_(options_.workers),
      // No slot is kept for callers: a thread that calls run() waits outside.
      arena_(static_cast<int>(options_.workers), 0) {
  set_traits({.backend_name = "tbb",
              .worker_count = options_.workers,
              .runs_invocations_in_place = false});
  set_messages(*this);
  find_stalls_by(ext::make_stall_watch(options_));
  warn_of_no_profile("tbb");
}

bool arena_executor::lost_in_fork() const noexcept {
  return threads_lost.load(std::memory_order_relaxed);
}

/// Suspended strands count: the tasks below them have not ended.
std::exception_ptr arena_executor::shut_down() noexcept {
  {
    const task_absence absence(task_absence::stack::waits);
    do {
      group_.wait();
    } while (objects().end_all());
    objects().let_go();
  }
  guests_.wait_until_gone();
  return write_trace();
}

counter_values arena_executor::counters() const {
  counter_values sum;
  for (const worker& each : workers_) {
    sum[counter::tasks] += each.tasks.load(std::memory_order_relaxed);
    sum[counter::steals_won] += each.steals_won.load(std::memory_order_relaxed);
    sum[counter::suspends] += each.suspensions.load(std::memory_order_relaxed);
  }
  return sum;
}

void arena_executor::trace_to(const std::string& file) {
  trace::session& session = open_trace(file, {.process_name = "creek tbb"});
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].track = &session.add_track(options_.name + "/" + std::to_string(i));
  }
}

}  // namespace creek::onetbb

namespace creek {

std::unique_ptr<ext::backend> tbb_backend::make() const {
  return std::make_unique<onetbb::arena_executor>(options);
}

}  // namespace creek
