// SPDX-License-Identifier: Apache-2.0
// Tasks and strands on simulated cores: making, running, suspending. State that others can see is
// changed right after an access that puts the core in its place in time, and before the next.
#include "task_runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/ext/task_context.hpp>

#include "work_span.hpp"

namespace creek::scc_backend {

using ext::strand;
using ext::submitted_task;

namespace {

// Costs of the runtime's own instructions beside its accesses to shared memory, in core cycles.
// Estimates: two cycles per line of source, on a core that issues up to two instructions per cycle,
// and ten for a call with its return. Small beside the accesses; stated so that they are not zero.
constexpr cycles beginning_a_task{30};  ///< scope, indirect call

}  // namespace

int task_runtime::worker_index() const noexcept {
  if (ext::current_executor() != this) return -1;
  return const_cast<task_runtime*>(this)->chip_.simulation().running().value;
}

// --- Thread-local state of a core ---------------------------------------------------------------

void* task_runtime::save() noexcept {
  return ext::current_executor() == this ? ext::current_scope() : nullptr;
}
void task_runtime::restore(void* saved) noexcept {
  ext::set_foreign_scope(saved != nullptr ? this : nullptr, static_cast<ext::task_scope*>(saved));
}

// --- Making tasks -------------------------------------------------------------------------------

void task_runtime::submit(submitted_task* task) {
  if (!workers_.are_driven_here()) {
    outside_.hand_in(task);
    return;
  }
  const core_operation begun(chip_);
  if (outside_.closed_by())
      [[unlikely]] {  // the driver gives up, and this is the next waiter to be notified
    pending_.roots.push_back(task);
    return;
  }
  task_worker& worker = workers_.here();
  if (queues_.put(worker, {task, nullptr})) return;
  ext::task_scope* const maker = ext::current_scope();
  ext::task_scope own;
  ext::set_foreign_scope(this, &own);
  log_.note(worker, step::inline_run);
  worker.counters.add(counter::inline_runs);
  chip_.computing().start();
  task->run(task);
  chip_.computing().stop();
  restore(maker);
}

// --- Forks --------------------------------------------------------------------------------------

/// Recursion goes through this frame, so it is kept small: no core_operation, no closures.
void task_runtime::fork(void (*left)(void*) noexcept, void* left_argument,
                        void (*right)(void*) noexcept, void* right_argument) {
  const bool ends_stretch = chip_.computing().stop();
  task_worker& worker = workers_.here();
  const std::optional<pool_lines> place = books_.reserve_flagged_result(worker);
  forked_branch branch{right, right_argument};
  if (place) {
    branch.place = &*place;
    if (queues_.put(worker, {nullptr, &branch})) {
      chip_.computing().start();
      left(left_argument);
      chip_.computing().stop();
      if (queues_.retake(worker, branch)) {
        chip_.computing().start();
        right(right_argument);
        chip_.computing().stop();
      } else {
        books_.read_flag(*place);
        const auto publish = [](void* waited, strand* self) {
          auto& stolen = *static_cast<forked_branch*>(waited);
          stolen.waiter = self;
          return !stolen.ended;
        };
        if (!branch.ended) suspend(publish, &branch);
      }
      if (ends_stretch) chip_.computing().start();
      return;
    }
    worker.counters.add(counter::inline_runs);
    log_.note(worker, step::inline_run);
  }
  if (ends_stretch) chip_.computing().start();
  left(left_argument);
  right(right_argument);
}

void task_runtime::run_branch(forked_branch& branch) noexcept {
  chip_.computing().start();
  branch.run(branch.argument);
  chip_.computing().stop();
  books_.store_result(*branch.place);
  // Its maker may go on, and its frame be gone, once `ended` is set.
  strand* waiter = branch.waiter;
  branch.ended = true;
  if (waiter != nullptr) resume(waiter);
}

// --- Running ------------------------------------------------------------------------------------

void task_runtime::run(task_worker& worker, const task_record& taken) {
  worker.memory.charge(beginning_a_task);
  worker.counters.add(counter::tasks);
  {
    const work_span span(*this, chip_, log_, policy_, worker, "task");
    if (taken.branch != nullptr) {
      taken.branch->taken = true;
      run_branch(*taken.branch);
    } else {
      chip_.computing().start();
      taken.task->run(taken.task);
      chip_.computing().stop();
    }
  }
  if (lost_in_fork()) [[unlikely]] {
    std::fputs(
        "creek: the child of a fork() in a task returned from it; end it with exec or _exit\n",
        stderr);
    std::abort();
  }
  --pending_.active;
  if (!pending_.roots.empty()) std::erase(pending_.roots, taken.task);
}

// --- Waiting ------------------------------------------------------------------------------------

void task_runtime::suspend(ext::publish_fn publish, void* argument) {
  if (lost_in_fork()) {
    throw usage_error(
        "a task waits in a child of fork() for workers that exist only in the parent; in the child "
        "make a new runtime, or end with exec or _exit");
  }
  const ext::stall_pause uncounted(*this);
  const core_operation begun(chip_);
  task_worker& worker = workers_.here();
  task_fiber& self = *worker.current;
  ext::task_scope* const scope = ext::current_scope();
  // One last look at the awaited word; it also lets cores that are behind go first.
  (void)worker.memory.load(worker.event);
  if (!publish(argument, &self)) return;
  log_.note(worker, step::suspend);
  worker.counters.add(counter::suspends);
  --pending_.active;
  ++worker.suspended;
  ++pending_.suspended;
  ext::set_foreign_scope(nullptr, nullptr);
  const energy_account account = chip_.log().switch_account({});
  chip_.log().end_span();
  stacks_.continue_on(worker, stacks_.unused(worker));
  chip_.log().begin_span("task, resumed", trace::no_argument);
  chip_.log().switch_account(account);
  --worker.suspended;
  --pending_.suspended;
  log_.note(worker, step::resume);
  restore(scope);
}

void task_runtime::resume(strand* suspended) {
  if (!workers_.are_driven_here()) {
    outside_.hand_in(suspended);
    return;
  }
  const core_operation begun(chip_);
  if (outside_.closed_by()) [[unlikely]]  // the simulation stands for ever
    return;
  auto& fiber = static_cast<task_fiber&>(*suspended);
  task_worker& target = *fiber.on;
  workers_.here().memory.signal(target.event, 1);
  ++pending_.active;
  target.ready.push_back(&fiber);
  idle_.wake(target);
}

// --- The loop -----------------------------------------------------------------------------------

/// Runs on a core's first stack.
void task_runtime::begin(task_worker& worker) {
  stacks_.begin(worker);
  worker.memory.store(worker.event, 0);
  queues_.reset(worker);
  if (worker.core.value == 0) asleep_.reset(worker);
  worker.rests = chosen_.options.idle != idle_policy::poll;
  // No worker looks at a deque that its owner has not made.
  if (++begun_ < workers_.size()) {
    worker.parked = true;
    chip_.simulation().park("the other workers, core", worker.core.index());
  } else {
    idle_.wake_all();
  }
  // Cores of a real chip do not begin in one cycle: another seed, another schedule.
  const auto choices = static_cast<std::uint64_t>(chip_.description().start_skew.count) + 1;
  const auto self = static_cast<std::uint64_t>(worker.core.value);
  worker.memory.charge(
      cycles{static_cast<std::int64_t>(drawn(chosen_.options.seed, self, 0) % choices)});
  loop(worker);
}

void task_runtime::loop(task_worker& worker) {
  for (;;) {
    intake_.look_between_tasks();
    if (pending_.finished) return;
    if (pending_.active == 0) {
      intake_.rest();
      continue;
    }
    const virtual_time began = workers_.now();
    if (work_once(worker)) continue;
    idle_.idle(worker);
    const auto idle_ns = (workers_.now() - began).femtoseconds / 1'000'000;
    worker.counters.add(counter::idle_ns, static_cast<std::uint64_t>(idle_ns));
  }
}

/// Runs one task or strand; returns false if none was found.
bool task_runtime::work_once(task_worker& worker) {
  if (worker.core.value == 0 && !pending_.messages.empty()) intake_.send_messages();
  const bool served = messages_.serve(worker);
  if (resume_one(worker)) return true;
  task_record task;
  if (worker.core.value == 0 && !pending_.arrived.empty()) {
    task.task = pending_.arrived.front();
    pending_.arrived.pop_front();
    while (!pending_.arrived.empty() && queues_.put(worker, {pending_.arrived.front(), nullptr})) {
      pending_.arrived.pop_front();
      --pending_.active;  // counted twice now
    }
  } else if (!queues_.take_own(worker, task) &&
             (worker.serves_only || policy_.too_many_awake() || !queues_.steal_one(worker, task))) {
    return served;
  }
  run(worker, task);
  return true;
}

/// Resumes a strand whose wait is over; this loop's stack is left for later.
bool task_runtime::resume_one(task_worker& worker) {
  if (worker.suspended != 0) (void)worker.memory.load(worker.event);
  if (worker.ready.empty()) return false;
  task_fiber& next = *worker.ready.front();
  worker.ready.pop_front();
  if (worker.ready.empty()) worker.memory.store(worker.event, 0);
  worker.counters.add(counter::resumes);
  worker.rest = {};
  worker.attempt = 0;
  policy_.about_to_run(worker);
  worker.idle_fibers.push_back(worker.current);
  stacks_.continue_on(worker, next);
  return true;
}

}  // namespace creek::scc_backend
