// SPDX-License-Identifier: Apache-2.0
// Active messages by single flag and lock: each receiver keeps one slot, into which the holder of
// its lock writes a message, and one flag that says that a message is there. The simplest protocol
// of [Rotta 2011], for comparison: all senders contend for one slot.
#pragma once

#include <array>
#include <cstddef>

#include <creek/core/messages/active_message.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// The protocol uses the test-and-set registers of all members.
template <memory_policy Memory>
class flagged_slot {
 public:
  static constexpr bool room_is_signalled = false;

  static constexpr std::size_t bytes_needed(int /*members*/) noexcept {
    return Memory::line_bytes + whole_lines<Memory>(active_message_bytes);
  }

  flagged_slot(Memory& memory, team members, std::size_t place)
      : memory_{&memory}, members_{std::move(members)}, place_{place} {}

  [[nodiscard]] bool has_room(int to) { return memory_->load(flag(to)) == 0; }

  [[nodiscard]] bool try_send(int to, const void* data, std::size_t bytes) {
    detail::require_message(to, members_.size(), bytes);
    const core_id receiver = members_.core(to);
    if (!has_room(to) || !memory_->test_and_set(receiver)) {
      ++counts_.full;
      return false;
    }
    const bool free = has_room(to);
    if (free) {
      if (bytes > 0) memory_->write(slot(to), data, bytes);
      memory_->flush();
      memory_->signal(flag(to), detail::message_header(members_.rank(), bytes));
    }
    memory_->clear(receiver);
    ++(free ? counts_.sent : counts_.full);
    return free;
  }

  [[nodiscard]] bool has_message() { return memory_->load(flag(members_.rank())) != 0; }

  template <class Handler>
  std::size_t poll(Handler&& handle) {
    ++counts_.polls;
    const word header = memory_->load(flag(members_.rank()));
    if (header == 0) {
      ++counts_.empty_polls;
      return 0;
    }
    memory_->invalidate();
    std::array<std::byte, active_message_bytes> message;
    const std::size_t bytes = detail::bytes_of(header);
    if (bytes > 0) memory_->read(message.data(), slot(members_.rank()), bytes);
    memory_->store(flag(members_.rank()), 0);
    ++counts_.received;
    handle(detail::sender_of(header), message.data(), bytes);
    return 1;
  }

  [[nodiscard]] const active_message_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

 private:
  [[nodiscard]] mpm_ptr<word> flag(int rank) const {
    return memory_->at(members_.core(rank), place_).template as<word>();
  }
  [[nodiscard]] mpm_ptr<std::byte> slot(int rank) const {
    return memory_->at(members_.core(rank), place_ + Memory::line_bytes);
  }

  Memory* memory_;
  team members_;
  std::size_t place_;
  active_message_counts counts_;
};

}  // namespace creek
