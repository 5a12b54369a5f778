// SPDX-License-Identifier: Apache-2.0
// Stacks on which workers run their loops and tasks.
#pragma once

#include <cstddef>

#include "tasks/worker_set.hpp"

namespace creek::scc_backend {

/// Each stack has the worker's loop at its bottom. A waiting stack is left, and the loop goes on on
/// another; the loop's stack is unused again when it resumes a waiting one.
class worker_stacks {
 public:
  /// Runs the worker's loop; returns when the runtime has ended.
  using loop_function = void (*)(ext::executor& home, task_worker& worker);

  worker_stacks(ext::executor& home, const worker_set& workers, std::size_t stack_size,
                loop_function loop) noexcept
      : home_(home),
        workers_(workers),
        stack_size_((stack_size + 4095) / 4096 * 4096),
        loop_(loop) {}

  /// Makes the engine's stack of the running core the worker's first.
  void begin(task_worker& worker) const;
  /// Returns a stack of the worker whose loop may be continued, or a new one.
  task_fiber& unused(task_worker& worker) const;
  /// Leaves the worker's stack and goes on with another.
  void continue_on(task_worker& worker, task_fiber& next) const;

 private:
  static void run(switch_context& context, switch_context& left);
  [[noreturn]] void end(task_worker& worker) const;

  ext::executor& home_;
  const worker_set& workers_;
  std::size_t stack_size_;
  loop_function loop_;
};

}  // namespace creek::scc_backend
