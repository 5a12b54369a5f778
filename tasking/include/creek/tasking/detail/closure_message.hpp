// SPDX-License-Identifier: Apache-2.0
// How an invocation travels to an object's worker: as an active message of 24 bytes and its
// arguments, or, where these are too long or cannot be copied byte by byte, as a pointer to them.
// Source: TACO [Rotta 2012].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/core/messages/active_message.hpp>
#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/ext/remote_cell.hpp>
#include <creek/tasking/ext/stall_watch.hpp>

namespace creek::detail {

// --- Outcomes -----------------------------------------------------------------------------------

/// Reply to a call whose caller waits; lies in the caller's frame.
template <class R>
class alignas(64) awaited_reply : public reply {
 public:
  static constexpr std::size_t result_bytes = std::is_void_v<R> ? 0 : sizeof(stored_t<R>);

  awaited_reply() noexcept {
    store_failure = [](reply& self, std::exception_ptr why) noexcept {
      static_cast<awaited_reply&>(self).failure_ = std::move(why);
    };
    tell = &tell_waiter;
  }
  static void tell_waiter(reply& self) noexcept {
    const std::uintptr_t waiter =
        static_cast<awaited_reply&>(self).state_.exchange(told, std::memory_order_acq_rel);
    if (waiter != 0) {
      auto* suspended = reinterpret_cast<strand*>(waiter);
      suspended->home->resume(suspended);
    }
  }
  template <class F>
  void store(F&& function) {
    if constexpr (std::is_void_v<R>) {
      std::forward<F>(function)();
      value_.emplace();
    } else {
      value_.emplace(std::forward<F>(function)());
    }
  }
  R take() {
    if (state_.load(std::memory_order_acquire) != told) wait();
    follow_others();
    if (failure_) std::rethrow_exception(std::move(failure_));
    if constexpr (!std::is_void_v<R>) return std::move(*value_);
  }

 private:
  static constexpr std::uintptr_t told = 1;

  void wait();
  static bool publish(void* self, strand* waiter) {
    std::uintptr_t nobody = 0;
    return static_cast<awaited_reply*>(self)->state_.compare_exchange_strong(
        nobody, reinterpret_cast<std::uintptr_t>(waiter), std::memory_order_acq_rel);
  }

  std::atomic<std::uintptr_t> state_{0};  ///< notified, or the strand that waits
  std::exception_ptr failure_;
  std::optional<stored_t<R>> value_;
};

template <class Reply>
inline constexpr bool is_awaited = false;
template <class R>
inline constexpr bool is_awaited<awaited_reply<R>> = true;

static_assert(sizeof(awaited_reply<std::uint64_t>) == 64);  // each line more costs a miss

/// Spins on a thread that belongs to no runtime, for about the price of a wake-up.
void spin_wait_outside(const std::atomic<std::uintptr_t>& word) noexcept;

template <class R>
void awaited_reply<R>::wait() {
  if (executor* here = current_executor()) {
    here->messages().spin_wait(state_);
  } else {
    spin_wait_outside(state_);
  }
  if (state_.load(std::memory_order_acquire) != told)
    suspend_here(&publish, this,
                 reason_to_follow("the answer to a call", wait_reason::kind::answer,
                                  static_cast<reply*>(this)));
}

/// Reply to a call whose caller holds a future.
template <class R>
class future_reply final : public future_state<R>, public reply {
 public:
  static constexpr std::size_t result_bytes = std::is_void_v<R> ? 0 : sizeof(stored_t<R>);

  /// Starts with one reference for the future and one for the call.
  future_reply() noexcept : future_state<R>(2) {
    store_failure = [](reply& self, std::exception_ptr why) noexcept {
      static_cast<future_reply&>(self).fail(std::move(why));
    };
    tell = &tell_waiter;
  }
  static void tell_waiter(reply& self) noexcept {
    auto& state = static_cast<future_reply&>(self);
    state.publish_and_resume();
    state.release();
  }
  template <class F>
  void store(F&& function) {
    if constexpr (std::is_void_v<R>) {
      std::forward<F>(function)();
      this->emplace();
    } else {
      this->emplace(std::forward<F>(function)());
    }
  }
  state_producer made_by() const noexcept override { return {.call = this}; }

 private:
  /// Lingers, as the answer is mostly there sooner than a suspended strand would go on.
  void help() noexcept override { current_executor()->messages().spin_wait(this->news()); }
};

template <class Reply>
inline constexpr bool can_be_given_up = false;
template <class R>
inline constexpr bool can_be_given_up<future_reply<R>> = true;

/// Reports an exception that left a posted invocation, which no caller can take, and terminates.
[[noreturn]] void end_by_posted_failure(const std::exception_ptr& why, const char* type) noexcept;

// --- Messages -----------------------------------------------------------------------------------

/// Notes on the strand which invocation runs there, for reports.
class calling_strand {
 public:
  explicit calling_strand(activation& here) noexcept : here_(here), stack_(current_stack) {
    if (stack_ != nullptr) here_.below = std::exchange(stack_->record().call, &here);
  }
  ~calling_strand() {
    if (stack_ != nullptr) stack_->record().call = here_.below;
  }
  calling_strand(const calling_strand&) = delete;
  calling_strand& operator=(const calling_strand&) = delete;

