// SPDX-License-Identifier: Apache-2.0
// The host scheduler: workers, fibers, stealing, sleeping. README.md of this module explains the
// wake-up protocol; tests/model has it as a Spin model.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <creek/tasking/runtime.hpp>

#include "idle_state.hpp"
#include "worker.hpp"

namespace creek::host_backend {

class shared_queue;
struct mailboxes;

class scheduler final : public detail::backend, private detail::message_port {
 public:
  explicit scheduler(scheduler_options options);
  ~scheduler() override;

  // detail::executor
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override;
  void submit(detail::submitted_task* task) override;
  void suspend(detail::publish_fn publish, void* argument) override;
  void resume(detail::strand* suspended) override;
  int worker_index() const noexcept override;
  bool lost_in_fork() const noexcept override;

  // detail::task_stack_home
  void work_available() noexcept override;
  bool keep_armed() const noexcept override { return idle_.maybe_sleepers(); }
  bool offer(detail::task_stack& stack, detail::task_slot* slot) noexcept override;
  bool take_back(detail::task_stack& stack, detail::task_slot* slot) noexcept override;

  // detail::backend
  std::exception_ptr shut_down() noexcept override;
  counter_values counters() const override;
  const scheduler_options& options() const noexcept override { return options_; }
  void trace_to(const std::string& file) override;

 private:
  /// Result of a search; at most one member is set.
  struct found_work {
    detail::task_slot* slot = nullptr;
    fiber* resumed = nullptr;
    detail::submitted_task* task = nullptr;
    bool letters = false;
    explicit operator bool() const noexcept { return slot || resumed || task || letters; }
  };

  // scheduler.cpp: threads, fibers, the loop
  void begin_policy();
  void end_policy() noexcept;
  void start_workers(const std::vector<int>& pus);
  void run_worker(worker& self);
  static void fiber_main(switch_context& context, switch_context& left);
  void loop(fiber& self);
  void execute(fiber& self, found_work work);
  found_work find_work(worker& self);
  void tell_of_task(const worker& self, const char* name = nullptr) noexcept;
  detail::strand* run_task(fiber& self, found_work work) noexcept;
  void switch_to(worker& here, fiber& target, departure after) noexcept;
  fiber* leave(worker& here, fiber& target, departure after) noexcept;
  bool arrived(fiber& self, fiber* previous) noexcept;
  void leave_for(fiber& self, fiber& target) noexcept;
  void leave_waiting(fiber& self, fiber& next, detail::publish_fn publish, void* argument) noexcept;
  void offer_all(detail::task_stack& stack) noexcept;
  fiber* idle_fiber(worker& here) noexcept;
  void recycle(worker& here, fiber& unused) noexcept;
  fiber* make_fiber() noexcept;
  void park(fiber& suspended) noexcept;
  void unpark(fiber& resumed) noexcept;

  // in_place.cpp: waiting when there is no memory for another stack
  void wait_in_place(fiber& self, detail::publish_fn publish, void* argument) noexcept;
  bool make_progress(fiber& self, in_place_wait& wait, detail::task_slot* bottom) noexcept;
  static fiber* off_stack(host_strand* suspended) noexcept;

  // detail::message_port, in messages.cpp
  void send(unsigned to, const void* message, std::size_t bytes) override;
  void prepare() override;
  void drain() override;
  void yield() noexcept override;
  void spin_wait(const std::atomic<std::uintptr_t>& word) noexcept override;
  mailboxes& open_mail();
  mailboxes* opened_mail() const noexcept;
  bool call(worker& target) noexcept;
  bool has_letters(worker& self) noexcept;
  bool pause_for_letters(worker& self) noexcept;
  bool any_letters(const worker& self) noexcept;
  bool serve(fiber& self) noexcept;
  void make_bound_ready(fiber& target) noexcept;

  // start.cpp: fork()
  void require_workers() const;
  [[noreturn]] static void end_forked_child() noexcept;

  // search.cpp: finding work
  found_work search(worker& self, bool ask) noexcept;
  found_work own_work(worker& self) noexcept;
  found_work taken_back(worker& self) noexcept;
  found_work for_itself_alone(worker& self) noexcept;
  found_work from_victim(worker& self, unsigned victim, bool ask) noexcept;
  found_work from_parked(worker& self) noexcept;
  detail::task_slot* steal_from(detail::task_stack& stack) noexcept;
  unsigned next_victim(worker& self, unsigned attempt) noexcept;
  bool strand_has_work(const detail::task_stack& stack) const noexcept;
  bool any_work() noexcept;
  bool force_victims(worker& self) noexcept;

  // idle.cpp: what a worker without work does
  found_work idle(worker& self);
  found_work sleep(worker& self);
  found_work nap(worker& self);
  found_work rest(worker& self);
  found_work sleep_begun(worker& self, bool rests);
  idle_plan plan_wait(const worker& self) noexcept;
  std::uint32_t least_asleep(int by) noexcept;
  bool too_many_awake() const noexcept;
  void yield_now_and_then(ticks waited, ticks& yield_at) const noexcept;
  void try_finish(worker& self) noexcept;
  void finish() noexcept;
  void found_while_searching() noexcept;
  void arm_all() noexcept;
  bool all_armed() const noexcept;
  detail::submitted_task* pop_inbox() noexcept;

  // service_worker.cpp: workers that take no tasks
  found_work await_calls(worker& self);
  void sleep_until_called(worker& self) noexcept;
  static void ring(worker& target) noexcept;
  bool service_workers_sleep() const noexcept;

  scheduler_options options_;
  std::unique_ptr<clock_control> no_clocks_;  ///< for a policy without scheduler_options::clocks
  bool external_;                             ///< deques other than the split one
  bool oversubscribed_;                       ///< more workers than CPUs that this process may use
  bool lost_ = false;
  std::vector<std::unique_ptr<worker>> workers_;
  std::unique_ptr<shared_queue> shared_;  ///< work sharing only
  unsigned takers_ = 0;                   ///< workers that take tasks
  unsigned fork_generation_;

  mutable std::mutex fibers_mutex_;
  std::vector<fiber_ptr> fibers_;  ///< all that were ever mapped: thieves may look at any of them
  fiber_queue spare_fibers_;       ///< idle fibers that a worker had too many of

  alignas(64) idle_state idle_;

  alignas(64) spin_lock inbox_lock_;
  detail::submitted_task* inbox_head_ = nullptr;
  detail::submitted_task* inbox_tail_ = nullptr;
  std::atomic<std::uint32_t> inbox_count_{0};

  alignas(64) spin_lock parked_lock_;
  std::vector<fiber*> parked_;
  std::atomic<std::uint32_t> parked_count_{0};

  std::unique_ptr<mailboxes> mail_owner_;
  std::atomic<mailboxes*> mail_{nullptr};  ///< null until the first message

  std::atomic<std::int64_t> suspended_{0};
  std::atomic<std::uint64_t> sleeps_ended_{0};  ///< raised before the awaited work is touched
  std::atomic<std::uint32_t> visitors_{0};      ///< foreign threads inside resume() or submit()
  std::atomic<bool> stopping_{false};
  std::atomic<bool> finished_{false};
};

}  // namespace creek::host_backend
