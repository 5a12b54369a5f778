// SPDX-License-Identifier: Apache-2.0
// Active messages by synchronized ring buffer (SRBP): each receiver keeps a ring of slots for all
// senders. A sender gets a slot by incrementing the receiver's atomic counter; the slot's first
// word says that the message is there; a word that senders read says how far the receiver has read.
// Source: [Rotta 2012], with two differences: the receiver there writes a zero over each header and
// how far it has read after each message, here a bit of the lap tells headers apart, and it tells
// how far it has read by quarters of the ring and after the last one of a poll.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/active_message.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// A poll reads one word, however many members there are. A sender whose try found no room holds
/// its place in the ring, and all that come later wait for it: it has to try again.
template <memory_policy Memory>
class synchronized_ring {
 public:
  static constexpr bool room_is_signalled = false;

  static constexpr std::size_t bytes_needed(int /*members*/, std::size_t slots = 16) noexcept {
    return Memory::line_bytes + slots * slot_bytes;
  }

  /// `slots`: slots per receiver, a power of two. The protocol uses the counter with number
  /// `counter` of each member's counters() / cores() counters of the memory.
  synchronized_ring(Memory& memory, team members, std::size_t place, std::size_t slots = 16,
                    int counter = 0)
      : memory_{&memory},
        members_{std::move(members)},
        slots_{slots},
        lap_shift_{std::countr_zero(slots)} {
    if (!std::has_single_bit(slots)) {
      throw usage_error("synchronized_ring: the number of slots must be a power of two, not " +
                        std::to_string(slots));
    }
    const int counters = memory.counters() / memory.cores();
    out_.reserve(static_cast<std::size_t>(members_.size()));
    for (int rank = 0; rank < members_.size(); ++rank) {
      const core_id core = members_.core(rank);
      out_.push_back({memory.at(core, place), counter_id{core.value * counters + counter}});
    }
    in_ = out_[static_cast<std::size_t>(members_.rank())].ring;
  }

  [[nodiscard]] bool has_room(int to) { return has_room(out_[static_cast<std::size_t>(to)]); }

  [[nodiscard]] bool try_send(int to, const void* data, std::size_t bytes) {
    detail::require_message(to, members_.size(), bytes);
    position& p = out_[static_cast<std::size_t>(to)];
    if (!has_room(p)) {
      ++counts_.full;
      return false;
    }
    const mpm_ptr<std::byte> slot = slot_at(p.ring, p.slot);
    if (bytes > 0) memory_->write(slot + header_bytes, data, bytes);
    memory_->flush();
    memory_->signal(slot.template as<word>(),
                    detail::message_header(members_.rank(), bytes) | lap_of(p.slot));
    p.has_slot = false;
    ++counts_.sent;
    return true;
  }

  [[nodiscard]] bool has_message() { return is_there(header(in_, read_), read_); }

  template <class Handler>
  std::size_t poll(Handler&& handle) {
    ++counts_.polls;
    std::size_t handled = 0;
    // Handles at most a ring full: a handler may send to its own core.
    while (handled < slots_) {
      const word found = header(in_, read_);
      if (!is_there(found, read_)) break;
      std::array<std::byte, active_message_bytes> message;
      const std::size_t bytes = detail::bytes_of(found & ~lap_bit);
      if (bytes > 0) {
        memory_->read(message.data(), slot_at(in_, read_) + header_bytes, bytes);
      }
      // Senders read this word only when the ring seems full: do not write it at every message.
      if (++read_ - published_ >= slots_ / 4) publish();
      ++counts_.received;
      ++handled;
      handle(detail::sender_of(found & ~lap_bit), message.data(), bytes);
    }
    // Applies also to a poll inside a handler that waits, on behalf of the poll around it.
    if (published_ != read_) publish();
    if (handled == 0) ++counts_.empty_polls;
    return handled;
  }

  [[nodiscard]] const active_message_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

 private:
  static constexpr std::size_t header_bytes = 8;  // keeps the message aligned
  static constexpr std::size_t slot_bytes =
      whole_lines<Memory>(header_bytes + active_message_bytes);

  /// Set in the headers of every other lap, the first among them, so that a receiver knows a
  /// message from the one that lay there before, and need not write where senders write.
  static constexpr word lap_bit = word{1} << 31;

  struct position {
    mpm_ptr<std::byte> ring;  ///< in the receiver's memory; begins with how far it has read
    counter_id counter;
    word slot = 0;  ///< number of the slot in the receiver's ring, not wrapped
    word read = 0;  ///< how far the receiver has read, as far as is known
    bool has_slot = false;
  };

  [[nodiscard]] bool has_room(position& p) {
    if (!p.has_slot) {
      p.slot = memory_->fetch_increment(p.counter);
      p.has_slot = true;
    }
    if (p.slot - p.read < slots_) return true;
    p.read = memory_->load(p.ring.template as<word>());
    return p.slot - p.read < slots_;
  }

  [[nodiscard]] word lap_of(word number) const noexcept {
    return ((number >> lap_shift_) & 1) != 0 ? 0 : lap_bit;
  }
  [[nodiscard]] bool is_there(word header, word number) const noexcept {
    return (header & lap_bit) == lap_of(number);
  }
  /// Returns the header of a slot, freshly read: its line may be cached from the last time round.
  [[nodiscard]] word header(mpm_ptr<std::byte> ring, word number) {
    memory_->invalidate();
    return memory_->load(slot_at(ring, number).template as<word>());
  }
  [[nodiscard]] mpm_ptr<std::byte> slot_at(mpm_ptr<std::byte> ring, word number) const {
    return ring + (Memory::line_bytes + (number & (slots_ - 1)) * slot_bytes);
  }
  void publish() {
    published_ = read_;
    memory_->store(in_.template as<word>(), read_);
  }

  Memory* memory_;
  team members_;
  std::size_t slots_;
  int lap_shift_;  ///< logarithm of the number of slots
  std::vector<position> out_;
  mpm_ptr<std::byte> in_;
  word read_ = 0;
  word published_ = 0;  ///< how far senders know that this core has read
  active_message_counts counts_;
};

}  // namespace creek
