// SPDX-License-Identifier: Apache-2.0
#include "strands.hpp"

#include <creek/core/error.hpp>
#include <creek/tasking/ext/stall_watch.hpp>
#include <creek/tasking/ext/task_context.hpp>

#include "simulation/time_limits.hpp"

namespace creek::scc_backend {

strands::strands(ext::executor& home, const worker_set& workers, schedule_log& log,
                 pending_work& pending, outside_work& outside, idle_workers& idle,
                 std::size_t stack_size, worker_stacks::loop_function loop)
    : home_(home),
      workers_(workers),
      log_(log),
      pending_(pending),
      outside_(outside),
      idle_(idle),
      stacks_(home, workers, stack_size, loop) {
  workers.chip().simulation().fibers().keep_thread_state(this);
}

void* strands::save() noexcept {
  return ext::current_executor() == &home_ ? ext::current_scope() : nullptr;
}

void strands::restore(void* saved) noexcept {
  enter(static_cast<ext::task_scope*>(saved));
}

void strands::suspend(ext::publish_fn publish, void* argument) {
  if (lost_in_fork()) {
    throw usage_error(
        "a task waits in a child of fork() for workers that exist only in the parent; in the child "
        "make a new runtime, or end with exec or _exit");
  }
  const ext::stall_pause uncounted(home_);
  const core_operation begun(workers_.chip());
  task_worker& worker = workers_.here();
  ext::task_scope* const scope = ext::current_scope();
  // One last look at the awaited word; it also lets cores that are behind go first.
  (void)worker.memory.load(worker.event);
  if (!publish(argument, worker.current)) return;
  log_.note(worker, step::suspend);
  worker.counters.add(counter::suspends);
  --pending_.active;
  ++worker.suspended;
  ++pending_.suspended;
  enter(nullptr);
  leave_stack(worker);
  --worker.suspended;
  --pending_.suspended;
  log_.note(worker, step::resume);
  enter(scope);
}

/// Until its deadline the strand counts as active: the simulation goes on, and its time with it.
void strands::suspend_until(ext::publish_fn publish, void* argument, ext::wait_limit& limit) {
  constexpr std::int64_t fs_per_ns = 1'000'000;
  const virtual_time now = workers_.now_after_stretch();
  if (limit.span.count() > (time_limits::latest - now).femtoseconds / fs_per_ns)
    return suspend(publish, argument);
  struct listed_deadline : strand_deadline {
    listed_deadline(ext::wait_limit& of, pending_work& work, task_worker& on, virtual_time at)
        : strand_deadline{of}, pending(work), worker(on), place(on.deadlines.emplace(at, this)) {
      ++pending.active;
    }
    ~listed_deadline() {
      if (is_over) return;
      worker.deadlines.erase(place);
      --pending.active;
    }
    listed_deadline(const listed_deadline&) = delete;
    listed_deadline& operator=(const listed_deadline&) = delete;
    pending_work& pending;
    task_worker& worker;
    decltype(worker.deadlines)::iterator place;
  };
  const listed_deadline listed(limit, pending_, workers_.here(),
                               now + virtual_time{limit.span.count() * fs_per_ns});
  suspend(publish, argument);
}

void strands::end_waits(task_worker& worker) {
  while (worker.is_any_wait_over(workers_.now())) {
    // Cores that are behind go first: one of them may bring what the strand waits for.
    (void)worker.memory.load(worker.event);
    const auto first = worker.deadlines.begin();
    strand_deadline& over = *first->second;
    worker.deadlines.erase(first);
    over.is_over = true;
    if (ext::strand* expired = over.limit.expire(&over.limit)) resume(expired);
    --pending_.active;
  }
}

/// Continues on another stack of the worker; returns when this one is continued.
void strands::leave_stack(task_worker& worker) {
  activity_log& log = workers_.chip().log();
  const energy_account account = log.switch_account({});
  log.end_span();
  stacks_.continue_on(worker, stacks_.unused(worker));
  log.begin_span("task, resumed", trace::no_argument);
  log.switch_account(account);
}

void strands::resume(ext::strand* suspended) {
  if (!workers_.are_driven_here()) {
    outside_.hand_in(suspended);
    return;
  }
  const core_operation begun(workers_.chip());
  if (outside_.closed_by()) [[unlikely]]  // the simulation stands for ever
    return;
  auto& fiber = static_cast<task_fiber&>(*suspended);
  task_worker& target = *fiber.on;
  workers_.here().memory.signal(target.event, 1);
  ++pending_.active;
  target.ready.push_back(&fiber);
  idle_.wake(target);
}

bool strands::resume_one(task_worker& worker) {
  if (worker.suspended != 0) (void)worker.memory.load(worker.event);
  if (worker.ready.empty()) return false;
  task_fiber& next = *worker.ready.front();
  worker.ready.pop_front();
  if (worker.ready.empty()) worker.memory.store(worker.event, 0);
  worker.counters.add(counter::resumes);
  worker.rest = {};
  worker.attempt = 0;
  idle_.policy().about_to_run(worker);
  worker.idle_fibers.push_back(worker.current);
  stacks_.continue_on(worker, next);
  return true;
}

}  // namespace creek::scc_backend
