// SPDX-License-Identifier: Apache-2.0
// The host scheduler, put together from its parts. README.md of this module lists them and explains
// the wake-up protocol; tests/model has that as a Spin model.
#pragma once

#include <optional>
#include <string>

#include <creek/tasking/ext/quit_report.hpp>
#include <creek/tasking/runtime.hpp>

#include "scheduling/ready_work.hpp"
#include "workers/profiler.hpp"
#include "workers/wait_report.hpp"
#include "workers/worker_loop.hpp"
#include "workers/worker_set.hpp"

namespace creek::host_backend {

/// Implements a backend on host threads by three parts: the workers, the work that waits for one of
/// them, and the loop by which a worker runs it. A part knows those before it; all live as long as
/// the scheduler.
class scheduler final : public ext::backend, private ext::message_port {
 public:
  explicit scheduler(scheduler_options options);

  // ext::executor
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override {
    left(left_argument);  // strands of this backend own task stacks and never come here
    right(right_argument);
  }
  void submit(ext::submitted_task* task) override {
    const visit here(workers_.guests(), worker_index() < 0);
    work_.submit(*task);
  }
  void suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& why) override {
    loop_.suspend(publish, argument, why);
  }
  void resume(ext::strand* suspended) override { loop_.resume(suspended); }
  bool run_here(ext::submitted_task& task, ext::strand*& ended) override {
    return loop_.run_here(task, ended);
  }
  int worker_index() const noexcept override { return workers_.index_of_caller(); }
  bool lost_in_fork() const noexcept override { return workers_.lost_in_fork(); }

  // ext::task_stack_home
  void work_available() noexcept override { work_.waking().work_available(); }
  ext::announced_pushes announced() const noexcept override { return work_.waking().announced(); }
  bool offer(ext::task_stack& stack, ext::task_slot* slot) noexcept override {
    return work_.deques().offer(stack, slot);
  }
  bool take_back(ext::task_stack& stack, ext::task_slot* slot) noexcept override {
    return work_.deques().take_back(stack, slot);
  }
  void run_surplus(ext::task_stack& full) noexcept override { loop_.run_surplus(full); }
  bool has_messages() noexcept override;

  // ext::backend
  std::exception_ptr shut_down() noexcept override;
  counter_values counters() const override;
  std::vector<waiting_task> waiting() const override {
    return waiting_tasks(workers_, loop_.fibers());
  }
  const scheduler_options& options() const noexcept override { return workers_.options(); }
  void trace_to(const std::string& file) override {
    workers_.record_in(open_trace(file, {.process_name = "creek host"}));
  }

 private:
  // ext::message_port
  void send(unsigned to, const void* message, std::size_t bytes) override {
    (void)loop_.messages().send(to, message, bytes, false);
  }
  bool try_send(unsigned to, const void* message, std::size_t bytes) override {
    return loop_.messages().send(to, message, bytes, true);
  }
  ext::merged_post* kept_back(const ext::remote_cell* object) override {
    return loop_.messages().kept_back(worker_set::caller(), object);
  }
  bool handle_here(unsigned to, std::byte* message, std::size_t bytes) noexcept override {
    return loop_.messages().handle_here(to, message, bytes);
  }
  void prepare() override { loop_.messages().make_boxes(); }
  void drain() override { loop_.messages().drain(worker_set::caller()); }
  void yield() noexcept override;
  void spin_wait(const std::atomic<std::uintptr_t>& word) noexcept override {
    loop_.messages().spin_wait(worker_set::caller(), word);
  }

  profiler profiler_;
  worker_set workers_;
  ready_work work_;
  worker_loop loop_;
  std::optional<ext::quit_report> quit_;  ///< once the rest is there
};

}  // namespace creek::host_backend
