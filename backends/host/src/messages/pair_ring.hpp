// SPDX-License-Identifier: Apache-2.0
// Messages from one worker to another: a ring of cache lines with one writer and one reader. No
// operation is a read-modify-write, and the two share no position: a line says by its first word
// which message it holds. README.md of this module, "Messages", has the protocol and what orders
// it. Sources: a word in each slot says that it is full, as in FastForward [Giacomoni 2008];
// positions are published in batches, as in MCRingBuffer [Lee 2010].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include <creek/core/messages/active_message.hpp>
#include <creek/core/threads/prefetch.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/remote_message.hpp>

namespace creek::host_backend {

/// Place of messages among those to the same reader: a number from a counter that all its writers
/// share. A writer draws a new one only when what it has heard of others may have to come before
/// its next message.
using message_turn = std::uint64_t;

/// A message takes one line, or two if it is longer than `line_bytes`. A ring that stays full
/// continues in its overflow, a larger one, until the reader has caught up.
///
/// The writer's functions are called by one thread at a time, and so are the reader's.
class pair_ring {
 public:
  static constexpr std::size_t lines = 128;
  static constexpr std::size_t overflow_lines = 8192;
  static constexpr std::size_t line_bytes = 48;
  static_assert(active_message_bytes <= 2 * line_bytes);

  /// Throws std::bad_alloc.
  pair_ring() : usual_(std::make_unique<line[]>(lines)) {
    to_.segment = from_.segment = usual_.get();
    to_.mask = from_.mask = lines - 1;
  }

  // --- The writer's -----------------------------------------------------------------------------

  /// Returns whether the next message needs no turn of its own: the writer has heard nothing since
  /// its last one, and the turn is not too long: a reader takes the whole of it before later ones.
  /// `news` counts what the writer has heard.
  [[nodiscard]] bool goes_on(std::uint64_t news) const noexcept {
    return to_.news == news && to_.next < to_.turn_until;
  }
  void begin_turn(message_turn turn, std::uint64_t news) noexcept {
    to_.turn = turn;
    to_.turn_until = to_.next + lines;
    to_.news = news;
  }
  /// Sends at most active_message_bytes; returns false if there is no room.
  [[nodiscard]] bool try_send(const void* message, std::size_t bytes) noexcept {
    const std::uint64_t needed = bytes <= line_bytes ? 1 : 2;
    // A line is kept free for a jump.
    if (to_.next + needed >= to_.free_until) [[unlikely]] {
      if (!finds_room(needed)) return false;
    }
    if (to_.segment != usual_.get()) [[unlikely]]
      return_from_overflow();
    line& first = line_at(to_);
    // The reader had the lines last; several are on their way at once.
    prefetch_to_write(&line_at(to_, lines_ahead));
    if (needed == 1) {
      ext::copy_message(first.payload, message, bytes);
    } else {
      ext::copy_message(first.payload, message, line_bytes);
      ext::copy_message(line_at(to_, 1).payload,
                        static_cast<const std::byte*>(message) + line_bytes, bytes - line_bytes);
    }
    const std::uint64_t position = to_.next;
    to_.next += needed;
    sent_.store(to_.next, std::memory_order_release);
    publish(first, position, bytes);
    return true;
  }
  /// Has a full ring continue in its overflow; returns false if it is there already, if the reader
  /// has not left it yet, or if there is no memory.
  [[nodiscard]] bool overflow() noexcept {
    if (to_.segment != usual_.get()) return false;
    if (overflow_ == nullptr) overflow_.reset(new (std::nothrow) line[overflow_lines]);
    if (overflow_ == nullptr || read_position() < overflow_left_at_) return false;
    usual_left_at_ = jump(overflow_.get(), overflow_lines);
    return true;
  }

  // --- The reader's -----------------------------------------------------------------------------

  [[nodiscard]] bool has_message() const noexcept { return is_there(word_of(line_at(from_))); }
  /// Returns whether the next message, which must be there, has the turn of those before it.
  [[nodiscard]] bool is_in_turn() const noexcept { return next_turn() == turn_; }
  [[nodiscard]] message_turn next_turn() const noexcept { return line_at(from_).turn; }
  /// Returns the head of the next message, which must be there; an empty one at a jump.
  [[nodiscard]] ext::message_head next_head() const noexcept {
    const line& next = line_at(from_);
    if ((word_of(next) & bytes_mask) == jump_mark) return {};
    return ext::head_of(next.payload);
  }
  /// Calls to.take(data, bytes) for up to `limit` messages of the turn that the next one has;
  /// returns their number. The receiver may call this again, or let others do so, once it has
  /// copied what it needs of its message.
  template <class Receiver>
  [[gnu::noinline]] std::size_t poll(const Receiver& to, std::size_t limit) {
    std::size_t handled = 0;
    turn_ = next_turn();
    while (handled < limit) {
      line& first = line_at(from_);
      const std::uint64_t word = word_of(first);
      if (!is_there(word) || !is_in_turn()) break;
      sanitizer::acquired(&first.word);
      // Here the messages before have been copied.
      if (from_.next - read_.load(std::memory_order_relaxed) >= lines / 4) publish_read();
      const auto bytes = static_cast<std::size_t>(word & bytes_mask);
      if (bytes == jump_mark) {
        follow(first);
        continue;
      }
      ++handled;
      if (bytes <= line_bytes) {
        ++from_.next;
        to.take(first.payload, bytes);
      } else {
        std::byte whole[active_message_bytes];
        std::memcpy(whole, first.payload, line_bytes);
        std::memcpy(whole + line_bytes, line_at(from_, 1).payload, bytes - line_bytes);
        from_.next += 2;
        to.take(whole, bytes);
      }
    }
    if (read_.load(std::memory_order_relaxed) != from_.next) publish_read();
    return handled;
  }

