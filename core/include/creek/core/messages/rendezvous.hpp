// SPDX-License-Identifier: Apache-2.0
// Synchronous messages as RCCE has them: the sender puts a chunk into its own message-passing
// memory, sets `sent` at the receiver, and waits for `ready`; the receiver waits for `sent`, gets
// the chunk, and sets `ready` at the sender. Sends and receives may also be left pending and pushed
// on later. Where cores share addresses, a message over a limit hands over its address in place of
// its chunks, and the receiver copies (or moves) it from where it lies. A message may also be
// pipelined: the buffer is cut into parts, and while the receiver gets a chunk from one, the sender
// fills the next. Sources: RCCE [Mattson 2010]; iRCCE [Clauss 2011] for
// pending requests, receives from any peer and pipelining. Different here: the flags count chunks,
// so that setting one needs no clearing, and say into how many parts the sender cuts its buffer, so
// that any receive takes any send; and sends of one core proceed in the order in which they were
// made, as they share one buffer. Where flags and buffers lie is a matter of `message_routes`: with
// write sections (section_layout.hpp) each pair has a buffer of its own, at the receiver.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include <creek/core/messages/message_routes.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

/// Peer of a receive that takes the first message to come, from any rank.
inline constexpr int any_peer = -1;

/// A message on its way, in or out. Handing over by address needs memory that shares addresses and
/// can swap words. The caller keeps the request in place until it is complete.
struct message_request {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
  /// Copies, or moves, a message handed over by address from `from` to `to`; null: chunk by chunk.
  void (*hand_over)(void* to, void* from, std::size_t bytes) = nullptr;
  /// Chunks that may be on their way at once, each in its part of the buffer: 1 as RCCE's send, 2
  /// as iRCCE's pipelined one; at most rendezvous::max_parts. The receiver does as the sender
  /// says.
  std::uint32_t parts = 1;

  std::size_t begun = 0;    // send: bytes that were put into the buffer
  std::size_t through = 0;  // bytes whose chunks are through
  word in_flight = 0;       // send: chunks in the buffer
  bool complete = false;
};

/// The messages of one core with the others of its team. Used by that core only.
template <memory_policy Memory>
class rendezvous {
 public:
  using layout = sender_buffer_layout;

  static constexpr std::uint32_t max_parts = 127;

  rendezvous(Memory& memory, const team& members, const layout& where)
      : rendezvous(memory, members, routes_through_senders(memory, members, where)) {}
  rendezvous(Memory& memory, const team& members, message_routes routes)
      : memory_{&memory},
        members_{members},
        routes_{std::move(routes)},
        sends_(routes_.buffer_per_peer ? static_cast<std::size_t>(members.size()) : 1),
        chunks_to_(static_cast<std::size_t>(members.size())),
        chunks_from_(static_cast<std::size_t>(members.size())),
        receives_(static_cast<std::size_t>(members.size())) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  /// Begins a send or a receive; it proceeds in push() and the waits. An empty message is complete
  /// at once, on both sides, without a word between them.
  void begin_send(message_request& request) {
    request.complete = request.bytes == 0;
    if (request.complete) return;
    queue& sends = sends_to(request.peer);
    sends.push_back(&request);
    push_sends_of(sends);
  }
  /// Begins a receive. With `any_peer` it takes the first message of a peer from which no other
  /// receive is pending; `request.peer` then names that peer.
  void begin_receive(message_request& request) {
    request.complete = request.bytes == 0;
    if (request.complete) return;
    ++receiving_;
    if (request.peer == any_peer) {
      from_any_.push_back(&request);
      push_receives();
      return;
    }
    receives_of(request.peer).push_back(&request);
    push_receive(request.peer);
  }
  /// Returns whether a message of that peer waits for a receive that has not been begun.
  [[nodiscard]] bool arrived(int peer) {
    return receives_of(peer).empty() && parts_from(peer) != 0;
  }

  /// Return whether some sends, or some receives, are not complete.
  [[nodiscard]] bool sending() const noexcept {
    return std::any_of(sends_.begin(), sends_.end(), [](const queue& q) { return !q.empty(); });
  }
  [[nodiscard]] bool receiving() const noexcept { return receiving_ != 0; }

  /// Returns whether it is this request's turn: it is not complete, and no other comes before it.
  [[nodiscard]] bool is_first(const message_request& request) const {
    const auto leads = [&](const queue& in) { return !in.empty() && in.front() == &request; };
    if (std::any_of(sends_.begin(), sends_.end(), leads) || leads(from_any_)) return true;
    return request.peer != any_peer && leads(receives_[static_cast<std::size_t>(request.peer)]);
  }

