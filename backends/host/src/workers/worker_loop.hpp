// SPDX-License-Identifier: Apache-2.0
// The life of a worker: it runs fibers, each of which runs what a search finds.
#pragma once

#include <cstdint>
#include <mutex>

#include <creek/tasking/runtime.hpp>

#include "fibers/in_place.hpp"
#include "idle/idle_loop.hpp"
#include "workers/worker_lender.hpp"

namespace creek::host_backend {

/// Runs strands on fibers. Every fiber runs the same loop at its bottom: messages first, then tasks
/// that ended tasks left on its stack, then what a search finds. A strand that waits leaves its
/// fiber, and the worker continues the loop on another one, so no unrelated task runs on a waiting
/// stack unless there is no memory for another stack.
class worker_loop {
 public:
  /// Throws creek::error if there is no memory for a stack per worker.
  worker_loop(ext::backend& home, worker_set& workers, ready_work& work);

  /// Starts the threads. Throws creek::error if the system refuses one.
  void start();
  /// Finishes all work that was started, then ends the threads.
  void shut_down() noexcept;

  /// executor::suspend()
  void suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& why);
  /// executor::resume()
  void resume(ext::strand* suspended);
  /// task_stack_home::run_surplus()
  void run_surplus(ext::task_stack& full) noexcept;
  /// executor::run_here()
  bool run_here(ext::submitted_task& task, ext::strand*& ended) {
    return lender_.run_here(task, ended);
  }
  message_service& messages() noexcept { return messages_; }
  const fiber_pool& fibers() const noexcept { return switch_.fibers(); }

 private:
  bool is_at_rest() noexcept;
  static void run_worker(worker& self);
  static void fiber_main(switch_context& context, switch_context& left);
  void run(fiber& self);
  bool run_newest(fiber& self, ext::task_stack& from, ext::task_slot* bottom) noexcept;
  void go_on_beside_messages(fiber& self);
  found_work out_of_order(worker& here) noexcept;
  void run_tasks_of(fiber& maker, fiber& self);
  bool visit_goes_on(fiber& self, loan& borrowed);
  fiber* resumed_here(const fiber& self) noexcept;
  void execute(fiber& self, found_work work);
  void continue_released(fiber& self, ext::strand* released);

  ext::backend& home_;
  worker_set& workers_;
  ready_work& work_;
  message_service messages_;
  work_search search_;
  shutdown shutdown_;
  fiber_switch switch_;
  hang_watch hangs_;
  idle_loop idle_;
  task_runner runner_;
  in_place_waiter in_place_;
  worker_lender lender_;
};

}  // namespace creek::host_backend
