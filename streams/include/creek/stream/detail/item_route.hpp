// SPDX-License-Identifier: Apache-2.0
// The way of a channel's items where workers share no memory. README.md has the protocol.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <creek/core/memory.hpp>

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
/// FIFO), so whoever takes in what has arrived never waits for room. `written` and `room` belong to
/// the writer's worker, `returned` and `room_is_wanted` to the reader's.
class item_route {
 public:
  /// `item_size` is that of the object, without what it points to.
  item_route(channel_base& channel, std::size_t capacity, std::size_t item_size) noexcept
      : channel_(channel), item_size_(item_size), room_(capacity) {}

  // On the writer's worker.
  [[nodiscard]] std::size_t room() const noexcept { return room_; }
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  [[nodiscard]] bool has_ended() const noexcept { return writer_has_ended_; }
  /// Sends items, which lie in the ring and are `bytes` long together.
  void send_items(std::size_t count, std::size_t bytes) noexcept;
  void want_room() noexcept { send(news::room_wanted, 0, 0); }
  void end_items() noexcept;
  void add_room(std::size_t count) noexcept { room_ += count; }

  // On the reader's worker.
  /// Called when the reader has taken items, with the position up to which room was published.
  void note_read(std::size_t count, word published) noexcept;
  /// Returns the places up to this position, which the reader has left, to the writer.
  void return_room(word published) noexcept;
  void end_reader() noexcept { send(news::end_of_reader, 0, 0); }
  void note_wanted_room() noexcept { room_is_wanted_ = true; }
  [[nodiscard]] bool room_is_wanted() const noexcept { return room_is_wanted_; }

  /// Returns whether a message of the channel is under way. Any thread.
  [[nodiscard]] bool is_in_use() const noexcept {
    return under_way_.load(std::memory_order_seq_cst) != 0;
  }
  /// Begins anew with a ring in which so many places are free, while nothing is under way.
  void restart(std::size_t room) noexcept;

 private:
  struct message;
  void send(news what, std::size_t count, std::size_t bytes) noexcept;
  void send_to(const process& to, const message& made) const noexcept;
  static void arrive(std::byte* message) noexcept;

  void charge_copies(std::size_t count) const noexcept;

  channel_base& channel_;
  std::size_t item_size_;
  std::size_t room_;
  std::uint64_t written_ = 0;
  bool writer_has_ended_ = false;
  bool room_is_wanted_ = false;
  word returned_ = 0;
  std::atomic<unsigned> under_way_{0};
};

}  // namespace creek::stream::detail
