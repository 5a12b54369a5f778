// SPDX-License-Identifier: Apache-2.0
#include "strands.hpp"

#include <creek/core/error.hpp>
#include <creek/tasking/ext/stall_watch.hpp>
#include <creek/tasking/ext/task_context.hpp>

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
