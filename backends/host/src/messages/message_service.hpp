// SPDX-License-Identifier: Apache-2.0
// Messages to workers: their boxes, sending, waking a sleeping receiver, handling.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "idle/waker.hpp"
#include "message_box.hpp"
#include "workers/loan.hpp"

namespace creek::host_backend {

/// The messages of a scheduler. The boxes are made with the first message and stay; before that
/// no function does more than load a pointer. A worker's box and backlog are read by that worker
/// alone, the backlog first, so messages of one sender arrive in order; what a worker sends itself
/// waits in its box. A strand that handles a message is bound: it continues on its worker
/// whoever resumes it.
class message_service {
 public:
  message_service(ext::executor& home, worker_set& workers, waker& waking) noexcept
      : home_(home), workers_(workers), waker_(waking) {}

  /// message_port::send(); with `only_if_room` message_port::try_send().
  bool send(unsigned to, const void* message, std::size_t bytes, bool only_if_room);
  /// message_port::kept_back()
  ext::merged_post* kept_back(worker& self, const ext::remote_cell* object);
  /// Sends what `self` keeps back. With `only_if_room`, returns false if there is none.
  bool send_kept_back(worker& self, bool only_if_room = false) {
    return self.kept_back.empty() || send_kept_back_now(self, only_if_room);
  }
  void make_boxes();
  /// message_port::handle_here()
  bool handle_here(unsigned to, std::byte* message, std::size_t bytes) noexcept;
  /// Moves messages in the box of `self` to its backlog, a ring full of each sender at most.
  void drain(worker& self);
  /// Returns whether messages have piled up that `self` has not handled, by its sends and its waits
  /// for room.
  bool is_piled_up(const worker& self) const noexcept {
    const message_box* const boxes = opened();
    return boxes != nullptr && self.backlog.size() + boxes[self.index].own() >= piled_up;
  }
  /// Spins until `word` is not zero or there is a message, unless that takes too long.
  void spin_wait(worker& self, const std::atomic<std::uintptr_t>& word) noexcept;

  /// Returns whether there are boxes. Not synchronised with them.
  bool in_use() const noexcept { return opened_.load(std::memory_order_relaxed) != nullptr; }
  /// Returns whether `self` has a message or a bound fiber to continue.
  bool any_for(const worker& self) const noexcept {
    const message_box* const boxes = opened();
    return boxes != nullptr && any_in(boxes[self.index], self);
  }
  /// Returns whether `self` has one of these, or one to send, or is a borrower whose task has
  /// ended.
  bool has_messages(const worker& self) const noexcept {
    if (self.borrowed != nullptr && self.borrowed->has_ended()) return true;
    return !self.kept_back.empty() || any_for(self);
  }
  /// Pauses between two searches, which look at what others write: looking for a message costs
  /// less. Returns true if there is one.
  bool pause_for_messages(worker& self) noexcept;
  /// Called when `self` is back in its loop, where it looks for messages. Sends what it kept back.
  void begin_to_listen(worker& self) noexcept {
    if (in_use() && !self.listens.load(std::memory_order_relaxed)) {
      self.gets_messages = true;
      self.listens.store(true, std::memory_order_relaxed);
    }
    send_kept_back(self);
  }
  /// Called before the fiber, or one that it leaves for, runs a strand: from now on senders ask
  /// that to yield.
  void end_listening(fiber& self) noexcept {
    if (in_use() && self.on->listens.load(std::memory_order_relaxed)) stop_listening(self);
  }
  /// Returns whether a message is under way to any worker.
  bool any_under_way() noexcept;

  /// Handles the messages that have arrived for the worker of `self`; returns false if there were
  /// none. Called on the bottom of a fiber, except where there is no memory for another.
  bool serve(fiber& self) noexcept;
  /// Makes a bound fiber ready on its worker.
  void make_bound_ready(fiber& target) noexcept;

 private:
  static constexpr std::size_t piled_up = 64;
  static constexpr int max_before_call = 64;
  struct receiver;

  message_box* open();
  bool may_handle_here(const fiber& self) noexcept;
  bool handle_behind(worker& here, const std::byte* message, std::size_t bytes) noexcept;
  void stop_listening(fiber& self) noexcept;
  static bool any_in(const message_box& box, const worker& self) noexcept;
  bool send_kept_back_now(worker& self, bool only_if_room);
  bool call(worker& target) noexcept;
  static void ask_to_yield(worker& target) noexcept;
  /// Returns the boxes, by worker, or nullptr before the first message.
  message_box* opened() const noexcept {
    message_box* const boxes = opened_.load(std::memory_order_acquire);
    if (boxes != nullptr) sanitizer::acquired(&opened_);
    return boxes;
  }
  void handle(worker& here, std::byte* message, std::size_t bytes, bool in_place) noexcept;
  template <class Condition>
  void wait_for_room(Condition done);
  void send_late(pair_ring& ring, const void* message, std::size_t bytes);
  bool send_from_outside(message_box& to, const void* message, std::size_t bytes,
                         bool only_if_room);

  ext::executor& home_;
  worker_set& workers_;
  waker& waker_;
  std::mutex opening_;
  std::unique_ptr<message_box[]> boxes_;
  std::atomic<message_box*> opened_{nullptr};
};

}  // namespace creek::host_backend
