// SPDX-License-Identifier: Apache-2.0
// Messages to workers: sending, waking a sleeping receiver, handling. README.md of this module
// explains how strands that handle a message stay on their worker.
#include <chrono>
#include <mutex>

#include <creek/core/asymmetric_fence.hpp>
#include <creek/core/sanitizer.hpp>
#include <creek/tasking/detail/remote_cell.hpp>

#include "messages.hpp"
#include "scheduler.hpp"

namespace creek::host_backend {

using namespace std::chrono_literals;
using detail::kept_message;

namespace {

/// About twice the round trip to a worker that is awake.
constexpr auto worth_spinning = 2us;

}  // namespace

mailboxes& scheduler::open_mail() {
  const std::lock_guard lock(fibers_mutex_);
  if (!mail_owner_) {
    mail_owner_ = std::make_unique<mailboxes>(static_cast<unsigned>(workers_.size()));
    sanitizer::releases(&mail_);
    mail_.store(mail_owner_.get(), std::memory_order_release);
  }
  return *mail_owner_;
}

/// Returns the mailboxes, or nullptr before the first message.
mailboxes* scheduler::opened_mail() const noexcept {
  mailboxes* const mail = mail_.load(std::memory_order_acquire);
  if (mail != nullptr) sanitizer::acquired(&mail_);
  return mail;
}

void scheduler::send(unsigned to, const void* message, std::size_t bytes) {
  const int index = worker_index();
  const auto receiver = static_cast<int>(to);
  const visit here(visitors_, index < 0);
  mailboxes* const open = opened_mail();
  mailboxes& mail = open != nullptr ? *open : open_mail();
  // Not by suspending: the end that is used has a place in the receiver's ring, and keeps it. The
  // caller may be a worker of this or of another runtime, whose own ring another thread waits for.
  const auto until = [](auto done) {
    spin_briefly([&] {
      if (done()) return true;
      if (detail::executor* own = detail::current_executor()) own->messages().drain();
      return false;
    });
  };
  auto& end = index < 0 ? mail.ends.back() : mail.ends[static_cast<unsigned>(index)];
  if (index < 0) until([&] { return mail.outside.try_lock(); });
  until([&] { return end.try_send(receiver, message, bytes); });
  if (index < 0) mail.outside.unlock();
  if (index == receiver || !call(*workers_[to]) || index < 0) return;
  workers_[static_cast<unsigned>(index)]->woke = true;
}

void scheduler::prepare() {
  if (opened_mail() == nullptr) open_mail();
}

void scheduler::drain() {
  mailboxes* mail = opened_mail();
  if (mail == nullptr) return;
  worker& self = *fiber_of(detail::current_stack)->on;
  mail->ends[self.index].poll(
      [&](int, const std::byte* data, std::size_t size) { self.kept.push(data, size); });
}

/// Lets the worker handle the messages that have piled up, if a strand sends without waiting.
void scheduler::yield() noexcept {
  worker& self = *fiber_of(detail::current_stack)->on;
  if (self.kept.size() < mailbox::slots) return;
  const auto at_once = [](void*, detail::strand* left) {
    left->home->resume(left);
    return true;
  };
  suspend(at_once, nullptr);
}

/// Called after something was left for `target` alone: wakes it if it sleeps. Returns true if it
/// slept.
bool scheduler::call(worker& target) noexcept {
  light_fence();
  if (!target.asleep.load(std::memory_order_relaxed)) return false;
  if (target.serves_only) {
    ring(target);
  } else {
    idle_.call(target.index);
  }
  return true;
}

bool scheduler::has_letters(worker& self) noexcept {
  mailboxes* mail = opened_mail();
  return mail != nullptr &&
         (!self.bound.empty() || !self.kept.empty() || mail->ends[self.index].has_message());
}

/// Pauses between two searches, which look at what others write: looking for a message costs less.
/// Returns true if there is one.
bool scheduler::pause_for_letters(worker& self) noexcept {
  const int looks = mail_.load(std::memory_order_relaxed) == nullptr ? 1 : 4;
  for (int i = 0; i < looks; ++i) {
    cpu_pause();
    if (has_letters(self)) return true;
  }
  return false;
}

/// Handles the messages that have arrived; returns false if there were none. Called on the bottom
/// of a fiber, except where there is no memory for another.
bool scheduler::serve(fiber& self) noexcept {
  mailboxes* mail = opened_mail();
  if (mail == nullptr) return false;
  worker& here = *self.on;
  auto& end = mail->ends[here.index];
  if (here.kept.empty() && !end.has_message()) return false;
  const bool was_bound = std::exchange(self.bound, true);
  tell_of_task(here, "messages");
  trace::begin(here.track.load(std::memory_order_acquire), "messages");
  // Leaves out messages that come meanwhile: endless senders must not keep this worker from others.
  for (std::size_t left = here.kept.size(); left > 0; --left) {
    kept_message* const first = here.kept.pop();
    if (first == nullptr) break;  // a handler has waited, and the worker has handled the rest
    here.counters.add(counter::messages);
    detail::arrive(*this, first->data, first->bytes);
    here.kept.recycle(first);
  }
  end.poll([&](int, std::byte* data, std::size_t bytes) {
    if (!here.kept.empty()) {  // older ones first
      here.kept.push(data, bytes);
      return;
    }
    here.counters.add(counter::messages);
    detail::arrive(*this, data, bytes);
  });
  trace::end(here.track.load(std::memory_order_acquire));
  self.bound = was_bound;
  return true;
}

/// Makes a fiber ready that stays on its worker.
void scheduler::make_bound_ready(fiber& target) noexcept {
  worker& home = *target.on;
  home.bound.push(target);
  call(home);
}

/// Returns whether a message is under way to a worker that sleeps.
bool scheduler::any_letters(const worker& self) noexcept {
  mailboxes* mail = opened_mail();
  if (mail == nullptr) return false;
  for (const auto& each : workers_) {
    if (!each->bound.empty()) return true;
    if (mail->ends[self.index].has_message_for(static_cast<int>(each->index))) return true;
  }
  return false;
}

void scheduler::spin_wait(const std::atomic<std::uintptr_t>& word) noexcept {
  if (oversubscribed_) return;
  worker& self = *fiber_of(detail::current_stack)->on;
  // The kernel may have put the woken thread behind this one on its processor.
  if (std::exchange(self.woke, false)) std::this_thread::yield();
  (void)spin_until([&] { return word.load(std::memory_order_acquire) != 0 || has_letters(self); },
                   worth_spinning);
}

}  // namespace creek::host_backend