  /// Moves on all that can be, without waiting: pending sends, and pending receives of all peers.
  void push() {
    // A core's messages to itself go on for as long as each side makes room for the other.
    bool moved = true;
    while (moved) {
      moved = false;
      for (queue& sends : sends_) moved |= push_sends_of(sends);
      if (push_receives()) moved = true;
    }
  }
  /// Waits until the request is complete, pushing on all others meanwhile.
  void wait(message_request& request) {
    if (request.complete) return;
    memory_->wait_poll([&] {
      push();
      return request.complete;
    });
  }
  /// Forgets a request that is not complete. If its first chunk was on the way, nothing more can be
  /// sent to or received from that peer: for leaving after an error only. On return nobody reads
  /// or writes the request's data any more.
  void forget(message_request& request) {
    if (request.in_flight != 0 && request.hand_over) retract(request);
    erase(request);
  }
  /// Moves all messages to other locations, whose words this call makes zero where they lie in this
  /// core's memory. Every member calls it between two barriers, so that nobody sends or receives
  /// meanwhile. Pending requests go on: chunks that were not got are sent again.
  void move_to(message_routes routes) {
    for (queue& sends : sends_) {
      if (!sends.empty()) take_back(sends);
    }
    assert(routes.buffer_per_peer == routes_.buffer_per_peer);
    routes_ = std::move(routes);
    clear_flags();
    std::fill(chunks_to_.begin(), chunks_to_.end(), 0);
    std::fill(chunks_from_.begin(), chunks_from_.end(), 0);
  }
  /// Makes the words zero that lie in this core's memory.
  void clear_flags() {
    for (int peer = 0; peer < members_.size(); ++peer) {
      memory_->store(from(peer).sent, 0);
      memory_->store(to(peer).ready, 0);
    }
    memory_->invalidate();  // some of these lines may have been read as blocks
  }
  /// Takes back a request of which nothing was sent or received; returns false if late or complete.
  [[nodiscard]] bool cancel(message_request& request) {
    if (request.complete || request.begun != 0 || request.through != 0) return false;
    erase(request);
    return true;
  }

 private:
  using queue = std::deque<message_request*>;

  [[nodiscard]] queue& receives_of(int peer) { return receives_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] queue& sends_to(int peer) {
    return sends_[routes_.buffer_per_peer ? static_cast<std::size_t>(peer) : 0];
  }
  [[nodiscard]] const message_route& to(int peer) const {
    return routes_.out[static_cast<std::size_t>(peer)];
  }
  [[nodiscard]] const message_route& from(int peer) const {
    return routes_.in[static_cast<std::size_t>(peer)];
  }
  void erase(message_request& request) {
    for (queue& sends : sends_) std::erase(sends, &request);
    receiving_ -= std::erase(from_any_, &request);
    if (request.peer != any_peer) receiving_ -= std::erase(receives_of(request.peer), &request);
  }

  // A `sent` flag holds how many chunks were sent, modulo 2^count_bits, how many parts the last
  // chunk's message has, and whether that message is `claimed`, below.
  static constexpr int count_bits = 24;
  static constexpr word count_mask = (word{1} << count_bits) - 1;
  static constexpr word claimed = word{1} << 31;
  static_assert(max_parts == (claimed >> count_bits) - 1);
  [[nodiscard]] static word announcement(word chunks, word parts) noexcept {
    return (chunks & count_mask) | parts << count_bits;
  }
  [[nodiscard]] static word parts_in(word announced) noexcept {
    return (announced & ~claimed) >> count_bits;
  }

  // Returns the number of parts of the buffer, at least a line each; a chunk fills one.
  [[nodiscard]] word parts_of(const message_request& request) const {
    const auto lines = static_cast<word>(to(request.peer).buffer_bytes / Memory::line_bytes);
    return std::min({request.parts, lines, max_parts});
  }
  struct chunk {
    mpm_ptr<std::byte> place;
    std::size_t bytes;
  };
  // Returns the chunk `done` bytes into the message, in the route's buffer cut into `parts`.
  [[nodiscard]] static chunk chunk_at(const message_request& request, std::size_t done,
                                      const message_route& route, word parts) {
    const auto buffer = route.buffer;
    if (request.hand_over) return {buffer, request.bytes};
    const std::size_t part = route.buffer_bytes / parts / Memory::line_bytes * Memory::line_bytes;
    const std::size_t place = parts == 1 ? 0 : done / part % parts * part;
    return {buffer + static_cast<std::ptrdiff_t>(place), std::min(part, request.bytes - done)};
  }

  // Sends the first message only, as they share a buffer. Returns true if a chunk got through.
  bool push_sends_of(queue& sends) {
    bool moved = false;
    while (!sends.empty()) {
      message_request& request = *sends.front();
      word& chunks = chunks_to_[static_cast<std::size_t>(request.peer)];
      const word parts = parts_of(request);
      while (request.begun < request.bytes && request.in_flight < parts) {
        put_chunk(request, parts);
        memory_->signal(to(request.peer).sent, announcement(++chunks, parts));
        ++request.in_flight;
      }
      if (!count_got(request, parts)) break;
      moved = true;
      if (request.complete) sends.pop_front();
    }
    return moved;
  }
  // Counts the chunks that the receiver has got since the last look; returns false if none.
  bool count_got(message_request& request, word parts) {
    const word chunks = chunks_to_[static_cast<std::size_t>(request.peer)];
    const word unread = chunks - memory_->load(to(request.peer).ready);
    if (unread >= request.in_flight) return false;  // more only if a flag is damaged
    for (; request.in_flight != unread; --request.in_flight) {
      request.through += chunk_at(request, request.through, to(request.peer), parts).bytes;
    }
    request.complete = request.through == request.bytes;
    return true;
  }
  // Makes the first message begin again behind what the receiver has got.
  void take_back(queue& sends) {
    message_request& request = *sends.front();
    (void)count_got(request, parts_of(request));
    request.begun = request.through;
    request.in_flight = 0;
    if (request.complete) sends.pop_front();
  }

