// SPDX-License-Identifier: Apache-2.0
// Messages to workers: their rings, sending, waking a sleeping receiver, handling.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <creek/core/messages/synchronized_ring.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/host/memory.hpp>

#include "idle/waker.hpp"

namespace creek::host_backend {

/// One end, used by one worker. On lines of its own, and not beside the next end's, which would be
/// fetched along with it.
struct alignas(128) mailbox : synchronized_ring<memory> {
  static constexpr std::size_t slots = 256;

  explicit mailbox(host_backend::memory& view) : synchronized_ring(view, team(view), 0, slots) {}
};

/// One end per worker, made when the first message is sent. All threads outside send by the last
/// end, which receives nothing.
struct mailboxes {
  explicit mailboxes(unsigned workers)
      : space(static_cast<int>(workers) + 1,
              {.mpm_bytes = mailbox::bytes_needed(0, mailbox::slots)}) {
    for (unsigned i = 0; i <= workers; ++i) {
      views.push_back(space.core(core_id{static_cast<int>(i)}));
    }
    ends.reserve(views.size());
    for (memory& each : views) ends.emplace_back(each);
  }

  memory_space space;
  std::vector<memory> views;
  std::vector<mailbox> ends;
  spin_lock outside;  ///< held while a thread uses the last end
};

/// The messages of a scheduler. The mailboxes are made with the first message and stay; before that
/// no function does more than load a pointer. A worker's ring and backlog are read by that worker
/// alone, the backlog first, so messages of one sender arrive in order. A strand that handles a
/// message is bound: it continues on its worker whoever resumes it.
class message_service {
 public:
  message_service(ext::executor& home, worker_set& workers, waker& waking) noexcept
      : home_(home), workers_(workers), waker_(waking) {}

  /// executor::send()
  void send(unsigned to, const void* message, std::size_t bytes);
  void make_mailboxes();
  /// Moves the messages in the ring of `self` to its backlog.
  void drain(worker& self);
  /// Returns whether messages have piled up that `self` has not handled.
  static bool is_piled_up(const worker& self) noexcept {
    return self.backlog.size() >= mailbox::slots;
  }
  /// Spins until `word` is not zero or there is a message, unless that takes too long.
  void spin_wait(worker& self, const std::atomic<std::uintptr_t>& word) noexcept;

  /// Returns whether there are mailboxes. Not synchronised with them.
  bool in_use() const noexcept { return opened_.load(std::memory_order_relaxed) != nullptr; }
  /// Returns whether `self` has a message or a bound fiber to continue.
  bool has_messages(worker& self) noexcept {
    mailboxes* mail = opened();
    return mail != nullptr &&
           (!self.bound.empty() || !self.backlog.empty() || mail->ends[self.index].has_message());
  }
  /// Pauses between two searches, which look at what others write: looking for a message costs
  /// less. Returns true if there is one.
  bool pause_for_messages(worker& self) noexcept;
  /// Returns whether a message is under way to any worker. Called by `self`.
  bool any_under_way(const worker& self) noexcept;

  /// Handles the messages that have arrived for the worker of `self`; returns false if there were
  /// none. Called on the bottom of a fiber, except where there is no memory for another.
  bool serve(fiber& self) noexcept;
  /// Makes a bound fiber ready on its worker.
  void make_bound_ready(fiber& target) noexcept;

 private:
  mailboxes& open();
  /// Returns the mailboxes, or nullptr before the first message.
  mailboxes* opened() const noexcept {
    mailboxes* const mail = opened_.load(std::memory_order_acquire);
    if (mail != nullptr) sanitizer::acquired(&opened_);
    return mail;
  }
  void handle(worker& here, std::byte* message, std::size_t bytes) noexcept;

  ext::executor& home_;
  worker_set& workers_;
  waker& waker_;
  std::mutex opening_;
  std::unique_ptr<mailboxes> mailboxes_;
  std::atomic<mailboxes*> opened_{nullptr};
};

}  // namespace creek::host_backend
