// SPDX-License-Identifier: Apache-2.0
#include "spawner.hpp"

#include <optional>

namespace creek::scc_backend {

void spawner::submit(ext::submitted_task* task) {
  if (!workers_.are_driven_here()) {
    outside_.hand_in(task);
    return;
  }
  const core_operation begun(workers_.chip());
  if (outside_.closed_by()) [[unlikely]] {
    pending_.roots.push_back(task);  // the driver gives up, and this is the next to be notified
    return;
  }
  task_worker& worker = workers_.here();
  if (!queues_.put(worker, {task, nullptr})) run_at_once(worker, task);
}

void spawner::run_at_once(task_worker& worker, ext::submitted_task* task) {
  compute_time& computing = workers_.chip().computing();
  ext::task_scope* const maker = ext::current_scope();
  ext::task_scope own;
  strands_.enter(&own);
  note_inline_run(worker);
  computing.start();
  task->run(task);
  computing.stop();
  strands_.enter(maker);
}

void spawner::note_inline_run(task_worker& worker) {
  worker.counters.add(counter::inline_runs);
  log_.note(worker, step::inline_run);
}

/// Recursion goes through this frame, so it is kept small: no core_operation, no closures.
void spawner::fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
                   void* right_argument) {
  compute_time& computing = workers_.chip().computing();
  const bool ends_stretch = computing.stop();
  task_worker& worker = workers_.here();
  const std::optional<pool_lines> place = books_.reserve_flagged_result(worker);
  forked_branch branch{right, right_argument};
  if (place) {
    branch.place = &*place;
    if (queues_.put(worker, {nullptr, &branch})) {
      computing.start();
      left(left_argument);
      computing.stop();
      if (queues_.retake(worker, branch)) {
        computing.start();
        right(right_argument);
        computing.stop();
      } else {
        books_.read_flag(*place);
        const auto publish = [](void* waited, ext::strand* self) {
          auto& stolen = *static_cast<forked_branch*>(waited);
          stolen.waiter = self;
          return !stolen.ended;
        };
        if (!branch.ended) strands_.suspend(publish, &branch);
      }
      if (ends_stretch) computing.start();
      return;
    }
    note_inline_run(worker);
  }
  if (ends_stretch) computing.start();
  left(left_argument);
  right(right_argument);
}

void spawner::run(forked_branch& branch) noexcept {
  compute_time& computing = workers_.chip().computing();
  branch.taken = true;
  computing.start();
  branch.run(branch.argument);
  computing.stop();
  books_.store_result(*branch.place);
  // Its maker may go on, and its frame be gone, once `ended` is set.
  ext::strand* waiter = branch.waiter;
  branch.ended = true;
  if (waiter != nullptr) strands_.resume(waiter);
}

}  // namespace creek::scc_backend
