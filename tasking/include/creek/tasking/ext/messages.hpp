// SPDX-License-Identifier: Apache-2.0
// Messages to the workers of a runtime, as a backend sends them, and the objects that live there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <creek/core/messages/active_message.hpp>

namespace creek::ext {

class remote_cell;
struct merged_post;
struct reply;

/// The objects that a runtime has, to be destroyed when it ends.
class remote_objects {
 public:
  /// Part of a cell that belongs to this list.
  struct entry {
    std::atomic<bool> runtime_has_ended{false};
    std::atomic<bool> object_has_ended{false};
    bool is_told_to_end = false;  ///< guarded by the lock, as are the links
    bool may_outlive = false;     ///< the object belongs to its handle, not to the runtime
    remote_cell* next = nullptr;
    remote_cell* previous = nullptr;
  };

  void add(remote_cell& made);
  void remove(remote_cell& gone) noexcept;
  /// Has all objects destroyed where they live. Returns false if there are none. The caller makes
  /// sure that the messages are handled, and calls again.
  bool end_all() noexcept;
  /// Called next, when no message can come: the cells that are left go with their last handle.
  void let_go() noexcept;
  /// Called instead if nothing runs any more: objects are not destroyed, but refuse all calls.
  void abandon() noexcept;

 private:
  std::mutex mutex_;
  remote_cell* first_ = nullptr;
};

/// Transport of messages between the workers of one runtime. Messages of one sender to one worker
/// arrive in order.
class message_port {
 public:
  /// Has worker `to` handle a message of at most active_message_bytes, see arrive(). Any thread. If
  /// there is no room, waits, and meanwhile drains the messages for the calling worker.
  virtual void send(unsigned to, const void* message, std::size_t bytes) = 0;
  /// Does the same, but returns false if there is no room: the message is not sent then. A port
  /// whose room is not limited, or whose senders have to wait, sends all.
  virtual bool try_send(unsigned to, const void* message, std::size_t bytes) {
    send(to, message, bytes);
    return true;
  }
  /// Returns the post to `object` that the calling worker keeps back, or an empty one, after it has
  /// made sure that it can be sent. All that the worker sends comes after what it keeps back.
  /// Returns nullptr on a port that keeps none back. Throws std::bad_alloc. Without an object sends
  /// all that is kept back.
  virtual merged_post* kept_back(const remote_cell* /*object*/) { return nullptr; }
  /// Has the calling strand handle a message for its own worker whose outcome it is about to wait
  /// for, at once, unless other messages come before it. Returns false if it has not: send() the
  /// message then. Any thread.
  virtual bool handle_here(unsigned /*to*/, std::byte* /*message*/,
                           std::size_t /*bytes*/) noexcept {
    return false;
  }
  /// Makes room for messages, if that may fail, so that sending the first one will not. Call it on
  /// a strand of the executor.
  virtual void prepare() {}
  /// Called after a result of `bytes` bytes is stored; wakes the waiter through `tell`.
  virtual void answer(reply& to, void (*tell)(reply&) noexcept, std::size_t bytes) noexcept;
  /// Takes the messages for the calling worker out of the transport, to be handled later, so that
  /// senders find room.
  virtual void drain() {}
  /// Called by strands of the executor that sent something and do not wait: lets the worker handle
  /// the messages that have piled up for it.
  virtual void yield() noexcept {}
  /// Spins until `word` is not zero, if that is likely to be soon and there is no other work.
  virtual void spin_wait(const std::atomic<std::uintptr_t>& /*word*/) noexcept {}

  remote_objects& objects() noexcept { return objects_; }

 protected:
  ~message_port() = default;

 private:
  remote_objects objects_;
};

}  // namespace creek::ext