  void put_chunk(message_request& request, word parts) {
    const chunk next = chunk_at(request, request.begun, to(request.peer), parts);
    if (request.hand_over) {
      memory_->write(next.place, &request.data, sizeof request.data);
    } else {
      memory_->write(next.place, request.data + request.begun, next.bytes);
    }
    memory_->flush();
    request.begun += next.bytes;
  }

  // Returns into how many parts the message is cut of which that peer sent a chunk; 0: none came.
  [[nodiscard]] word parts_from(int peer) {
    const word announced = memory_->load(from(peer).sent);
    const word got = chunks_from_[static_cast<std::size_t>(peer)];
    return ((announced ^ got) & count_mask) == 0 ? 0 : parts_in(announced);
  }

  bool push_receives() {
    bool moved = false;
    if (!from_any_.empty()) match_any();
    for (int peer = 0; receiving_ != 0 && peer < members_.size(); ++peer) {
      moved |= push_receive(peer);
    }
    return moved;
  }
  // Matches the peers whose messages have arrived with the receives from any peer, first to first.
  void match_any() {
    for (int peer = 0; !from_any_.empty() && peer < members_.size(); ++peer) {
      if (!arrived(peer)) continue;
      from_any_.front()->peer = peer;
      receives_of(peer).push_back(from_any_.front());
      from_any_.pop_front();
    }
  }
  bool push_receive(int peer) {
    bool moved = false;
    queue& waiting = receives_of(peer);
    while (!waiting.empty()) {
      message_request& request = *waiting.front();
      const word parts = parts_from(peer);
      if (parts == 0) break;
      if (!get_chunk(request, parts)) break;
      moved = true;
      memory_->signal(from(peer).ready, ++chunks_from_[static_cast<std::size_t>(peer)]);
      request.complete = request.through == request.bytes;
      if (request.complete) {
        waiting.pop_front();
        --receiving_;
      }
    }
    return moved;
  }

  // Returns false if the sender took the message back meanwhile.
  bool get_chunk(message_request& request, word parts) {
    const chunk next = chunk_at(request, request.through, from(request.peer), parts);
    memory_->invalidate();
    if (!request.hand_over) {
      memory_->read(request.data + request.through, next.place, next.bytes);
      request.through += next.bytes;
      return true;
    }
    if (!claim(request.peer, parts)) return false;
    std::byte* object = nullptr;
    memory_->read(&object, next.place, sizeof object);
    request.hand_over(request.data, object, request.bytes);
    request.through = request.bytes;
    unclaim(request.peer, parts);
    return true;
  }

  // The sender of an object may leave by an exception while the receiver is about to reach into its
  // memory. So the receiver claims the message in its `sent` flag first, and a sender that leaves
  // takes the announcement back there, or, too late for that, waits until the receiver is through.
  bool claim(int peer, word parts) {
    if constexpr (swapping_memory<Memory>) {
      const word next = next_from(peer, parts);
      return memory_->compare_exchange(from(peer).sent, next, next ^ claimed);
    }
    return true;
  }
  void unclaim(int peer, word parts) {
    if constexpr (swapping_memory<Memory>) {
      memory_->store(from(peer).sent, next_from(peer, parts));
    }
  }
  [[nodiscard]] word next_from(int peer, word parts) const {
    return announcement(chunks_from_[static_cast<std::size_t>(peer)] + 1, parts);
  }
  void retract(message_request& request) {
    word& chunks = chunks_to_[static_cast<std::size_t>(request.peer)];
    if constexpr (swapping_memory<Memory>) {
      const auto flag_there = to(request.peer).sent;
      const word parts = parts_of(request);
      if (memory_->compare_exchange(flag_there, announcement(chunks, parts),
                                    announcement(chunks - 1, parts))) {
        --chunks;
      } else {
        // No wait of the memory, which would throw in an aborted run: a copy ends by itself.
        while (memory_->load(to(request.peer).ready) != chunks) {
        }
      }
    }
  }

  Memory* memory_;
  team members_;
  message_routes routes_;
  std::vector<queue> sends_;       // one, or by peer if each has a buffer
  std::vector<word> chunks_to_;    // chunks sent to each peer
  std::vector<word> chunks_from_;  // chunks got from each
  std::vector<queue> receives_;    // by peer
  queue from_any_;                 // receives from any peer
  std::size_t receiving_ = 0;      // number of pending receives: receives_ and from_any_
};

}  // namespace creek
