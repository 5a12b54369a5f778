// SPDX-License-Identifier: Apache-2.0
// Makes workers: options checked, victims ordered by the machine's topology, threads started,
// fork() noticed.
#include "worker_set.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <system_error>
#include <utility>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/host/topology.hpp>

namespace creek::host_backend {

std::atomic<unsigned> fork_count{0};

namespace {

/// Called in the child of fork(): the calling thread is no worker any more, whatever it was.
void forget_workers() {
  fork_count.fetch_add(1, std::memory_order_relaxed);
  ext::current_stack = nullptr;
}

/// Returns the id of this process among its forks; from the first call on, fork() changes it.
unsigned notice_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, &forget_workers);
  static_cast<void>(registered);
  return fork_count.load(std::memory_order_relaxed);
}

scheduler_options checked(scheduler_options options) {
  const auto refuse = [](const std::string& what) {
    throw usage_error("scheduler_options: " + what);
  };
  if (options.workers > scheduler_options::max_workers) {
    refuse("workers is " + decimal(options.workers) + "; at most " +
           decimal(scheduler_options::max_workers) + " are possible");
  }
  if (options.stack_size < (std::size_t{16} << 10) || options.stack_size > (std::size_t{1} << 32)) {
    refuse("stack_size must be 16 KiB to 4 GiB");
  }
  if (options.deque_capacity == 0) options.deque_capacity = 2048;
  if (options.deque_capacity < 2 || options.deque_capacity > (1U << 20)) {
    refuse("deque_capacity must be 2 to 1048576");
  }
  if (options.spin_wait.count() < 0) refuse("spin_wait must not be negative");
  if (options.name.size() > 10) refuse("name must have at most 10 characters");
  if (options.workers == 0) {
    options.workers = std::min(recent_cpu_limit(), scheduler_options::max_workers);
  }
  ext::check_serve_only(options);
  return options;
}

/// Returns the other workers in the order in which `self` looks at them: near ones first.
std::vector<unsigned> others_by_distance(unsigned self, unsigned workers,
                                         const std::vector<int>& pus, const topology* machine) {
  std::vector<unsigned> others(workers);
  std::iota(others.begin(), others.end(), 0U);
  std::erase(others, self);
  const auto unit = [&](unsigned index) { return machine->find_os_index(pus[index % pus.size()]); };
  const auto distance = [&](unsigned other) {
    if (pus.empty()) return 0;
    const int here = unit(self), there = unit(other);
    return here < 0 || there < 0 ? 0 : machine->distance(here, there);
  };
  // Neighbours at equal distance start at a different one for each worker.
  std::rotate(others.begin(), others.begin() + self % std::max<std::size_t>(1, others.size()),
              others.end());
  if (machine == nullptr) return others;
  std::stable_sort(others.begin(), others.end(),
                   [&](unsigned a, unsigned b) { return distance(a) < distance(b); });
  return others;
}

/// Returns the machine if the order of victims depends on it, else null. It is discovered once.
const topology* machine_for(const scheduler_options& options) {
  if (options.scheduler != scheduler_kind::stealing_latency || options.workers < 2) return nullptr;
  static const auto* const machine =
      new topology(discover_topology());  // static runtimes outlive it
  return machine;
}

}  // namespace

worker_set::worker_set(scheduler_options options, const ext::executor& home)
    : home_(&home),
      fork_id_(notice_forks()),
      options_(checked(std::move(options))),
      consumers_(options_.workers - static_cast<unsigned>(options_.serve_only.size())),
      oversubscribed_(options_.workers > recent_cpu_limit()),
      workers_(std::make_unique<worker[]>(options_.workers)),
      // Uninitialised: only signals touch it. Null, if there is no memory, means no such stacks.
      signal_stacks_(new (std::nothrow) std::byte[options_.workers * signal_stack_bytes]) {
  const topology* const machine = machine_for(options_);
  const std::vector<int> pus = machine != nullptr ? affinity_mask() : std::vector<int>{};
  for (unsigned i = 0; i < size(); ++i) {
    worker& each = workers_[i];
    each.index = i;
    if (signal_stacks_) each.signal_stack = signal_stacks_.get() + i * signal_stack_bytes;
    each.serves_only = ext::serves_only(options_, i);
    each.victims = victim_order(options_, i, others_by_distance(i, size(), pus, machine));
  }
}

void worker_set::start(void (*run)(worker& self)) {
  const std::vector<int> pus = options_.pin ? affinity_mask() : std::vector<int>{};
  try {
    for (worker& self : *this) {
      const int pu = !pus.empty() ? pus[self.index % pus.size()] : -1;
      self.thread = std::thread([run, &self, pu] {
        if (pu >= 0) bind_this_thread(pu);
        run(self);
      });
    }
  } catch (const std::system_error& failure) {
    const auto started =
        std::count_if(begin(), end(), [](const worker& each) { return each.thread.joinable(); });
    throw error(failure.code(), "only " + decimal(started) + " of " + decimal(size()) +
                                    " worker threads could be started; ask for fewer workers");
  }
}

void worker_set::join() noexcept {
  for (worker& each : *this) {
    if (each.thread.joinable()) each.thread.join();
  }
}

void worker_set::require_present() const {
  if (!lost_in_fork()) return;
  throw usage_error(
      "a task waits in a child of fork() for workers that exist only in the parent; in the child "
      "make a new runtime, or end with exec or _exit");
}

void worker_set::end_lost() noexcept {
  std::fputs("creek: the child of a fork() in a task returned from it; end it with exec or _exit\n",
             stderr);
  std::abort();
}

counter_values worker_set::counters() const {
  counter_values sum;
  for (const worker& each : *this) sum += each.counters.snapshot();
  return sum;
}

void worker_set::make_recorders() {
  if (recorders_) return;
  recorders_ = std::make_unique<recorder[]>(size());
  for (worker& each : *this) {
    each.records.store(&recorders_[each.index], std::memory_order_release);
  }
}

void worker_set::record_in(trace::session& session) {
  make_recorders();
  for (worker& each : *this) {
    trace::track& track = session.add_track(options_.name + "/" + decimal(each.index));
    recorders_[each.index].trace_on(track, (std::int64_t{each.index} << 40) + 1);
  }
}

}  // namespace creek::host_backend
