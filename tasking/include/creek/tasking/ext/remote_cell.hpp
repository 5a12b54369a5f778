// SPDX-License-Identifier: Apache-2.0
// The control block of an object that lives on a worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/mailbox.hpp>
#include <creek/tasking/ext/messages.hpp>
#include <creek/tasking/ext/remote_message.hpp>

namespace creek::ext {

/// Called when a message has reached its worker: runs it, here or as a task, or keeps it until the
/// object is free. Call it on a strand of `at` that may suspend, in the runtime's own loop.
void arrive(executor& at, std::byte* message, std::size_t bytes) noexcept;
/// Does the same for message_port::handle_here(), on a backend that runs invocations in place: the
/// calling strand runs no other message, which might wait for what the strand does next.
void arrive_here(executor& at, std::byte* message, std::size_t bytes) noexcept;

/// Place of an object: its runtime, its worker there, and its number in this process.
struct object_place {
  executor& home;
  unsigned worker;
  std::uint64_t generation;
};

/// Number of handles of an object, one at first. Once it is 0, it stays 0.
class handle_count {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Adds a handle and returns true, unless none is left.
  bool add_to_others() noexcept;
  /// Returns true for the last handle; all that other handles' users did happened before.
  bool drop() noexcept;
  bool is_one() const noexcept { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::int64_t> count_{1};
};

/// State that handles share; lives until the last handle is gone and its worker has processed that.
/// Invariant: it is an entry of its runtime's remote_objects until it or its runtime ends.
class remote_cell {
 public:
  using destroy_function = void (*)(void* object) noexcept;
  using object_pointer = std::unique_ptr<void, destroy_function>;

  /// Starts with one handle and without an object.
  remote_cell(executor& home, unsigned worker);
  /// Called by others instead of dropping the only handle of a cell that has no object and got no
  /// message.
  ~remote_cell();

  const object_place& place() const noexcept { return place_; }

  // Only the worker may call these.
  object_pointer& object() noexcept { return object_; }
  void take(executor& at, std::byte* message, std::size_t bytes) noexcept;
  /// Like take(), for arrive_here().
  void take_here(executor& at, std::byte* message, std::size_t bytes) noexcept;

  // Any thread may call these.
  void add_handle() noexcept { handles_.add(); }
  /// Drops a handle. With the last one, the object is destroyed.
  void drop_handle() noexcept;
  /// Called instead of dropping the only handle of a cell that adopted_cell() made.
  void let_go_of_object() noexcept;
  /// Destroys the object when the calls before this have ended; later calls fail.
  void destroy();
  bool dead() const noexcept { return dead_.load(std::memory_order_acquire); }
  /// Returns true once the runtime has ended: no message can be under way.
  bool has_ended() const noexcept;

 private:
  friend class remote_objects;
  friend remote_cell* adopted_cell(void* object, destroy_function destructor);

  /// Returns true if this retirement is the last message. If it may have overtaken a message of
  /// another sender, the first retirement sends a second one.
  bool retires() noexcept;
  static void run_destruction(std::byte* message) noexcept;
  static void run_end(std::byte* message) noexcept;
  static void run_task(submitted_task* self) noexcept;
  void send_to_self(void (*run)(std::byte*) noexcept);
  bool admit(executor& at, std::byte* message, std::size_t bytes) noexcept;
  void run_from(std::byte* message) noexcept;
  static void run_waiting(std::byte* message) noexcept;
  void destroy_object() noexcept;

  // Read by callers.
  object_place place_;
  std::atomic<bool> dead_{false};  ///< the object is destroyed, or will be before any later call
  remote_objects::entry entry_;
  alignas(64) handle_count handles_;

  // Owned by the worker, or by whoever runs the message that `mailbox_` lets run.
  alignas(64) mailbox mailbox_;
  bool retirement_came_ = false;
  object_pointer object_{nullptr, nullptr};
};

/// Merges an operation with the one on the object that the calling worker keeps back, or keeps it
/// back. Returns false if the caller has to post it.
bool keep_post_back(remote_cell& object, const merged_post::operation& kind, void* added);

/// Returns the number of an object, cut to 31 bits for reports, so that it is never
/// reply::given_up; 0 for null.
inline std::uint32_t number_of(const remote_cell* cell) noexcept {
  return cell != nullptr ? static_cast<std::uint32_t>(cell->place().generation) & ~(1U << 31) : 0;
}

/// Makes a cell with one handle, on the calling worker, that owns the object (foreign.hpp).
remote_cell* adopted_cell(void* object, remote_cell::destroy_function destructor);

/// Returns the usage_error of a call on a destroyed object. `what` names the caller's function.
std::exception_ptr death_of(const remote_cell& cell, const char* what);
/// Throws that if the object is destroyed, or usage_error if its worker does not exist.
[[noreturn]] void refuse_call(const remote_cell& cell, const char* what);
inline void require_alive(const remote_cell& cell, const char* what) {
  if (cell.dead() || cell.place().home.lost_in_fork()) [[unlikely]]
    refuse_call(cell, what);
}

}  // namespace creek::ext
