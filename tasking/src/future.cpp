// SPDX-License-Identifier: Apache-2.0
// Waiting for a future, and notifying its waiters.
#include <creek/tasking/detail/future_state.hpp>

#include <cstdio>
#include <future>
#include <thread>

namespace creek::detail {

namespace {

/// A suspended strand as a listener, in the frame of its wait.
struct strand_listener : ready_listener {
  future_state_base* state;
  strand* suspended = nullptr;

  explicit strand_listener(future_state_base* awaited) : state(awaited) {
    notify = [](ready_listener* self) noexcept {
      return static_cast<strand_listener*>(self)->suspended;
    };
  }
  static bool publish(void* argument, strand* self) {
    auto* listener = static_cast<strand_listener*>(argument);
    listener->suspended = self;
    return listener->state->listen(listener);
  }
};

/// Notifies the listeners of a ready state. Returns one strand for the caller to resume; others
/// have been resumed.
strand* notify_all(std::uintptr_t head) noexcept {
  strand* next = nullptr;
  for (auto* listener = reinterpret_cast<ready_listener*>(head); listener != nullptr;) {
    ready_listener* following = listener->told_after;  // a listener is gone once it was notified
    if (strand* released = listener->notify(listener)) {
      if (next != nullptr) next->home->resume(next);
      next = released;
    }
    listener = following;
  }
  return next;
}

}  // namespace

bool future_state_base::listen(ready_listener* listener) noexcept {
  std::uintptr_t head = listeners_.load(std::memory_order_acquire);
  do {
    if (head == ready_tag) {
      sanitizer::acquired(&listeners_);
      follow_others();
      return false;
    }
    listener->told_after = reinterpret_cast<ready_listener*>(head);
    sanitizer::releases(&listeners_);
  } while (!listeners_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(listener),
                                             std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

/// Takes all listeners off at once, as publish() does, and puts the others back: a list that is
/// never changed in its middle needs no lock. A thread that finds the state ready when it puts
/// listeners back notifies them.
bool future_state_base::unlisten(ready_listener* listener) noexcept {
  for (;;) {
    std::uintptr_t head = listeners_.load(std::memory_order_acquire);
    if (head == ready_tag) {
      sanitizer::acquired(&listeners_);
      return false;
    }
    if (!listeners_.compare_exchange_strong(head, 0, std::memory_order_acq_rel)) continue;
    sanitizer::acquired(&listeners_);
    auto* const first = reinterpret_cast<ready_listener*>(head);
    ready_listener* others = nullptr;
    ready_listener* last = nullptr;  // of the others
    bool found = false;
    for (ready_listener* each = first; each != nullptr;) {
      ready_listener* const following = each->told_after;
      if (each == listener) {
        found = true;
      } else {
        (last != nullptr ? last->told_after : others) = each;
        last = each;
        last->told_after = nullptr;
      }
      each = following;
    }
    if (others != nullptr) put_back(others, last);
    if (found) return true;
    // Another thread that takes its listener off has this one for a moment.
    std::this_thread::yield();
  }
}

void future_state_base::put_back(ready_listener* first, ready_listener* last) noexcept {
  std::uintptr_t head = listeners_.load(std::memory_order_acquire);
  do {
    if (head == ready_tag) {
      sanitizer::acquired(&listeners_);
      follow_others();
      last->told_after = nullptr;
      if (strand* next = notify_all(reinterpret_cast<std::uintptr_t>(first)))
        next->home->resume(next);
      return;
    }
    last->told_after = reinterpret_cast<ready_listener*>(head);
    sanitizer::releases(&listeners_);
  } while (!listeners_.compare_exchange_weak(head, reinterpret_cast<std::uintptr_t>(first),
                                             std::memory_order_acq_rel, std::memory_order_acquire));
}

void future_state_base::wait() {
  if (ready()) return;
  if (current_executor() != nullptr) {
    follow_others();  // whoever made the task that may run here
    help();
    if (ready()) return;
  }
  strand_listener listener(this);
  suspend_here(&strand_listener::publish, &listener,
               reason_to_follow("a future", wait_reason::kind::future, this));
  sanitizer::acquired(&listeners_);
}

void future_state_base::break_promise() noexcept {
  fail(std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
  drop_silently();
}

void future_state_base::report_dropped(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& dropped) {
    std::fprintf(stderr, "creek: a task's exception was dropped: %s\n", dropped.what());
  } catch (...) {
    std::fputs("creek: a task's exception was dropped: it is not a std::exception\n", stderr);
  }
}

strand* future_state_base::publish() noexcept {
  if (current_stack == nullptr) [[unlikely]] {
    if (executor* home = current_executor(); home != nullptr && home->bookkeeping() != nullptr) {
      home->bookkeeping()->about_to_publish();
    }
  }
  tell_others();
  sanitizer::releases(&listeners_);
  const std::uintptr_t head = listeners_.exchange(ready_tag, std::memory_order_acq_rel);
  sanitizer::acquired(&listeners_);
  follow_others();  // those that listen
  return notify_all(head);
}

}  // namespace creek::detail
