// SPDX-License-Identifier: Apache-2.0
// The control block of an object that lives on a worker, and the messages that bring invocations to
// it. Source: TACO [Rotta 2012].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include <creek/core/messages/active_message.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/messages.hpp>

namespace creek::ext {

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

}  // namespace creek::ext
