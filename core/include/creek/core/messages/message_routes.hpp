// SPDX-License-Identifier: Apache-2.0
// Locations of the words and buffers by which synchronous messages go, and the two arrangements:
// one buffer at each sender, which all its messages use by turns, or a section per sender at each
// receiver.
#pragma once

#include <cstddef>
#include <vector>

#include <creek/core/messages/section_layout.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// Locations used by the messages of one direction between two ranks.
struct message_route {
  mpm_ptr<word> sent;   ///< at the receiver, written by the sender: counts chunks sent
  mpm_ptr<word> ready;  ///< at the sender, written by the receiver: counts chunks got
  mpm_ptr<std::byte> buffer;
  std::size_t buffer_bytes = 0;  ///< whole lines, at least one
};

/// The routes of one rank to and from each peer, itself included. All words are zero at first.
struct message_routes {
  std::vector<message_route> out, in;
  bool buffer_per_peer = false;  ///< sends to different peers need not wait for each other
};

/// Offsets of the flags and the buffer in every member's memory.
struct sender_buffer_layout {
  std::size_t flags = 0;  ///< 2 * size flags, `flag_stride` bytes apart, zero at first
  std::size_t flag_stride = sizeof(word);
  std::size_t buffer = 0;  ///< the chunk on its way; whole lines
  std::size_t buffer_bytes = 0;
};

namespace detail {
template <class Route>
message_routes routes_of(const team& members, Route route) {
  message_routes all;
  for (int peer = 0; peer < members.size(); ++peer) {
    all.out.push_back(route(members.rank(), peer));
    all.in.push_back(route(peer, members.rank()));
  }
  return all;
}
}  // namespace detail

template <memory_policy Memory>
[[nodiscard]] message_routes routes_through_senders(Memory& memory, const team& members,
                                                    const sender_buffer_layout& where) {
  const auto flag = [&](int rank, int number) {
    const std::size_t offset = static_cast<std::size_t>(number) * where.flag_stride;
    return memory.at(members.core(rank), where.flags + offset).template as<word>();
  };
  return detail::routes_of(members, [&](int sender, int receiver) {
    return message_route{flag(receiver, sender), flag(sender, members.size() + receiver),
                         memory.at(members.core(sender), where.buffer), where.buffer_bytes};
  });
}

/// Returns the routes through the sections of `layout`, which begin at offset `place`. The first
/// word of a section's flag line counts the chunks in it, the second those that its sender has got
/// from the receiver. So each line has one writer, and each core waits for words in its own memory.
template <memory_policy Memory>
[[nodiscard]] message_routes routes_through_sections(Memory& memory, const team& members,
                                                     const section_layout& layout,
                                                     std::size_t place) {
  const auto flag = [&](int rank, int writer, std::size_t number) {
    const std::size_t offset = layout.of(rank, writer).flags + number * sizeof(word);
    return memory.at(members.core(rank), place + offset).template as<word>();
  };
  message_routes all = detail::routes_of(members, [&](int sender, int receiver) {
    const write_section section = layout.of(receiver, sender);
    return message_route{flag(receiver, sender, 0), flag(sender, receiver, 1),
                         memory.at(members.core(receiver), place + section.data), section.bytes};
  });
  all.buffer_per_peer = true;
  return all;
}

}  // namespace creek
