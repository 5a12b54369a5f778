// SPDX-License-Identifier: Apache-2.0
// Making and ending a scheduler: options checked, workers started in a topology, fork() noticed.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/host/topology.hpp>

#include "external_deques.hpp"
#include "messages.hpp"
#include "scheduler.hpp"

namespace creek::host_backend {

namespace {

/// Counts fork() calls that led to this process: a scheduler of another count has no workers here.
std::atomic<unsigned> fork_generation{0};

/// Called in the child of fork(): the calling thread is no worker any more, whatever it was.
void forget_workers() {
  fork_generation.fetch_add(1, std::memory_order_relaxed);
  detail::current_stack = nullptr;
}

void notice_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, &forget_workers);
  static_cast<void>(registered);
}

scheduler_options checked(scheduler_options options) {
  const auto refuse = [](const std::string& what) {
    throw usage_error("scheduler_options: " + what);
  };
  if (options.workers > scheduler_options::max_workers) {
    refuse("workers is " + std::to_string(options.workers) + "; at most " +
           std::to_string(scheduler_options::max_workers) + " are possible");
  }
  if (options.stack_size < (std::size_t{16} << 10) || options.stack_size > (std::size_t{1} << 32)) {
    refuse("stack_size must be 16 KiB to 4 GiB");
  }
  if (options.deque_capacity == 0) options.deque_capacity = 2048;
  if (options.deque_capacity < 2 || options.deque_capacity > (1U << 20)) {
    refuse("deque_capacity must be 2 to 1048576");
  }
  if (options.name.size() > 10) refuse("name must have at most 10 characters");
  return options;
}

/// Fills in the order in which `self` looks at its neighbours: near ones first.
void order_by_distance(worker& self, unsigned workers, const std::vector<int>& pus,
                       const topology* machine) {
  self.near_first.resize(workers);
  std::iota(self.near_first.begin(), self.near_first.end(), 0U);
  std::erase(self.near_first, self.index);
  const auto unit = [&](unsigned index) { return machine->find_os_index(pus[index % pus.size()]); };
  const auto distance = [&](unsigned other) {
    if (machine == nullptr || pus.empty()) return 0;
    const int here = unit(self.index), there = unit(other);
    return here < 0 || there < 0 ? 0 : machine->distance(here, there);
  };
  // Neighbours at equal distance start at a different one for each worker.
  std::rotate(
      self.near_first.begin(),
      self.near_first.begin() + self.index % std::max<std::size_t>(1, self.near_first.size()),
      self.near_first.end());
  std::stable_sort(self.near_first.begin(), self.near_first.end(),
                   [&](unsigned a, unsigned b) { return distance(a) < distance(b); });
}

}  // namespace

scheduler::scheduler(scheduler_options options) : options_(checked(std::move(options))) {
  notice_forks();
  prepare_heavy_fence();
  fork_generation_ = fork_generation.load(std::memory_order_relaxed);
  const cpu_limit limit = read_cpu_limit();
  if (options_.workers == 0) {
    options_.workers = std::min(limit.workers, scheduler_options::max_workers);
  }
  detail::check_serve_only(options_);
  takers_ = options_.workers - static_cast<unsigned>(options_.serve_only.size());
  oversubscribed_ = oversubscribed(options_.workers, limit);
  external_ = options_.deque == deque_kind::mpb || options_.scheduler == scheduler_kind::sharing;
  if (options_.scheduler == scheduler_kind::sharing) {
    shared_ = std::make_unique<shared_queue>(std::max<std::size_t>(16, 2 * options_.workers));
  }
  const std::vector<int> pus = affinity_mask();
  std::unique_ptr<topology> machine;
  if (options_.scheduler == scheduler_kind::stealing_latency && options_.workers > 1) {
    machine = std::make_unique<topology>(discover_topology());
  }
  for (unsigned i = 0; i < options_.workers; ++i) {
    auto made = std::make_unique<worker>();
    made->home = this;
    made->index = i;
    made->serves_only = detail::serves_only(options_, i);
    made->last_victim = i;
    made->random_state =
        (options_.seed + 1) * 0x9E3779B97F4A7C15ULL + i * 0xBF58476D1CE4E5B9ULL + 1;
    order_by_distance(*made, options_.workers, pus, machine.get());
    made->idle_fibers = make_fiber();
    if (made->idle_fibers == nullptr) {
      const int reason = errno;
      throw error(reason, "cannot map stacks for " + std::to_string(options_.workers) +
                              " workers; lower workers or stack_size, or raise the limit");
    }
    made->idle_count = 1;
    workers_.push_back(std::move(made));
  }
  set_traits({.backend_name = "host", .worker_count = options_.workers, .mesh = {}});
  set_messages(*this);
  begin_policy();
  try {
    find_stalls_by(detail::make_stall_watch(options_));
    start_workers(pus);
  } catch (...) {
    end_policy();
    throw;
  }
}

void scheduler::begin_policy() {
  if (options_.policy == nullptr) return;
  clock_control* clocks = options_.clocks.get();
  if (clocks == nullptr) {
    no_clocks_ = std::make_unique<no_clock_control>(
        "scheduler_options::clocks is not set; give it creek::power::linux_clocks()");
    clocks = no_clocks_.get();
  }
  options_.policy->begin({.workers = options_.workers, .clocks = clocks});
  set_policy(options_.policy.get());
}

/// Called when no worker runs any more.
void scheduler::end_policy() noexcept {
  if (policy() == nullptr) return;
  policy()->end();
  if (options_.clocks != nullptr) options_.clocks->forget_wishes();
  set_policy(nullptr);
}

void scheduler::start_workers(const std::vector<int>& pus) {
  try {
    for (auto& each : workers_) {
      worker& self = *each;
      const int pu = options_.pin && !pus.empty() ? pus[self.index % pus.size()] : -1;
      self.thread = std::thread([this, &self, pu] {
        if (pu >= 0) bind_this_thread(pu);
        run_worker(self);
      });
    }
  } catch (const std::system_error& failure) {
    const auto started = std::count_if(workers_.begin(), workers_.end(),
                                       [](const auto& w) { return w->thread.joinable(); });
    finish();
    for (auto& each : workers_) {
      if (each->thread.joinable()) each->thread.join();
    }
    throw error(failure.code(), "only " + std::to_string(started) + " of " +
                                    std::to_string(workers_.size()) +
                                    " worker threads could be started; ask for fewer workers");
  }
}

scheduler::~scheduler() = default;

bool scheduler::lost_in_fork() const noexcept {
  return fork_generation_ != fork_generation.load(std::memory_order_relaxed);
}

void scheduler::require_workers() const {
  if (!lost_in_fork()) return;
  throw usage_error(
      "a task waits in a child of fork() for workers that exist only in the parent; in the child "
      "make a new runtime, or end with exec or _exit");
}

/// Called if the child of a fork() in a task came back from that task. Going on would run the tasks
/// of the parent process a second time.
void scheduler::end_forked_child() noexcept {
  std::fputs("creek: the child of a fork() in a task returned from it; end it with exec or _exit\n",
             stderr);
  std::abort();
}

void scheduler::trace_to(const std::string& file) {
  trace::session& session = open_trace(file, {.process_name = "creek host"});
  for (auto& each : workers_) {
    each->track = &session.add_track(options_.name + "/" + std::to_string(each->index));
  }
}

}  // namespace creek::host_backend

namespace creek {

std::unique_ptr<detail::backend> host::make() const {
  return std::make_unique<host_backend::scheduler>(options);
}

}  // namespace creek
