// SPDX-License-Identifier: Apache-2.0
// Buffered messages: each core keeps a ring of lines for every sender. A line carries its number
// and the payload together, so a short message costs one line written and the same line read; the
// sender goes on at once. Longer messages take several lines; a full ring makes the sender wait.
// Sources: the mailbox of iRCCE [Clauss 2011]; payload and sequence number in one line as in
// FastForward [Giacomoni 2008].
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The buffered messages of one core with the others of its team. Used by that core only.
///
/// Line n of a ring (n from 1 on, wrapping at 2^32) lies in slot (n - 1) % lines and starts with
/// the word n once its payload is there. The receiver reports how far it has read in one word at
/// the sender, at the latest when half the ring is free again.
template <memory_policy Memory>
class mailbox {
 public:
  static constexpr std::size_t header_bytes = 8;  // the number; keeps the payload aligned
  static constexpr std::size_t payload_bytes = Memory::line_bytes - header_bytes;

  /// Offsets in every member's memory, which is zero at first.
  struct layout {
    std::size_t rings = 0;  ///< `lines` lines per sender
    std::size_t lines = 1;
    std::size_t reads = 0;  ///< a word per receiver: how far it has read
    std::size_t read_stride = sizeof(word);
  };

  mailbox(Memory& memory, const team& members, const layout& where)
      : memory_{&memory},
        members_{members},
        where_{where},
        out_(static_cast<std::size_t>(members.size())),
        in_(static_cast<std::size_t>(members.size())) {}

  /// Sends a message of one line (at most payload_bytes); returns false if the ring is full.
  [[nodiscard]] bool try_post(const void* data, std::size_t bytes, int to) {
    position& p = out_[static_cast<std::size_t>(to)];
    if (p.next - p.known == where_.lines) [[unlikely]] {
      p.known = memory_->load(read_up_to(members_.rank(), to));
      if (p.next - p.known == where_.lines) return false;
    }
    const mpm_ptr<std::byte> line = slot(to, members_.rank(), p);
    memory_->write(line + header_bytes, data, bytes);
    memory_->flush();
    advance(p);
    memory_->signal(line.template as<word>(), p.next);
    return true;
  }
  /// Takes a message of one line, of `bytes` as sent; returns false if there is none.
  [[nodiscard]] bool try_take(void* data, std::size_t bytes, int from) {
    position& p = in_[static_cast<std::size_t>(from)];
    const mpm_ptr<std::byte> line = slot(members_.rank(), from, p);
    memory_->invalidate();  // the number shares the line with what was read the last time round
    if (memory_->load(line.template as<word>()) != p.next + 1) return false;
    get(data, bytes, from, p, line);
    return true;
  }

  /// Sends a message of any size. Waits while the ring is full, until the receiver takes from it.
  void post(const void* data, std::size_t bytes, int to) {
    const auto* rest = static_cast<const std::byte*>(data);
    while (bytes != 0) {
      const std::size_t piece = std::min(bytes, payload_bytes);
      if (!try_post(rest, piece, to)) {
        const position& p = out_[static_cast<std::size_t>(to)];
        memory_->wait_until(read_up_to(members_.rank(), to),
                            [known = p.known](word read) { return read != known; });
        continue;
      }
      rest += piece;
      bytes -= piece;
    }
  }
  /// Receives a message of the size it was sent with.
  void take(void* data, std::size_t bytes, int from) {
    auto* rest = static_cast<std::byte*>(data);
    position& p = in_[static_cast<std::size_t>(from)];
    while (bytes != 0) {
      const std::size_t piece = std::min(bytes, payload_bytes);
      const mpm_ptr<std::byte> line = slot(members_.rank(), from, p);
      memory_->wait_until(line.template as<word>(),
                          [next = p.next + 1](word number) { return number == next; });
      memory_->invalidate();
      get(rest, piece, from, p, line);
      rest += piece;
      bytes -= piece;
    }
  }

 private:
  struct position {
    word next = 0;       // lines sent or taken so far
    word known = 0;      // out: how many of them were read; in: how many the sender knows of
    std::size_t at = 0;  // slot of the next one
  };

  void get(void* data, std::size_t bytes, int from, position& p, mpm_ptr<std::byte> line) {
    memory_->read(data, line + header_bytes, bytes);
    advance(p);
    if ((p.next - p.known) * 2 >= where_.lines) {
      p.known = p.next;
      memory_->signal(read_up_to(from, members_.rank()), p.next);
    }
  }
  void advance(position& p) const noexcept {
    ++p.next;
    if (++p.at == where_.lines) p.at = 0;
  }
  // Returns the line for `p` in the ring that `rank` keeps for `sender`.
  [[nodiscard]] mpm_ptr<std::byte> slot(int rank, int sender, const position& p) const {
    const std::size_t line = static_cast<std::size_t>(sender) * where_.lines + p.at;
    return memory_->at(members_.core(rank), where_.rings + line * Memory::line_bytes);
  }
  // Returns the word at `rank`, a sender, that says how far `receiver` has read.
  [[nodiscard]] mpm_ptr<word> read_up_to(int rank, int receiver) const {
    return memory_
        ->at(members_.core(rank),
             where_.reads + static_cast<std::size_t>(receiver) * where_.read_stride)
        .template as<word>();
  }

  Memory* memory_;
  team members_;
  layout where_;
  std::vector<position> out_;
  std::vector<position> in_;
};

}  // namespace creek
