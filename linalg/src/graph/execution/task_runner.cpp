// SPDX-License-Identifier: Apache-2.0
#include "task_runner.hpp"

#include <utility>

#include <creek/tasking.hpp>

namespace creek::linalg::detail {

inline std::exception_ptr task_runner::call(graph_task& task, bool runs) const noexcept {
  struct attempt {
    graph_task& task;
    bool runs;
    std::exception_ptr failure;
  } made{task, runs, nullptr};
  const auto body = [](void* argument) noexcept {
    auto& [self, run, failure] = *static_cast<attempt*>(argument);
    try {
      self.call(self.body.data(), run);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  if (runs && as_tasks_) {
    std::exception_ptr of_children = creek::ext::run_branch_as_task(body, &made);
    if (made.failure == nullptr) made.failure = std::move(of_children);
  } else {
    body(&made);
  }
  return std::move(made.failure);
}

inline void task_runner::note_outcome(graph_task& task, bool runs,
                                      std::exception_ptr why) const noexcept {
  if (!runs) failure_.skip();
  if (!runs || why != nullptr) task.failed = true;
  if (why != nullptr) failure_.fail(std::move(why));
}

void task_runner::run(graph_task& task) const noexcept {
  const bool runs = !task.poisoned.load(std::memory_order_relaxed) && !failure_.is_cancelled();
  if (runs) power_.announce(task, this);
  if (task.run != nullptr) task.run->start = reports_.time();
  if (runs) reports_.begins(task);
  note_outcome(task, runs, call(task, runs));
  if (runs) reports_.ended(task);
  if (task.run != nullptr) {
    task.run->end = reports_.time();
    task.run->skipped = !runs;
  }
}

}  // namespace creek::linalg::detail
