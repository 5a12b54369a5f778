// SPDX-License-Identifier: Apache-2.0
// Active messages by a ring per pair: each receiver keeps a ring of lines for every sender, and a
// vector with a byte per sender that says how many lines it has written; each sender keeps a vector
// with a byte per receiver that says how many of them it may write again. core/README.md has the
// protocol.
// Sources: the vectors are those of [Rotta 2012], with positions instead of flags, so that no byte
// is ever cleared; the ring is that of [Lamport 1977], whose reader publishes its position in
// batches as in MCRingBuffer [Lee 2010].
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/active_message.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// A message takes as many lines as it needs. Its first word has its length and says which lines of
/// all that were written it begins; the word is written with the line, and the sender's byte alone
/// announces it.
///
/// A poll reads one byte per member, and only the rings that have something. A sender loads nothing
/// while it knows of room.
template <memory_policy Memory>
class pair_ring {
 public:
  static constexpr bool room_is_signalled = true;

  /// Lines of the longest message: a ring has at least as many.
  static constexpr std::size_t message_lines =
      whole_lines<Memory>(sizeof(word) + active_message_bytes) / Memory::line_bytes;
  static constexpr std::size_t max_lines = 255;  // positions are bytes

  /// Returns the bytes per core for rings of `lines` lines.
  static constexpr std::size_t bytes_needed(int members,
                                            std::size_t lines = message_lines) noexcept {
    return 2 * vector_bytes(members) +
           static_cast<std::size_t>(members) * lines * Memory::line_bytes;
  }
  /// Returns the lines per ring where `room` bytes are free, for messages and other things: what
  /// half of it holds, up to 16, but at least one message; 0 if there is no room for that.
  static constexpr std::size_t lines_for(int members, std::size_t room) noexcept {
    constexpr std::size_t enough = 16;
    if (bytes_needed(members) > room) return 0;
    std::size_t lines = message_lines;
    while (lines < enough && bytes_needed(members, lines + 1) <= room / 2) ++lines;
    return lines;
  }
  /// Returns the largest number of members for which lines_for() is not 0.
  static constexpr int max_members(std::size_t room) noexcept {
    int members = 0;
    while (bytes_needed(members + 1) <= room) ++members;
    return members;
  }

  pair_ring(Memory& memory, team members, std::size_t place, std::size_t lines = message_lines)
      : memory_{&memory},
        members_{std::move(members)},
        lines_{lines},
        batch_{static_cast<std::uint8_t>(std::min((lines + 1) / 2, lines + 1 - message_lines))},
        written_{place},
        read_{place + vector_bytes(members_.size())},
        rings_{place + 2 * vector_bytes(members_.size())},
        out_(static_cast<std::size_t>(members_.size())),
        in_(static_cast<std::size_t>(members_.size())),
        seen_(static_cast<std::size_t>(members_.size())) {
    if (lines < message_lines || lines > max_lines) {
      throw usage_error("pair_ring: the lines per ring must be between " +
                        std::to_string(message_lines) + " and " + std::to_string(max_lines) +
                        ", got " + std::to_string(lines));
    }
  }

  /// For a message as long as the last one that found no room, or as the longest.
  [[nodiscard]] bool has_room(int to) {
    return has_room(to, out_[static_cast<std::size_t>(to)].wanted);
  }

  [[nodiscard]] bool try_send(int to, const void* data, std::size_t bytes) {
    detail::require_message(to, members_.size(), bytes);
    writer& p = out_[static_cast<std::size_t>(to)];
    const std::uint8_t lines = lines_of(bytes);
    if (!has_room(to, lines)) {
      p.wanted = lines;
      ++counts_.full;
      return false;
    }
    const mpm_ptr<std::byte> ring = ring_at(to, members_.rank());
    const word header = header_of(p.next, bytes);
    memory_->write(at(ring, p.line * Memory::line_bytes), &header, sizeof header);
    const auto* const from = static_cast<const std::byte*>(data);
    in_pieces(ring, p, bytes, [&](mpm_ptr<std::byte> piece, std::size_t done, std::size_t length) {
      memory_->write(piece, from + done, length);
    });
    memory_->flush();
    advance(p, lines);
    memory_->signal(written(to, members_.rank()), p.next);
    ++counts_.sent;
    return true;
  }

  [[nodiscard]] bool has_message() {
    look();
    for (std::size_t from = 0; from < seen_.size(); ++from) {
      if (seen_[from] != in_[from].next) return found_ = true;
    }
    return false;
  }

  template <class Handler>
  std::size_t poll(Handler&& handle) {
    ++counts_.polls;
    if (!std::exchange(found_, false)) look();
    std::size_t handled = 0;
    for (int from = 0; from < members_.size(); ++from) {
      const auto sender = static_cast<std::size_t>(from);
      // Takes at most a ring full: a handler that polls finds more, and may do so for ever.
      for (std::size_t i = 0; i < lines_ && seen_[sender] != in_[sender].next; ++i) {
        std::array<std::byte, active_message_bytes> message;
        const std::size_t bytes = take(from, message.data());
        ++counts_.received;
        ++handled;
        // The handler may poll; what this leaves in `seen_` and `in_` is newer.
        handle(from, message.data(), bytes);
      }
    }
    found_ = false;  // what a handler found may have been taken since
    if (handled == 0) ++counts_.empty_polls;
    return handled;
  }

