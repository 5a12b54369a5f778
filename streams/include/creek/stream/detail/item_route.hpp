// SPDX-License-Identifier: Apache-2.0
// The way of a channel's items where workers share no memory. README.md has the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <creek/core/memory.hpp>
#include <creek/core/messages/spsc_ring.hpp>
#include <creek/core/process_memory.hpp>

namespace creek::stream::detail {

class channel_base;
class process;

/// News of a channel, for the process at the other end.
enum class news : std::uint8_t {
  items,          ///< for the reader: items that were sent
  room_wanted,    ///< for the reader: the writer waits for room
  end_of_items,   ///< for the reader
  room,           ///< for the writer: free places
  end_of_reader,  ///< for the writer
};

/// Knowledge of each side of a channel about the other one, and the messages between them. The
/// items lie with the reader. The writer knows how many places are free for certain (a virtual
/// FIFO), so whoever takes in what has arrived never waits for room.
///
/// The producer of the ring works on positions that lie here, so its items are hidden from the
/// reader until their message arrives, and it sees no room before that was returned. These and what
/// is sent belong to the writer's worker; what is returned and wanted to the reader's.
class item_route {
 public:
  /// `item_size` is that of the object, without what it points to.
  item_route(channel_base& channel, std::size_t item_size) noexcept
      : channel_(channel), item_size_(item_size) {}

  /// Returns the place of a ring as the writer is to see it.
  [[nodiscard]] spsc_place writers_place(const spsc_place& readers) noexcept {
    return {mpm_ptr<word>{written_}, mpm_ptr<word>{published_}, mpm_ptr<word>{published_},
            readers.slots};
  }

  // On the writer's worker.
  [[nodiscard]] word written() const noexcept { return process_memory::load(position(written_)); }
  [[nodiscard]] bool is_closed() const noexcept {
    return (written() & spsc_place::closed_bit) != 0;
  }
  [[nodiscard]] bool has_room(std::size_t capacity) const noexcept {
    return (written() - process_memory::load(position(published_))) / spsc_place::step < capacity;
  }
  /// Sends what was written, and that the writer has closed the ring.
  void send_written() noexcept;
  void want_room() noexcept { send(news::room_wanted, 0, 0); }
  void add_room(std::size_t count) noexcept;

  // On the reader's worker.
  /// Called when the reader has taken items, with the position up to which room was published.
  void note_read(std::size_t count, word published) noexcept;
  /// Returns the places up to this position, which the reader has left, to the writer.
  void return_room(word published) noexcept;
  void end_reader() noexcept { send(news::end_of_reader, 0, 0); }
  void note_wanted_room() noexcept { room_is_wanted_ = true; }
  [[nodiscard]] bool room_is_wanted() const noexcept { return room_is_wanted_; }

  /// Returns where the reader, or the writer, enters itself when it waits.
  [[nodiscard]] std::atomic<process*>& waiting(bool is_reader) noexcept {
    return is_reader ? waiting_reader_ : waiting_writer_;
  }
  /// Returns whether a message of the channel is under way. Any thread.
  [[nodiscard]] bool is_in_use() const noexcept {
    return under_way_.load(std::memory_order_seq_cst) != 0;
  }
  /// Begins anew with an empty ring, while nothing is under way.
  void restart() noexcept;
  /// Takes all that was written as sent; returns its position.
  word skip_written() noexcept { return sent_ = written() & ~spsc_place::closed_bit; }

 private:
  struct message;
  /// A position, and behind it a reason for closing.
  using place_of_position = word[2];
  [[nodiscard]] static mpm_ptr<word> position(const place_of_position& at) noexcept {
    return mpm_ptr<word>{const_cast<word*>(at)};
  }
  void send(news what, std::size_t count, std::size_t bytes) noexcept;
  void send_to(const process& to, const message& made) const noexcept;
  static void arrive(std::byte* message) noexcept;
  void charge_copies(std::size_t count) const noexcept;

  channel_base& channel_;
  std::size_t item_size_;
  place_of_position written_{}, published_{};
  word sent_ = 0;
  word returned_ = 0;
  bool room_is_wanted_ = false;
  std::atomic<process*> waiting_reader_{nullptr}, waiting_writer_{nullptr};
  std::atomic<unsigned> under_way_{0};
};

}  // namespace creek::stream::detail
