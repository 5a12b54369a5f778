// SPDX-License-Identifier: Apache-2.0
// The control block of an object that lives on a worker, and how an invocation travels: as an
// active message of 24 bytes and its arguments, or, where these are too long or cannot be copied
// byte by byte, as a pointer to them. Source: TACO [Rotta 2012].
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

#include <creek/core/active_message.hpp>
#include <creek/core/charge.hpp>
#include <creek/core/spin_lock.hpp>
#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/detail/message_port.hpp>
#include <creek/tasking/detail/stall_watch.hpp>
#include <creek/tasking/detail/task_name.hpp>

namespace creek::detail {

/// A running invocation; lies in the frame that runs it.
struct activation {
  const remote_cell* object = nullptr;
  /// Its `chain` is the activation that waits for this one in call(), or null. Not followed before
  /// it must be: it lies in the caller's cache.
  const reply* outcome = nullptr;
};

using tell_function = void (*)(reply& self) noexcept;

/// Destination of an invocation's outcome.
struct reply {
  int asked_by = -1;                  ///< calling worker of the object's runtime; -1: none of them
  const activation* chain = nullptr;  ///< the caller's chain, if it waits in call()
  /// Stores an exception; the answer still has to be sent.
  void (*store_failure)(reply& self, std::exception_ptr why) noexcept = nullptr;
  /// Notifies the waiter. The reply may be gone afterwards.
  tell_function tell = nullptr;
};

/// The first bytes of every message. Messages need not be aligned.
struct message_head {
  /// Null: the object's retirement, which its last handle sends. Never recognised by its address: a
  /// linker may give functions of equal code one address.
  void (*run)(std::byte* message) noexcept = nullptr;
  remote_cell* object = nullptr;  ///< object that runs it, one at a time; null: it runs at once
  reply* outcome = nullptr;       ///< null: no caller wants the outcome
};
static_assert(sizeof(message_head) == 24);

/// Copies the head word by word, as most of it is wanted: a processor waits for the stores of a
/// copy that a wider load spans.
inline message_head head_of(const std::byte* message) noexcept {
  message_head head;
  std::memcpy(&head.run, message + offsetof(message_head, run), sizeof head.run);
  std::memcpy(&head.object, message + offsetof(message_head, object), sizeof head.object);
  std::memcpy(&head.outcome, message + offsetof(message_head, outcome), sizeof head.outcome);
  return head;
}

/// A message that waits its turn, or that travels as a task.
struct kept_message : submitted_task {
  kept_message() = default;
  kept_message(const void* message, std::size_t length) noexcept { assign(message, length); }
  void assign(const void* message, std::size_t length) noexcept {
    bytes = length;
    std::memcpy(data, message, length);
  }
  kept_message* next = nullptr;
  std::size_t bytes = 0;
  alignas(16) std::byte data[active_message_bytes];
};

/// A first-in, first-out list of kept messages.
class message_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  void push(kept_message* added) noexcept {
    added->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = added;
    last_ = added;
    ++size_;
  }
  kept_message* pop() noexcept {
    kept_message* const taken = first_;
    if (taken != nullptr) first_ = taken->next;
    if (first_ == nullptr) last_ = nullptr;
    if (taken != nullptr) --size_;
    return taken;
  }

 private:
  kept_message* first_ = nullptr;
  kept_message* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Called when a message has reached its worker: runs it, here or as a task, or keeps it until the
/// object is free. Call it on a strand of `at` that may suspend, in the runtime's own loop.
void arrive(executor& at, std::byte* message, std::size_t bytes) noexcept;

/// State that handles share; lives until the last handle is gone and its worker has processed that.
class remote_cell {
 public:
  using destroy_function = void (*)(void* object) noexcept;

  /// Starts with one handle and without an object.
  remote_cell(executor& home, unsigned worker);
  remote_cell(const remote_cell&) = delete;
  remote_cell& operator=(const remote_cell&) = delete;

  executor& home() const noexcept { return *home_; }
  unsigned worker() const noexcept { return worker_; }
  std::uint64_t generation() const noexcept { return generation_; }

  // Only the worker may call these.
  void* object() const noexcept { return object_; }
  void set_object(void* made, destroy_function destructor) noexcept {
    object_ = made;
    destroy_ = destructor;
  }
  void take(executor& at, std::byte* message, std::size_t bytes) noexcept;

  static bool is_retirement(const message_head& head) noexcept { return head.run == nullptr; }

