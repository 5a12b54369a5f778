// SPDX-License-Identifier: Apache-2.0
// A runtime on oneTBB: one arena, one task group that holds all submitted tasks. README.md of this
// folder explains why a task found on top of a waiting one is passed on.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <creek/core/measuring/trace.hpp>
#include <creek/core/threads/visitors.hpp>
#include <creek/tasking/runtime.hpp>

#include "forked_branch.hpp"
#include "thread_share.hpp"

namespace creek::onetbb {

class arena_executor final : public ext::backend_without_task_stacks, private ext::message_port {
 public:
  explicit arena_executor(scheduler_options options);
  ~arena_executor() noexcept override {}

  // ext::executor
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override;
  void submit(ext::submitted_task* task) override;
  void suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& why) override;
  void resume(ext::strand* suspended) override;
  int worker_index() const noexcept override;
  bool lost_in_fork() const noexcept override;

  // ext::backend
  std::exception_ptr shut_down() noexcept override;
  counter_values counters() const override;
  const scheduler_options& options() const noexcept override { return options_; }
  void trace_to(const std::string& file) override;

 private:
  // ext::message_port
  void send(unsigned to, const void* message, std::size_t bytes) override;

  /// Records of one arena slot; written by the thread that holds it.
  struct alignas(64) worker {
    std::atomic<std::uint64_t> tasks{0}, steals_won{0}, suspensions{0};
    std::atomic<trace::track*> track{nullptr};
  };
  enum class found : std::uint8_t { in_deque, in_queue };

  worker& here() noexcept { return workers_[static_cast<unsigned>(slot_index())]; }
  int slot_index() const noexcept;

  void enqueue(ext::submitted_task* task);
  void run_submitted(ext::submitted_task* task, found where) noexcept;
  void run_forked(forked_branch& branch) noexcept;
  void run_claimed(forked_branch& branch, found where) noexcept;
  void pass_on(forked_branch& branch);
  void run_passed_on() noexcept;
  void take_off_list(forked_branch& branch) noexcept;
  void unlink(forked_branch& branch) noexcept;

  scheduler_options options_;
  std::vector<worker> workers_;
  thread_share threads_;
  tbb::task_arena arena_;
  tbb::task_group group_;  ///< every submitted task, for shut_down()
  visitors guests_;        ///< threads outside that submit

  std::mutex passed_on_mutex_;
  forked_branch* passed_on_ = nullptr;
};

}  // namespace creek::onetbb