 private:
  activation& here_;
  task_stack* const stack_;
};

/// Runs an invocation's body in a scope: a task that ends when all that it spawned has ended.
/// Returns the first exception of spawned tasks that was not taken by a wait.
template <class Body>
std::exception_ptr run_invocation(activation here, const task_type* type, Body&& body) {
  const invocation_mark mark(here, type);
  const calling_strand noted(here);
  task_frame frame(nullptr, type);
  frame.scope().call = &here;
  lazy_root own(frame.scope());
  body();
  frame.finish();
  return own.wait_all();
}

/// Takes the exception of a posted invocation.
using post_failure_handler = void (*)(void* object, std::exception_ptr why);

/// A message that carries `F`, a closure to be called with the object (T*; null: none).
/// `Reply` is awaited_reply<R>, future_reply<R>, or void if posted; then `OnFailure`, if not null,
/// is called with an exception.
template <class F, class Reply, post_failure_handler OnFailure = nullptr>
struct closure_message {
  static constexpr bool in_place = std::is_trivially_copyable_v<F> &&
                                   sizeof(message_head) + sizeof(F) <= active_message_bytes &&
                                   alignof(F) <= 16;
  static constexpr task_type type{nullptr, task_name<F>()};

  /// If the caller waits for the outcome, the call may have ended on return.
  static void send(executor& home, unsigned worker, remote_cell* object, F&& closure,
                   Reply* outcome) {
    (void)hand_over(home, worker, object, std::move(closure), outcome, false);
  }
  /// Sends a post if there is room; returns false if not.
  static bool try_send(executor& home, unsigned worker, remote_cell* object, F&& closure) {
    return hand_over(home, worker, object, std::move(closure), nullptr, true);
  }
  static void run(std::byte* message) noexcept {
    const message_head head = head_of(message);
    std::byte* const body = message + sizeof head;
    if constexpr (in_place) {
      union room {
        room() {}
        F closure;
      } here;
      std::memcpy(static_cast<void*>(&here.closure), body, sizeof(F));
      run_closure(head, here.closure);
    } else {
      F* carried = nullptr;
      std::memcpy(&carried, body, sizeof carried);
      charge(work::byte_copied, sizeof(F));
      // Arguments are gone before the caller knows that the call has ended.
      run_closure(head, *carried, carried);
    }
  }

 private:
  static bool hand_over(executor& home, unsigned worker, remote_cell* object, F&& closure,
                        Reply* outcome, bool only_if_room) {
    struct {
      message_head head;
      std::byte body[active_message_bytes - sizeof(message_head)];
    } message;
    message.head.run = &run;
    message.head.object = object;
    if constexpr (!std::is_void_v<Reply>) message.head.outcome = outcome;
    auto* const bytes = reinterpret_cast<std::byte*>(&message);
    if constexpr (in_place) {
      std::memcpy(message.body, static_cast<const void*>(&closure), sizeof(F));
      return deliver(home.messages(), worker, bytes, sizeof(message_head) + sizeof(F),
                     only_if_room);
    } else {
      auto carried = std::make_unique<F>(std::move(closure));
      charge(work::byte_copied, sizeof(F));
      F* const raw = carried.get();
      std::memcpy(message.body, &raw, sizeof raw);
      const bool sent =
          deliver(home.messages(), worker, bytes, sizeof(message_head) + sizeof raw, only_if_room);
      if (sent) static_cast<void>(carried.release());
      return sent;
    }
  }
  static bool deliver(message_port& port, unsigned worker, std::byte* message, std::size_t bytes,
                      bool only_if_room) {
    if constexpr (is_awaited<Reply>) {
      if (port.handle_here(worker, message, bytes)) return true;
    }
    if (only_if_room) return port.try_send(worker, message, bytes);
    port.send(worker, message, bytes);
    return true;
  }
  /// Has the object take the exception of a post, in an invocation of its own.
  static void fail(const activation& here, void* object, std::exception_ptr why) noexcept {
    if constexpr (OnFailure != nullptr) {
      std::exception_ptr own;
      why = run_invocation(here, &type, [&] {
        try {
          OnFailure(object, std::move(why));
        } catch (...) {
          own = std::current_exception();
        }
      });
      if (own) why = std::move(own);
      if (!why) return;
    }
    end_by_posted_failure(why, type.name);
  }
  static void run_closure(const message_head& head, F& closure, F* carried = nullptr) noexcept {
    const activation here{head.object, head.outcome};
    void* const object = head.object != nullptr ? head.object->object().get() : nullptr;
    std::exception_ptr failure;
    const auto body = [&] {
      try {
        if (head.object != nullptr && object == nullptr) {
          std::rethrow_exception(death_of(*head.object, "call"));
        }
        if constexpr (can_be_given_up<Reply>) {
          if (head.outcome->is_given_up()) {
            throw cancelled("remote::call_for: the call was given up");
          }
        }
        if constexpr (std::is_void_v<Reply>) {
          closure(object);
        } else {
          static_cast<Reply*>(head.outcome)->store([&]() -> decltype(auto) {
            return closure(object);
          });
        }
      } catch (...) {
        failure = std::current_exception();
      }
    };
    std::exception_ptr later = run_invocation(here, &type, body);
    if (!failure) failure = std::move(later);
    std::unique_ptr<F>{carried}.reset();
    if constexpr (std::is_void_v<Reply>) {
      if (failure && (head.object == nullptr || object != nullptr)) {
        fail(here, object, std::move(failure));
      }
    } else {
      if (failure) head.outcome->store_failure(*head.outcome, std::move(failure));
      current_executor()->messages().answer(*head.outcome, &Reply::tell_waiter,
                                            Reply::result_bytes);
    }
  }
};

}  // namespace creek::detail