  // --- Any thread's -----------------------------------------------------------------------------

  /// Returns false if all messages whose sending happened before have been taken.
  [[nodiscard]] bool is_under_way() const noexcept {
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    return sent_.load(std::memory_order_acquire) > read;
  }

  pair_ring* next_of_reader = nullptr;  ///< link of the reader's list; set before it is in it

 private:
  static constexpr std::uint64_t lines_ahead = 8;
  static constexpr int position_shift = 8;
  static constexpr std::uint64_t bytes_mask = (1 << position_shift) - 1;
  static constexpr std::uint64_t jump_mark = bytes_mask;  ///< in place of a number of bytes
  static_assert(active_message_bytes < jump_mark);

  struct alignas(64) line {
    /// Number of the line since the ring was made, and bytes of the message that begins here. A
    /// line that ends a message keeps the word that it had.
    std::atomic<std::uint64_t> word{0};
    message_turn turn = 0;
    std::byte payload[line_bytes];
  };
  struct jump_target {
    line* segment;
    std::uint64_t mask;
  };
  /// One side's place.
  struct place {
    line* segment = nullptr;
    std::uint64_t mask = 0;
    std::uint64_t next = 1;  ///< number of the next line
  };
  struct writers_place : place {
    std::uint64_t free_until = 1 + lines;  ///< lines before this are free, as far as is known
    message_turn turn = 0;
    std::uint64_t turn_until = 0;  ///< number of the line before which the turn ends
    std::uint64_t news = 0;        ///< what the writer had heard when it began
  };

  static line& line_at(const place& at, std::uint64_t ahead = 0) noexcept {
    return at.segment[(at.next + ahead) & at.mask];
  }
  static std::uint64_t word_of(const line& at) noexcept {
    return at.word.load(std::memory_order_acquire);
  }
  bool is_there(std::uint64_t word) const noexcept { return word >> position_shift == from_.next; }

  void publish(line& first, std::uint64_t position, std::uint64_t bytes) noexcept {
    first.turn = to_.turn;
    sanitizer::releases(&first.word);
    first.word.store(position << position_shift | bytes, std::memory_order_release);
  }
  std::uint64_t read_position() noexcept {
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    sanitizer::acquired(&read_);
    return read;
  }
  void publish_read() noexcept {
    sanitizer::releases(&read_);
    read_.store(from_.next, std::memory_order_release);
  }

  [[gnu::noinline]] bool finds_room(std::uint64_t needed) noexcept {
    const std::uint64_t until = read_position() + to_.mask + 1;
    // Lines of a segment that was left are not in this one.
    if (until > to_.free_until) to_.free_until = until;
    return to_.next + needed < to_.free_until;
  }
  /// Continues at the start of an empty segment; returns the number of the line behind the jump.
  std::uint64_t jump(line* segment, std::size_t size) noexcept {
    line& last = line_at(to_);
    const jump_target target{segment, size - 1};
    std::memcpy(last.payload, &target, sizeof target);
    const std::uint64_t position = to_.next++;
    to_.segment = segment;
    to_.mask = size - 1;
    to_.free_until = to_.next + size;
    publish(last, position, jump_mark);
    return to_.next;
  }
  /// Leaves the overflow when the reader is near: the usual lines are in the caches. Looks now and
  /// then, for the look costs the reader a miss.
  [[gnu::noinline]] void return_from_overflow() noexcept {
    if (to_.next % (lines / 2) > 1) return;
    const std::uint64_t read = read_position();
    if (read < usual_left_at_ || to_.next - read > lines / 2) return;
    overflow_left_at_ = jump(usual_.get(), lines);
  }
  void follow(const line& last) noexcept {
    jump_target target;
    std::memcpy(&target, last.payload, sizeof target);
    from_.segment = target.segment;
    from_.mask = target.mask;
    ++from_.next;
  }

  // The reader's line.
  alignas(64) place from_;
  message_turn turn_ = ~message_turn{0};  ///< of the messages that were taken last
  std::atomic<std::uint64_t> read_{1};    ///< lines before this are free; the reader writes it
  // The writer's lines.
  alignas(64) writers_place to_;
  std::atomic<std::uint64_t> sent_{1};  ///< `next` of the writer behind its last message
  std::unique_ptr<line[]> usual_, overflow_;
  std::uint64_t usual_left_at_ = 0, overflow_left_at_ = 0;  ///< numbers of lines behind jumps
};

}  // namespace creek::host_backend
