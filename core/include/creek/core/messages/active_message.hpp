// SPDX-License-Identifier: Apache-2.0
// Active messages: short messages that any core sends to any other; the receiver polls for them and
// calls a handler for each. This file has what the protocols share; each has a file of its own:
// notification_vector.hpp, synchronized_ring.hpp, flagged_slot.hpp, linked_messages.hpp,
// pair_ring.hpp.
// Sources: [Rotta 2011] for the design space, [Rotta 2012] for the first two protocols.
//
// In every protocol, messages from one core to another arrive once and in the order in which they
// were sent. A handler runs after its message has left the protocol's memory, so it may send, and
// poll while it waits to. So two cores that send each other more than there is room for both go
// on.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <creek/core/memory.hpp>

namespace creek {

/// Maximum size in bytes of one message, which lies in the protocol's own memory.
inline constexpr std::size_t active_message_bytes = 96;

/// Message counts of one core's end.
struct active_message_counts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t full = 0;         ///< attempts to send that found no room
  std::uint64_t polls = 0;        ///< looks for messages
  std::uint64_t empty_polls = 0;  ///< looks that found none
};

namespace detail {
/// Stand-in for a message handler: takes the sender's rank, the bytes and their number.
struct message_handler {
  void operator()(int from, const std::byte* data, std::size_t bytes) const;
};
}  // namespace detail

/// One core's end of a protocol; used by that core only. All members of a team make their ends in
/// the same way, over memory that is zero.
template <class Protocol>
concept active_message_protocol = requires(Protocol& p, const Protocol& view, int to,
                                           const void* data, std::size_t bytes,
                                           detail::message_handler handle) {
  // True if the protocol signals new room to a word in the sender's own memory, so that a sender
  // without room may sleep until then.
  { Protocol::room_is_signalled } -> std::convertible_to<bool>;
  // Returns the bytes of message-passing memory per core, for a team of the given size.
  { Protocol::bytes_needed(to) } -> std::same_as<std::size_t>;

  // Sends at most active_message_bytes. Returns false, having sent nothing, if there is no room;
  // the caller must then try again, with the same message or another, until it gets true.
  { p.try_send(to, data, bytes) } -> std::same_as<bool>;
  // Returns whether try_send might find room now.
  { p.has_room(to) } -> std::same_as<bool>;
  // Takes all messages that have arrived, calls the handler for each and returns their number.
  { p.poll(handle) } -> std::same_as<std::size_t>;
  // Returns whether poll would find a message.
  { p.has_message() } -> std::same_as<bool>;

  { view.counts() } -> std::same_as<const active_message_counts&>;
  {p.memory()};
};

/// A protocol whose buffers follow from the room: lines_for() says how long they are.
template <class Protocol>
concept protocol_sized_by_room = active_message_protocol<Protocol> &&
    requires(int members, std::size_t room) {
  { Protocol::lines_for(members, room) } -> std::same_as<std::size_t>;
};

/// Returns the bytes of message-passing memory per core that a protocol takes where `room` bytes
/// are free; may be more than these.
template <active_message_protocol Protocol>
constexpr std::size_t bytes_in_room(int members, std::size_t room) noexcept {
  if constexpr (protocol_sized_by_room<Protocol>) {
    return Protocol::bytes_needed(members, Protocol::lines_for(members, room));
  } else {
    return Protocol::bytes_needed(members);
  }
}
/// Makes the calling core's end over bytes_in_room() bytes, all zero, from offset `place` on.
template <active_message_protocol Protocol, memory_policy Memory, class Team>
Protocol make_in_room(Memory& memory, const Team& members, std::size_t place, std::size_t room) {
  if constexpr (protocol_sized_by_room<Protocol>) {
    return Protocol(memory, members, place, Protocol::lines_for(members.size(), room));
  } else {
    return Protocol(memory, members, place);
  }
}

/// Waits until there is room, handling messages that arrive meanwhile, then sends.
template <active_message_protocol Protocol, class Handler>
void send(Protocol& by, int to, const void* data, std::size_t bytes, Handler&& handle) {
  constexpr cycles between_looks{16};  // estimate: calls and branches of a failed try
  while (!by.try_send(to, data, bytes)) {
    if (by.poll(handle) > 0) continue;
    if constexpr (Protocol::room_is_signalled) {
      by.memory().wait_poll([&] { return by.has_room(to) || by.has_message(); });
    } else {
      by.memory().pause(between_looks);
    }
  }
}

/// Waits until a message has arrived, then handles all that are there.
template <active_message_protocol Protocol, class Handler>
std::size_t receive(Protocol& by, Handler&& handle) {
  for (;;) {
    if (const std::size_t handled = by.poll(handle); handled > 0) return handled;
    by.memory().wait_poll([&] { return by.has_message(); });
  }
}

namespace detail {
/// Returns a word, never zero, that holds a message's length and its sender's rank.
constexpr word message_header(int from, std::size_t bytes) noexcept {
  return static_cast<word>(from) << 8 | static_cast<word>(bytes + 1);
}
constexpr int sender_of(word header) noexcept {
  return static_cast<int>(header >> 8);
}
constexpr std::size_t bytes_of(word header) noexcept {
  return (header & 0xff) - 1;
}
static_assert(active_message_bytes + 1 <= 0xff);

[[noreturn]] void refuse_message(int to, int members, std::size_t bytes);
/// Throws usage_error if a message is too long or its receiver is no member of the team.
inline void require_message(int to, int members, std::size_t bytes) {
  if (to < 0 || to >= members || bytes > active_message_bytes) [[unlikely]] {
    refuse_message(to, members, bytes);
  }
}
}  // namespace detail

}  // namespace creek
