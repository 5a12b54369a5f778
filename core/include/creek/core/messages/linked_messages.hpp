// SPDX-License-Identifier: Apache-2.0
// Active messages by message linking: a message stays in its sender's memory, which links it to the
// end of the receiver's list; the receiver follows the list and reads each message where it is.
// Source: [Rotta 2011].
// The list is that of the queue lock of [Mellor-Crummey 1991], with a lock in place of its swap:
// this memory has no swap.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include <creek/core/messages/active_message.hpp>
#include <creek/core/protocols/team.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>

namespace creek {

/// A core has at most `slots` messages under way at a time, to all receivers together. A poll reads
/// one word; each message costs the receiver accesses to its sender's memory. The protocol uses the
/// test-and-set registers of all members.
template <memory_policy Memory>
class linked_messages {
 public:
  static constexpr bool room_is_signalled = true;

  static constexpr std::size_t bytes_needed(int /*members*/, std::size_t slots = 16) noexcept {
    return 2 * Memory::line_bytes + slots * slot_bytes;
  }

  linked_messages(Memory& memory, team members, std::size_t place, std::size_t slots = 16)
      : memory_{&memory}, members_{std::move(members)}, place_{place}, slots_{slots} {}

  [[nodiscard]] bool has_room(int /*to*/) { return memory_->load(header(id_of(next_slot_))) == 0; }

  [[nodiscard]] bool try_send(int to, const void* data, std::size_t bytes) {
    detail::require_message(to, members_.size(), bytes);
    if (!has_room(to)) {
      ++counts_.full;
      return false;
    }
    const word id = id_of(next_slot_);
    next_slot_ = (next_slot_ + 1) % slots_;
    if (bytes > 0) memory_->write(message(id), data, bytes);
    memory_->flush();
    memory_->store(header(id), detail::message_header(members_.rank(), bytes));
    memory_->store(next(id), 0);
    test_and_set_lock<Memory> lock(*memory_, members_.core(to));
    const std::lock_guard held(lock);
    if (const word last = memory_->load(tail(to)); last == 0) {
      memory_->signal(head(to), id);
    } else {
      memory_->store(next(last), id);
    }
    memory_->store(tail(to), id);
    ++counts_.sent;
    return true;
  }

  [[nodiscard]] bool has_message() { return memory_->load(head(members_.rank())) != 0; }

  template <class Handler>
  std::size_t poll(Handler&& handle) {
    ++counts_.polls;
    std::size_t handled = 0;
    // Handles at most `slots_` messages: a sender without end must not keep this core in the loop.
    while (handled < slots_) {
      const word id = memory_->load(head(members_.rank()));
      if (id == 0) break;
      const word about = memory_->load(header(id));
      const std::size_t bytes = detail::bytes_of(about);
      std::array<std::byte, active_message_bytes> copy;
      memory_->invalidate();
      if (bytes > 0) memory_->read(copy.data(), message(id), bytes);
      take_off(id);
      memory_->signal(header(id), 0);
      ++counts_.received;
      ++handled;
      handle(detail::sender_of(about), copy.data(), bytes);
    }
    if (handled == 0) ++counts_.empty_polls;
    return handled;
  }

  [[nodiscard]] const active_message_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

 private:
  /// A slot has a line with the message's length and its successor, then the message.
  static constexpr std::size_t slot_bytes =
      Memory::line_bytes + whole_lines<Memory>(active_message_bytes);

  /// Removes the first message from the list.
  void take_off(word id) {
    const int me = members_.rank();
    word successor = memory_->load(next(id));
    if (successor == 0) {
      // It is the last, unless another is being linked to it, which happens under the lock.
      test_and_set_lock<Memory> lock(*memory_, members_.core(me));
      const std::lock_guard held(lock);
      if (memory_->load(tail(me)) == id) {
        memory_->store(tail(me), 0);
        memory_->store(head(me), 0);
        return;
      }
      successor = memory_->load(next(id));
    }
    memory_->store(head(me), successor);
  }

  /// Returns the id of this core's message in `slot`; never zero.
  [[nodiscard]] word id_of(std::size_t slot) const {
    return static_cast<word>(static_cast<std::size_t>(members_.rank()) * slots_ + slot) + 1;
  }
  [[nodiscard]] mpm_ptr<word> head(int rank) const {
    return memory_->at(members_.core(rank), place_).template as<word>();
  }
  [[nodiscard]] mpm_ptr<word> tail(int rank) const {
    return memory_->at(members_.core(rank), place_ + Memory::line_bytes).template as<word>();
  }
  [[nodiscard]] mpm_ptr<std::byte> slot(word id) const {
    const std::size_t number = id - 1;
    return memory_->at(members_.core(static_cast<int>(number / slots_)),
                       place_ + 2 * Memory::line_bytes + number % slots_ * slot_bytes);
  }
  [[nodiscard]] mpm_ptr<word> header(word id) const { return slot(id).template as<word>(); }
  [[nodiscard]] mpm_ptr<word> next(word id) const {
    return (slot(id) + sizeof(word)).template as<word>();
  }
  [[nodiscard]] mpm_ptr<std::byte> message(word id) const { return slot(id) + Memory::line_bytes; }

  Memory* memory_;
  team members_;
  std::size_t place_;
  std::size_t slots_;
  std::size_t next_slot_ = 0;
  active_message_counts counts_;
};

}  // namespace creek
