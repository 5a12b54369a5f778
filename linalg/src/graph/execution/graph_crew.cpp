// SPDX-License-Identifier: Apache-2.0
#include "task_graph_crew.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <mutex>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>

#include "block_table.hpp"

namespace creek::linalg::detail {

namespace {

/// Time that a strand waits for tasks before it leaves: about the cost of spawning another strand.
constexpr std::chrono::nanoseconds linger_time{2000};

unsigned worker_here() noexcept {
  return static_cast<unsigned>(std::max(this_worker(), 0));
}

/// Number of strands that one worker spawns before those strands spawn further ones: so all workers
/// are reached in a few rounds, and small deques can hold the strands.
constexpr unsigned hires_at_once = 4;

/// Returns the length of a list of tasks that became ready.
std::size_t length(const graph_task* first) noexcept {
  std::size_t tasks = 0;
  for (; first != nullptr; first = first->next) ++tasks;
  return tasks;
}

}  // namespace

void graph_crew::begin() {
  home_ = creek::ext::current_executor();
  owner_ = creek::ext::current_stack;
  workers_ = worker_count();
  ready_.set_workers(workers_);
  policy_ = home_ != nullptr ? home_->policy() : nullptr;
  observer_ = execution_observer::current();
  lock_owner_ = worker_here();
  if (home_ != nullptr) group_.emplace();
  begun_ = true;
}

void graph_crew::require_caller(const char* what) const {
  if (home_ == creek::ext::current_executor() && owner_ == creek::ext::current_stack) return;
  throw usage_error(std::string("task_graph::") + what +
                    ": call it in the task, or on the thread, that made the first add()");
}

void graph_crew::reserve(std::size_t tasks) {
  const std::lock_guard guard(lock_);
  ready_.reserve(tasks);
}

unsigned graph_crew::max_strands(unsigned max_awake) const noexcept {
  if (home_ == nullptr) return 0;
  const unsigned usable = std::min(workers_, max_awake);
  return parked_ ? usable : std::max(usable - 1, 1U);
}

unsigned graph_crew::max_awake() const noexcept {
  return policy_ == nullptr ? ~0U : std::max(policy_->max_awake(), 1U);
}

// Not inlined: see hire_one().
[[gnu::noinline]] graph_crew::hiring graph_crew::ask_policy(std::size_t made_ready) const noexcept {
  if (policy_ == nullptr) return {};
  if (made_ready == 0) return {max_awake(), 0};
  // Asked before the limit is read: being told of ready tasks may change the limit.
  const auto count = static_cast<unsigned>(std::min<std::size_t>(made_ready, ~0U));
  const unsigned hires = policy_->tasks_ready(worker_here(), count);
  return {max_awake(), hires};
}

[[gnu::noinline]] void graph_crew::tell_policy(const graph_task& task) const noexcept {
  policy_->task_about_to_run(worker_here(), {.name = task.name,
                                             .number = task.number,
                                             .graph = this,
                                             .flops = task.flops,
                                             .priority = task.priority});
}

unsigned graph_crew::count_hires(hiring limits) noexcept {
  const unsigned most = max_strands(limits.max_awake);
  if (strands_ >= most || ready_.size() == 0) return 0;
  auto hires = static_cast<unsigned>(std::min<std::size_t>(most - strands_, ready_.size()));
  // Without a strand, possibly no thread would run the ready tasks.
  hires = std::min(hires, std::max(limits.max_hires, strands_ == 0 ? 1U : 0U));
  if (spawns_in_rounds() && hires > hires_at_once) {
    pending_spawns_ = hires - hires_at_once;
    hires = hires_at_once;
  }
  strands_ += hires;
  return hires;
}

/// Returns how many of the pending strands this worker is to spawn.
unsigned graph_crew::count_owed(unsigned awake) noexcept {
  const unsigned most = max_strands(awake);
  const auto wanted =
      static_cast<unsigned>(std::min<std::size_t>(most - std::min(most, strands_), ready_.size()));
  pending_spawns_ = std::min(pending_spawns_, wanted);
  const unsigned hires = std::min(pending_spawns_, hires_at_once);
  pending_spawns_ -= hires;
  strands_ += hires;
  return hires;
}

// Not inlined, like the functions below: the caller may have moved to another thread, and must not
// keep the address of a thread-local variable from before.
[[gnu::noinline]] void graph_crew::hire_one() noexcept {
  try {
    group_->spawn([this] { run_strand(); });
  } catch (...) {
    // Out of memory. No task depends on an extra strand: a worker that finds ready tasks runs them.
    const std::lock_guard guard(lock_);
    --strands_;
  }
}

void graph_crew::hire(unsigned strands) noexcept {
  for (; strands > 0; --strands) hire_one();
}

void graph_crew::publish(graph_task* task) noexcept {
  unsigned hires = 0;
  const hiring limits = ask_policy(1);
  {
    graph_section turn = section();
    turn.queued();
    const std::lock_guard guard(lock_);
    ready_.push(task);
    ready_count_.store(ready_.size(), std::memory_order_relaxed);
    hires = count_hires(limits);
  }
  if (hires > 0) hire(hires);
}

void graph_crew::refresh() noexcept {
  const std::lock_guard guard(lock_);
  ready_.refresh();
}

void graph_crew::run_strand() noexcept {
  while (graph_task* task = take_or_leave()) {
    while (task != nullptr) {
      run_body(*task);
      task = end_and_take(*task, true, 0);
    }
    if (!spawns_in_rounds()) {
      static_cast<void>(spin_until(
          [this] { return ready_count_.load(std::memory_order_relaxed) != 0; }, linger_time));
    }
  }
}

[[gnu::noinline]] graph_task* graph_crew::take_or_leave() noexcept {
  const unsigned here = worker_here();
  const unsigned awake = max_awake();
  graph_task* task = nullptr;
  unsigned hires = 0;
  {
    graph_section turn = section();
    const std::lock_guard guard(lock_);
    if (strands_ <= max_strands(awake)) task = ready_.pick(here);
    ready_count_.store(ready_.size(), std::memory_order_relaxed);
    if (task == nullptr) {
      --strands_;
    } else {
      turn.queued();
    }
    if (pending_spawns_ > 0) [[unlikely]]
      hires = count_owed(awake);
  }
  if (hires > 0) hire(hires);
  return task;
}

void graph_crew::run_body(graph_task& task) noexcept {
  const bool runs = !task.poisoned.load(std::memory_order_relaxed) && !is_cancelled();
  if (runs && policy_ != nullptr) tell_policy(task);
  if (task.run != nullptr) task.run->start = time_here();
  if (runs && observer_ != nullptr) report_reads(task);
  struct call {
    graph_task& task;
    bool runs;
    std::exception_ptr failure;
  } made{task, runs, nullptr};
  const auto body = [](void* argument) noexcept {
    auto& [self, run, failure] = *static_cast<call*>(argument);
    try {
      self.call(self.body.data(), run);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  if (runs && home_ != nullptr) {
    std::exception_ptr of_children = creek::ext::run_branch_as_task(body, &made);
    if (made.failure == nullptr) made.failure = std::move(of_children);
  } else {
    body(&made);
  }
  if (!runs) skipped_.fetch_add(1, std::memory_order_relaxed);
  if (!runs || made.failure != nullptr) {
    task.failed = true;
    failed_.store(true, std::memory_order_relaxed);
  }
  if (made.failure != nullptr) error_.store(std::move(made.failure));
  if (runs && observer_ != nullptr) report_work(task);
  if (task.run != nullptr) {
    task.run->end = time_here();
    task.run->skipped = !runs;
  }
}

[[gnu::cold]] void graph_crew::report_reads(const graph_task& task) const noexcept {
  if (task.moves == nullptr) return;
  for (const moved_block& each : *task.moves) {
    if (reads(each.how)) observer_->moved(each.number, each.bytes, false);
  }
}

/// Reports the flops of a task whose body ran, and the blocks that it has written.
[[gnu::cold]] void graph_crew::report_work(const graph_task& task) const noexcept {
  const work_amount done{work::flop, static_cast<std::int64_t>(task.flops)};
  observer_->worked({&done, 1});
  if (task.moves == nullptr) return;
  for (const moved_block& each : *task.moves) {
    if (writes(each.how)) observer_->moved(each.number, each.bytes, true);
  }
}

bool graph_crew::has_own_clock() const noexcept {
  return observer_ != nullptr && observer_->time().has_value();
}

ticks graph_crew::time_here() const noexcept {
  if (has_own_clock()) [[unlikely]]
    return {static_cast<std::uint64_t>(observer_->time()->count())};
  return tick_clock::now();
}

graph_task* graph_crew::close(graph_task& task, int here, unsigned& edges) noexcept {
  graph_task* released = nullptr;
  // Acquire: the edges that the enqueuer has added. Release: the body's effects, for threads that
  // find the list closed.
  sanitizer::releases(&task.successors);
  graph_edge* edge = task.successors.exchange(graph_task::closed(), std::memory_order_acq_rel);
  sanitizer::acquired(&task.successors);
  while (edge != nullptr) {
    const std::uintptr_t flags = edge->word;
    graph_task* successor = edge->successor();
    ++edges;
    edge = edge->next;  // before the decrement: the edge may be reused afterwards
    if (task.failed && (flags & graph_edge::flow) != 0) {
      successor->poisoned.store(true, std::memory_order_relaxed);
    }
    if ((flags & graph_edge::affine) != 0) {
      successor->home.store(static_cast<std::int16_t>(here), std::memory_order_relaxed);
    }
    // Release: the body's effects, for the thread whose decrement is the last (acquire).
    sanitizer::releases(&successor->pending);
    if (successor->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      sanitizer::acquired(&successor->pending);
      successor->next = std::exchange(released, successor);
    }
  }
  return released;
}

void graph_crew::give_back(graph_task& task) noexcept {
  graph_task* first = ended_.load(std::memory_order_relaxed);
  do {
    task.next = first;
    sanitizer::releases(&ended_);
  } while (!ended_.compare_exchange_weak(first, &task, std::memory_order_release,
                                         std::memory_order_relaxed));
}

[[gnu::noinline]] graph_task* graph_crew::end_and_take(graph_task& task, bool by_strand,
                                                       std::size_t goal) noexcept {
  const int here = this_worker();
  task.ran_on = static_cast<std::int16_t>(here);
  if (task.run != nullptr) task.run->worker = here;
  graph_task* released = nullptr;
  {
    graph_section turn = section();
    unsigned edges = 0;
    released = close(task, here, edges);
    turn.changed_edges(edges);
    give_back(task);
  }
  graph_task* next = nullptr;
  promise<void>* room = nullptr;
  unsigned hires = 0;
  const hiring limits = policy_ == nullptr ? hiring{} : ask_policy(length(released));
  {
    graph_section turn = section();
    const std::lock_guard guard(lock_);
    while (released != nullptr) {
      graph_task* ready = std::exchange(released, released->next);
      ready_.push(ready);
      turn.queued();
    }
    const std::size_t finished = finished_.load(std::memory_order_relaxed) + 1;
    finished_.store(finished, std::memory_order_relaxed);
    if (room_ != nullptr && added_ - finished <= wake_at_) {
      room = std::exchange(room_, nullptr);
      parked_ = false;
    }
    if (by_strand ? strands_ <= max_strands(limits.max_awake) : added_ - finished > goal) {
      next = ready_.pick(static_cast<unsigned>(std::max(here, 0)));
      if (next != nullptr) turn.queued();
    }
    ready_count_.store(ready_.size(), std::memory_order_relaxed);
    hires = count_hires(limits);
  }
  if (room != nullptr) room->set_value();
  if (hires > 0) hire(hires);
  return next;
}

bool graph_crew::help(std::size_t goal) noexcept {
  const auto first = [this]() -> graph_task* {
    const unsigned here = worker_here();
    graph_section turn = section();
    turn.queued();
    const std::lock_guard guard(lock_);
    graph_task* picked = ready_.pick(here);
    ready_count_.store(ready_.size(), std::memory_order_relaxed);
    return picked;
  };
  graph_task* task = first();
  if (task == nullptr) return false;
  while (task != nullptr) {
    run_body(*task);
    task = end_and_take(*task, false, goal);
  }
  return true;
}

void graph_crew::make_room(std::size_t goal) {
  while (unfinished() > goal) {
    if (!help(goal)) wait_for_room(goal);
  }
}

void graph_crew::wait_for_room(std::size_t goal) {
  assert(group_);  // a plain thread runs all ready tasks, so one is always ready
  promise<void> room;
  future<void> told = room.get_future();
  {
    const graph_section turn = section();
    const std::lock_guard guard(lock_);
    if (ready_.size() != 0 || unfinished() <= goal) return;
    room_ = &room;
    // Waking may cost more than a task, so not after each one.
    wake_at_ = goal - goal / 8;
    parked_ = true;
  }
  told.get();
}

/// Spawns strands for all ready tasks: a policy was told of them one by one while they were added,
/// each perhaps not worth a worker. Where spawning takes rounds, strands spawn further ones.
void graph_crew::hire_for_all() noexcept {
  const std::size_t ready = ready_count_.load(std::memory_order_relaxed);
  if (policy_ == nullptr || spawns_in_rounds() || ready < 2) return;
  unsigned hires = 0;
  const hiring limits = ask_policy(ready);
  {
    const std::lock_guard guard(lock_);
    hires = count_hires(limits);
  }
  hire(hires);
}

void graph_crew::finish() noexcept {
  hire_for_all();
  help(0);
  if (!group_) return;
  unsigned hires = 0;
  const hiring limits = ask_policy(ready_count_.load(std::memory_order_relaxed));
  {
    const graph_section turn = section();
    const std::lock_guard guard(lock_);
    parked_ = true;
    hires = count_hires(limits);
  }
  hire(hires);
}

// One round, unless there was no memory to spawn a strand.
void graph_crew::join() {
  do {
    finish();
    wait_for_strands();
  } while (unfinished() != 0);
}

[[gnu::noinline]] void graph_crew::wait_for_strands() {
  if (group_) group_->wait();
}

void graph_crew::join_anyhow() noexcept {
  do {
    finish();
    if (group_) group_.emplace();  // the destructor of the old group joins
  } while (unfinished() != 0);
}

std::exception_ptr graph_crew::end() noexcept {
  group_.reset();
  begun_ = parked_ = false;
  added_ = 0;
  finished_.store(0, std::memory_order_relaxed);
  cancelled_.store(false, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  skipped_.store(0, std::memory_order_relaxed);
  return error_.take();
}

}  // namespace creek::linalg::detail
