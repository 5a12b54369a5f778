// SPDX-License-Identifier: Apache-2.0
// Threads outside the simulation: tasks and messages that they hand in, and the driver's rest.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <creek/core/error.hpp>

#include "task_runtime.hpp"

namespace creek::scc_backend {

using detail::remote_cell;

namespace {

/// Drivers that rest, of all runtimes; a thread that hands something in takes its driver off.
constinit std::atomic<unsigned> resting_drivers{0};

unsigned threads_of_process() noexcept {
  struct stat found {};
  // One entry per thread, and "." and "..".
  return stat("/proc/self/task", &found) == 0 ? static_cast<unsigned>(found.st_nlink) - 2 : ~0U;
}

/// Returns the object that a letter is for, unless the letter is its last.
remote_cell* kept_object(const detail::kept_message& letter) noexcept {
  const detail::message_head head = detail::head_of(letter.data);
  return remote_cell::is_retirement(head) ? nullptr : head.object;
}

}  // namespace

/// Takes a task or a strand of any thread. The driver looks when it comes to it: look_outside().
void task_runtime::hand_in(detail::submitted_task* task, detail::strand* strand) noexcept {
  std::unique_lock lock(outside_mutex_);
  if (at_end_) {
    const std::exception_ptr why = at_end_;
    lock.unlock();  // the notified thread may hand in more
    if (task != nullptr && task->give_up != nullptr) task->give_up(task, why);
    return;
  }
  if (task != nullptr) submitted_.push_back(task);
  if (strand != nullptr) resumed_.push_back(strand);
  something_outside_.store(true, std::memory_order_release);
  if (resting_) resting_drivers.fetch_sub(1, std::memory_order_relaxed);
  resting_ = false;
  outside_changed_.notify_all();
}

/// Takes a message of another thread.
void task_runtime::hand_in_letter(unsigned to, detail::kept_message* letter) noexcept {
  const std::lock_guard lock(outside_mutex_);
  std::unique_ptr<detail::kept_message> owned(letter);
  if (at_end_) return;
  // The letter keeps the object while it waits, or a later message could overtake it.
  if (remote_cell* object = kept_object(*letter)) object->add_handle();
  handed_letters_.push_back({to, std::move(owned)});
  something_outside_.store(true, std::memory_order_release);
  if (resting_) resting_drivers.fetch_sub(1, std::memory_order_relaxed);
  resting_ = false;
  outside_changed_.notify_all();
}

/// Called by the first core, in its loop.
void task_runtime::send_letters() {
  while (!letters_.empty()) {
    const outside_letter first = std::move(letters_.front());
    letters_.pop_front();
    send(first.to, first.message->data, first.message->bytes);
    if (remote_cell* object = kept_object(*first.message)) object->drop_handle();
    --active_;  // as it is counted on its way now
  }
}

/// Looks for tasks from outside. While none runs, the driver looks only when it rests: so a thread
/// that calls run() again and again finds the simulation in the same state, however fast it is.
void task_runtime::look_outside() {
  std::vector<task_worker*> woken;  // used without the lock: waking takes time, others go on
  take_in_outside(woken);
  for (task_worker* each : woken) wake(*each);
}

void task_runtime::take_in_outside(std::vector<task_worker*>& woken) {
  const std::lock_guard lock(outside_mutex_);
  something_outside_.store(false, std::memory_order_relaxed);
  active_ += submitted_.size() + resumed_.size() + handed_letters_.size();
  for (outside_letter& each : handed_letters_) letters_.push_back(std::move(each));
  for (detail::strand* each : resumed_) {
    auto& fiber = static_cast<task_fiber&>(*each);
    fiber.on->ready.push_back(&fiber);
    woken.push_back(fiber.on);
  }
  roots_.insert(roots_.end(), submitted_.begin(), submitted_.end());
  arrived_.insert(arrived_.end(), submitted_.begin(), submitted_.end());
  if (!submitted_.empty() || !handed_letters_.empty()) woken.push_back(workers_.front().get());
  submitted_.clear();
  handed_letters_.clear();
  resumed_.clear();
}

/// Called when nothing is left to do: the whole simulation stands still, its time too, and its
/// thread sleeps until something comes from outside.
void task_runtime::rest() {
  using namespace std::chrono_literals;
  auto until_next_look = 10ms;
  bool ends = false;
  {
    std::unique_lock lock(outside_mutex_);
    while (submitted_.empty() && resumed_.empty() && handed_letters_.empty()) {
      if (stopping_ && suspended_ == 0) {
        ends = true;
        break;
      }
      if (!resting_) resting_drivers.fetch_add(1, std::memory_order_relaxed);
      resting_ = true;
      if (suspended_ == 0) {
        outside_changed_.wait(lock);
      } else if (outside_changed_.wait_for(lock, until_next_look) == std::cv_status::timeout) {
        until_next_look = std::min<std::chrono::milliseconds>(2 * until_next_look, 1s);
        if (stuck()) {
          at_end_ = deadlock();
          resting_drivers.fetch_sub(1, std::memory_order_relaxed);
          resting_ = false;
          lock.unlock();
          give_up();
          chip_.simulation().leave_unfinished();
        }
      }
    }
    if (resting_) resting_drivers.fetch_sub(1, std::memory_order_relaxed);
    resting_ = false;
  }
  if (!ends) {
    look_outside();
    return;
  }
  ++active_;  // sending lets others run, who must not rest
  const bool any = objects().end_all();
  --active_;
  if (any) return;
  objects().let_go();
  finished_ = true;
  wake_all();
}

/// Returns whether every thread of the process waits for a runtime, and this one for them: then no
/// thread is left that could bring what the suspended strands wait for.
bool task_runtime::stuck() const noexcept {
  return threads_of_process() ==
         detail::blocked_threads() + resting_drivers.load(std::memory_order_relaxed);
}

std::exception_ptr task_runtime::deadlock() {
  std::string report = "simulated chip: deadlock: tasks wait, and nothing is left that could run";
  for (const auto& each : workers_) {
    if (each->suspended == 0) continue;
    report += "\n  core " + std::to_string(each->core.value) + ": " +
              std::to_string(each->suspended) + " suspended, clock at " +
              std::to_string(chip_.simulation().ended_at(each->core).femtoseconds / 1'000'000) +
              " ns";
  }
  return std::make_exception_ptr(error(std::error_code(EDEADLK, std::generic_category()), report));
}

/// Notifies the waiters; their strands here never go on. Called unlocked, and with at_end_ set: a
/// notified waiter may resume strands and submit continuations, and then submit() adds to roots_.
void task_runtime::give_up() noexcept {
  objects().forsake();
  while (!roots_.empty()) {
    detail::submitted_task* const each = roots_.back();
    roots_.pop_back();
    if (each->give_up != nullptr) each->give_up(each, at_end_);
  }
}

std::exception_ptr task_runtime::shut_down() noexcept {
  const detail::blocked_thread_mark waits;
  {
    const std::lock_guard lock(outside_mutex_);
    stopping_ = true;
    // They stay among the resting ones: the driver decides whether this changes anything.
    outside_changed_.notify_all();
  }
  if (driver_.joinable()) driver_.join();
  end_policy();
  const std::exception_ptr untraced = write_trace();
  return unwritten_ ? unwritten_ : untraced;
}

}  // namespace creek::scc_backend