  // Any thread may call these.
  void add_handle() noexcept { handles_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a handle. With the last one, the object is destroyed.
  void drop_handle() noexcept;
  /// Called instead of dropping the only handle of a cell that has no object and got no message.
  void abandon() noexcept;
  /// Called instead of dropping the only handle of a cell that adopted_cell() made.
  void let_go_of_object() noexcept;
  /// Destroys the object when the calls before this have ended; later calls fail.
  void destroy();
  bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
  /// Throws usage_error if the object is destroyed. `what` names the caller's function.
  void require_alive(const char* what) const {
    if (dead() || home_->lost_in_fork()) [[unlikely]]
      refuse(what);
  }
  std::exception_ptr death(const char* what) const;

 private:
  friend class remote_objects;
  friend remote_cell* adopted_cell(void* object, destroy_function destructor);

  [[noreturn]] void refuse(const char* what) const;
  /// Returns true if this retirement is the last message. If it may have overtaken a message of
  /// another sender, the first retirement sends a second one.
  bool retires() noexcept;
  static void run_destruction(std::byte* message) noexcept;
  static void run_end(std::byte* message) noexcept;
  static void run_task(submitted_task* self) noexcept;
  bool drop_last_handle() noexcept;
  bool has_ended() const noexcept;
  void send_to_self(void (*run)(std::byte*) noexcept);
  void run_from(std::byte* message) noexcept;
  void destroy_object() noexcept;
  bool is_waited_for_by(const activation* chain) const noexcept;
  void lock_turns() noexcept {
    if (is_shared_) lock_.lock();
  }
  void unlock_turns() noexcept {
    if (is_shared_) lock_.unlock();
  }

  // Read by callers.
  executor* home_;
  unsigned worker_;
  std::uint64_t generation_;
  std::atomic<bool> dead_{false};   ///< the object is destroyed, or will be before any later call
  std::atomic<bool> ended_{false};  ///< the runtime has ended: no message can be under way
  remote_cell* next_ = nullptr;     ///< link in remote_objects, as is the next one
  remote_cell* previous_ = nullptr;
  std::atomic<bool> object_has_ended_{false};
  bool is_told_to_end_ = false;  ///< under the lock of remote_objects
  bool may_outlive_ = false;     ///< the object belongs to its handle, not to the runtime
  alignas(64) std::atomic<std::int64_t> handles_{1};

  // Owned by the worker, or by the lock's holder where tasks take messages on any thread.
  alignas(64) bool const is_shared_;
  spin_lock lock_;
  bool running_ = false;
  bool retirement_came_ = false;
  void* object_ = nullptr;
  destroy_function destroy_ = nullptr;
  message_queue waiting_;
};

/// Makes a cell with one handle, on the calling worker, that owns the object (foreign.hpp).
remote_cell* adopted_cell(void* object, remote_cell::destroy_function destructor);

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

/// Spins on a thread that belongs to no runtime, for about the price of a wake-up.
void spin_wait_outside(const std::atomic<std::uintptr_t>& word) noexcept;

template <class R>
void awaited_reply<R>::wait() {
  if (executor* here = current_executor()) {
    here->messages().spin_wait(state_);
  } else {
    spin_wait_outside(state_);
  }
  if (state_.load(std::memory_order_acquire) != told) suspend_here(&publish, this);
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
};

/// Reports an exception that left a posted invocation, which no caller can take, and terminates.
[[noreturn]] void end_by_posted_failure(const std::exception_ptr& why, const char* type) noexcept;

// --- Messages -----------------------------------------------------------------------------------

/// Runs an invocation's body in a scope: a task that ends when all that it spawned has ended.
/// Returns the first exception of spawned tasks that was not taken by a wait.
template <class Body>
std::exception_ptr run_invocation(const activation& here, const task_type* type, Body&& body) {
  const invocation_mark mark(here, type);
  root_scope own;
  own.call = &here;
  task_frame frame(&own, type);
  body();
  frame.finish();
  return own.wait_all();
}

/// A message that carries `F`, a closure to be called with the object (T*; null: none).
/// `Reply` is awaited_reply<R>, future_reply<R>, or void if posted.
template <class F, class Reply>
struct closure_message {
  static constexpr bool in_place = std::is_trivially_copyable_v<F> &&
                                   sizeof(message_head) + sizeof(F) <= active_message_bytes &&
                                   alignof(F) <= 16;
  static constexpr task_type type{nullptr, task_name<F>()};

  static void send(executor& home, unsigned worker, remote_cell* object, F&& closure,
                   Reply* outcome) {
    struct {
      message_head head;
      std::byte body[active_message_bytes - sizeof(message_head)];
    } message;
    message.head.run = &run;
    message.head.object = object;
    if constexpr (!std::is_void_v<Reply>) message.head.outcome = outcome;
    std::size_t bytes = sizeof(message_head);
    if constexpr (in_place) {
      std::memcpy(message.body, static_cast<const void*>(&closure), sizeof(F));
      bytes += sizeof(F);
    } else {
      auto carried = std::make_unique<F>(std::move(closure));
      charge(work::byte_copied, sizeof(F));
      F* const raw = carried.get();
      std::memcpy(message.body, &raw, sizeof raw);
      home.messages().send(worker, &message, bytes + sizeof raw);
      static_cast<void>(carried.release());
      return;
    }
    home.messages().send(worker, &message, bytes);
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
  static void run_closure(const message_head& head, F& closure, F* carried = nullptr) noexcept {
    const activation here{head.object, head.outcome};
    void* const object = head.object != nullptr ? head.object->object() : nullptr;
    std::exception_ptr failure;
    const auto body = [&] {
      try {
        if (head.object != nullptr && object == nullptr) {
          std::rethrow_exception(head.object->death("call"));
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
        end_by_posted_failure(failure, type.name);
      }
    } else {
      if (failure) head.outcome->store_failure(*head.outcome, std::move(failure));
      current_executor()->messages().answer(*head.outcome, &Reply::tell_waiter,
                                            Reply::result_bytes);
    }
  }
};

}  // namespace creek::detail