  [[nodiscard]] const active_message_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] Memory& memory() const noexcept { return *memory_; }

 private:
  /// The calling core's position in a ring. Lines are counted modulo 256.
  struct position {
    std::size_t line = 0;    ///< where the next message begins
    std::uint8_t next = 0;   ///< lines written or read
    std::uint8_t known = 0;  ///< lines read, as far as the writer knows
  };
  struct writer : position {
    std::uint8_t wanted = message_lines;  ///< lines of the message that has_room() is about
  };

  static constexpr std::size_t vector_bytes(int members) noexcept {
    return whole_lines<Memory>(static_cast<std::size_t>(members));
  }
  static constexpr std::uint8_t lines_of(std::size_t bytes) noexcept {
    return static_cast<std::uint8_t>(whole_lines<Memory>(sizeof(word) + bytes) /
                                     Memory::line_bytes);
  }
  static constexpr word header_of(std::uint8_t number, std::size_t bytes) noexcept {
    return static_cast<word>(number) << 8 | static_cast<word>(bytes);
  }

  [[nodiscard]] bool has_room(int to, std::size_t lines) {
    writer& p = out_[static_cast<std::size_t>(to)];
    if (free_lines(p) >= lines) return true;
    p.known = memory_->load(read(members_.rank(), to));
    return free_lines(p) >= lines;
  }
  [[nodiscard]] std::size_t free_lines(const writer& p) const noexcept {
    return lines_ - static_cast<std::uint8_t>(p.next - p.known);
  }
  void advance(position& p, std::uint8_t lines) const noexcept {
    p.next = static_cast<std::uint8_t>(p.next + lines);
    p.line += lines;
    if (p.line >= lines_) p.line -= lines_;
  }

  /// Reads this core's vector. Also makes sure that lines are not read from old copies.
  void look() {
    memory_->load_row(seen_.data(), written(members_.rank(), 0), seen_.size());
    memory_->charge(work::flags_tested, static_cast<std::int64_t>(seen_.size() + 3) / 4);
  }

  /// Copies the next message of `from`, which is there, and returns its length.
  std::size_t take(int from, std::byte* to) {
    position& p = in_[static_cast<std::size_t>(from)];
    const mpm_ptr<std::byte> ring = ring_at(members_.rank(), from);
    word header = 0;
    memory_->read(&header, at(ring, p.line * Memory::line_bytes), sizeof header);
    const std::size_t bytes = header & 0xff;
    assert(header == header_of(p.next, bytes));
    in_pieces(ring, p, bytes, [&](mpm_ptr<std::byte> piece, std::size_t done, std::size_t length) {
      memory_->read(to + done, piece, length);
    });
    advance(p, lines_of(bytes));
    if (static_cast<std::uint8_t>(p.next - p.known) >= batch_) {
      p.known = p.next;
      memory_->signal(read(from, members_.rank()), p.next);
    }
    return bytes;
  }

  /// Calls move(place, begin, length) for the parts of a message of `bytes` before and behind the
  /// end of the ring.
  template <class Move>
  void in_pieces(mpm_ptr<std::byte> ring, const position& p, std::size_t bytes, Move move) const {
    const std::size_t begin = p.line * Memory::line_bytes + sizeof(word);
    const std::size_t before_end = std::min(bytes, ring_bytes() - begin);
    if (before_end > 0) move(at(ring, begin), std::size_t{0}, before_end);
    if (before_end < bytes) move(ring, before_end, bytes - before_end);
  }

  [[nodiscard]] std::size_t ring_bytes() const noexcept { return lines_ * Memory::line_bytes; }
  [[nodiscard]] static mpm_ptr<std::byte> at(mpm_ptr<std::byte> ring, std::size_t byte) noexcept {
    return ring + static_cast<std::ptrdiff_t>(byte);
  }
  /// Returns the ring that `receiver` keeps for `sender`.
  [[nodiscard]] mpm_ptr<std::byte> ring_at(int receiver, int sender) const {
    return memory_->at(members_.core(receiver),
                       rings_ + static_cast<std::size_t>(sender) * ring_bytes());
  }
  [[nodiscard]] mpm_ptr<std::uint8_t> written(int receiver, int sender) const {
    return memory_->at(members_.core(receiver), written_ + static_cast<std::size_t>(sender))
        .template as<std::uint8_t>();
  }
  [[nodiscard]] mpm_ptr<std::uint8_t> read(int sender, int receiver) const {
    return memory_->at(members_.core(sender), read_ + static_cast<std::size_t>(receiver))
        .template as<std::uint8_t>();
  }

  Memory* memory_;
  team members_;
  std::size_t lines_;
  /// Lines after which a reader publishes its position. A writer that needs a whole message's lines
  /// finds them when all was read, although the reader may still owe `batch_ - 1`.
  std::uint8_t batch_;
  std::size_t written_, read_, rings_;
  std::vector<writer> out_;
  std::vector<position> in_;
  std::vector<std::uint8_t> seen_;  ///< this core's vector at the last look
  bool found_ = false;              ///< has_message() found some: the next poll needs no look
  active_message_counts counts_;
};

}  // namespace creek
