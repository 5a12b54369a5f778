// SPDX-License-Identifier: Apache-2.0
// Handing in, and resting: the driver sleeps until another thread of the process brings something.
#include "outside_work.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace creek::scc_backend {

using ext::remote_cell;
using namespace std::chrono_literals;

namespace {

/// Drivers that rest, of all runtimes; a thread that hands something in takes its driver off.
constinit std::atomic<unsigned> resting_drivers{0};

unsigned threads_of_process() noexcept {
  struct stat found {};
  // One entry per thread, and "." and "..".
  return stat("/proc/self/task", &found) == 0 ? static_cast<unsigned>(found.st_nlink) - 2 : ~0U;
}

/// Returns whether every thread of the process waits for a runtime, and this one for them: then no
/// thread is left that could bring what the suspended strands wait for.
bool stuck() noexcept {
  return threads_of_process() ==
         ext::blocked_threads() + resting_drivers.load(std::memory_order_relaxed);
}

}  // namespace

remote_cell* outside_message::kept_object() const noexcept {
  const ext::message_head head = ext::head_of(message->data);
  return head.is_retirement() ? nullptr : head.object;
}

void outside_work::hand_in(ext::submitted_task* task) noexcept {
  std::unique_lock lock(mutex_);
  if (closed_by_) {
    const std::exception_ptr why = closed_by_;
    lock.unlock();  // the notified thread may hand in more
    if (task->give_up != nullptr) task->give_up(task, why);
    return;
  }
  waiting_.tasks.push_back(task);
  call_driver();
}

void outside_work::hand_in(ext::strand* resumed) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_by_) return;
  waiting_.strands.push_back(resumed);
  call_driver();
}

void outside_work::hand_in(unsigned to, std::unique_ptr<ext::kept_message> message) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_by_) return;
  outside_message made{to, std::move(message)};
  if (remote_cell* object = made.kept_object()) object->add_handle();
  waiting_.messages.push_back(std::move(made));
  call_driver();
}

void outside_work::call_driver() noexcept {
  some_waits_.store(true, std::memory_order_release);
  end_rest();
  changed_.notify_all();
}

void outside_work::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  // The driver stays among the resting ones: it decides whether this changes anything.
  changed_.notify_all();
}

outside_work::batch outside_work::take() noexcept {
  const std::lock_guard lock(mutex_);
  some_waits_.store(false, std::memory_order_relaxed);
  return std::exchange(waiting_, {});
}

outside_work::outcome outside_work::rest(bool strands_wait,
                                         const std::function<std::exception_ptr()>& deadlock) {
  std::chrono::milliseconds until_next_look = 10ms;
  std::unique_lock lock(mutex_);
  outcome seen = outcome::arrived;
  while (waiting_.size() == 0) {
    if (stopping_ && !strands_wait) {
      seen = outcome::stopped;
      break;
    }
    begin_rest();
    if (!strands_wait) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, until_next_look) == std::cv_status::timeout) {
      until_next_look = std::min<std::chrono::milliseconds>(2 * until_next_look, 1s);
      if (stuck()) {
        closed_by_ = deadlock();
        seen = outcome::closed;
        break;
      }
    }
  }
  end_rest();
  return seen;
}

void outside_work::begin_rest() noexcept {
  if (!std::exchange(resting_, true)) resting_drivers.fetch_add(1, std::memory_order_relaxed);
}

void outside_work::end_rest() noexcept {
  if (std::exchange(resting_, false)) resting_drivers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace creek::scc_backend
