// SPDX-License-Identifier: Apache-2.0
// Typed messages between the cores of a team, and the space they need. Point-to-point messages are
// here, the collective operations in collectives.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/messages/collectives.hpp>
#include <creek/core/messages/mailbox.hpp>
#include <creek/core/messages/message_value.hpp>
#include <creek/core/messages/neighbour_graph.hpp>
#include <creek/core/messages/rendezvous.hpp>
#include <creek/core/messages/section_layout.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>

namespace creek {

/// Location of the buffers of synchronous messages (`send`, `isend`, `exchange` and the collectives
/// over them).
enum class message_buffers : std::uint8_t {
  at_sender,       ///< a buffer at each sender, which the receiver reads (rendezvous.hpp)
  write_sections,  ///< a section per sender at each receiver (section_layout.hpp)
};

struct communicator_options {
  /// Bytes of each core's memory that carry chunks of synchronous messages; 0: a quarter of it, or
  /// with write sections all that is left.
  std::size_t buffer_bytes = 0;
  /// Lines of each ring of buffered messages; 0: what fits into a quarter of the memory, at
  /// least 1; with write sections 1.
  std::size_t mailbox_lines = 0;
  /// Longer messages are copied once, past message-passing memory, where cores share addresses.
  std::size_t hand_over_above = 4096;
  /// Chunks of a synchronous message that may be on their way at once: 1 as RCCE's send and
  /// receive, 2 as iRCCE's pipelined ones.
  std::uint32_t chunks_in_flight = 1;
  message_buffers buffers = message_buffers::at_sender;
};

/// The handle of one core on its team. Making one is collective: every member makes its own, with
/// the same options, over allocators in the same state. Used by its core only.
///
/// Messages between two ranks arrive in the order they were sent; there are no tags, sizes and
/// types must agree. Synchronous (`send`, `isend`) and buffered (`post`) messages do not mix: each
/// kind has its own receive.
template <memory_policy Memory>
class communicator : public collectives<communicator<Memory>> {
 public:
  using memory_type = Memory;

  /// True if objects of type T can be moved between cores: T is no lvalue, and moving it cannot
  /// throw half-way.
  template <class T>
  static constexpr bool movable_here =
      Memory::shares_addresses&& std::is_object_v<T> && !std::is_const_v<T> &&
      std::is_nothrow_move_constructible_v<T>;

  /// A send or receive that was begun; call wait() or test() until it is complete. If one is
  /// destroyed before that, as by an exception, its peer becomes unusable.
  class request {
   public:
    request(const request&) = delete;
    request& operator=(const request&) = delete;
    ~request() {
      if (!message_.complete) owner_->rendezvous_.forget(message_);
    }
    void wait() { owner_->rendezvous_.wait(message_); }
    [[nodiscard]] bool test() {
      if (!message_.complete) owner_->rendezvous_.push();
      return message_.complete;
    }

   private:
    friend class communicator;
    request(communicator& owner, message_request message, bool sends)
        : owner_{&owner}, message_{message} {
      sends ? owner.rendezvous_.begin_send(message_) : owner.rendezvous_.begin_receive(message_);
    }
    communicator* owner_;
    message_request message_;
  };

  /// Makes one over memory that nobody has written yet (all zero). Throws `usage_error` if what is
  /// left of the memory does not hold a communicator.
  communicator(Memory& memory, symmetric_allocator& allocator, team members,
               communicator_options options = {})
      : communicator{memory, allocator, std::move(members), options, nullptr} {}
  /// Makes one over memory that may have been used before, for some or all ranks of `parent`. All
  /// ranks of the parent call it together, each with the team it will belong to.
  communicator(communicator& parent, symmetric_allocator& allocator, team members,
               communicator_options options = {})
      : communicator{parent.memory(), allocator, std::move(members), options, &parent} {}
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  [[nodiscard]] int rank() const noexcept { return members_.rank(); }
  [[nodiscard]] int size() const noexcept { return members_.size(); }
  [[nodiscard]] Memory& memory() noexcept { return *memory_; }
  [[nodiscard]] const team& members() const noexcept { return members_; }

  /// Blocks until all ranks have called it as often as this one; log2 P rounds.
  void barrier() { barrier_.wait(); }

  /// States which ranks send each other most messages; returns the neighbours of this rank. All
  /// ranks call it with the same graph, at any time. Write sections give neighbours the longest
  /// sections from then on; other protocols change nothing. Like a barrier it waits for all ranks,
  /// while pending requests rest; a message that is partly received goes on afterwards. Throws
  /// usage_error, before it waits, if the graph has another number of ranks or the sections do not
  /// fit.
  std::vector<int> declare_neighbours(const neighbour_graph& graph) {
    if (graph.size() != size()) {
      throw usage_error("declare_neighbours: the graph has " + std::to_string(graph.size()) +
                        " ranks, the communicator " + std::to_string(size()));
    }
    if (options_.buffers == message_buffers::write_sections) {
      lay_out({graph, space_.buffer.bytes(), Memory::line_bytes});
    }
    return {graph.of(rank()).begin(), graph.of(rank()).end()};
  }
  /// Goes back to equal sections; called like declare_neighbours().
  void forget_neighbours() {
    if (options_.buffers == message_buffers::write_sections) {
      lay_out({size(), space_.buffer.bytes(), Memory::line_bytes});
    }
  }

  /// Sends `data`; returns when the receiver has all of it.
  template <message_value T>
  void send(std::span<const T> data, int to) {
    isend(data, to).wait();
  }
  template <message_value T>
  void recv(std::span<T> data, int from) {
    irecv(data, from).wait();
  }
  template <message_value T>
  void send(const T& value, int to) {
    send(std::span<const T>{&value, 1}, to);
  }
  template <message_value T>
  [[nodiscard]] T recv(int from) {
    T value{};
    recv(std::span<T>{&value, 1}, from);
    return value;
  }

  /// Begins to send or receive; the data must stay in place until the request is complete.
  template <message_value T>
  [[nodiscard]] request isend(std::span<const T> data, int to) {
    // The cast is safe: the receiver only reads through this pointer.
    auto* bytes = const_cast<std::byte*>(std::as_bytes(data).data());
    return {*this,
            {bytes, data.size_bytes(), check(to), hand_over_for(data.size_bytes()),
             options_.chunks_in_flight},
            true};
  }
  template <message_value T>
  [[nodiscard]] request irecv(std::span<T> data, int from) {
    return {*this,
            {std::as_writable_bytes(data).data(), data.size_bytes(), check(from),
             hand_over_for(data.size_bytes()), options_.chunks_in_flight},
            false};
  }

  /// Moves an object into the receiver, which gets it by `recv_moved`; copies nothing that it owns.
  /// Returns when the object has been moved out of.
  template <class T>
  requires movable_here<T>
  void send_moved(T&& object, int to) {
    request{*this, moved(&object, to, move_into<T>), true}.wait();
  }
  template <class T>
  requires movable_here<T>
  [[nodiscard]] T recv_moved(int from) {
    std::optional<T> object;
    request{*this, moved(&object, from, move_into<T>), false}.wait();
    return std::move(*object);
  }

  /// Sends to one rank and receives from another at the same time; either may be this rank itself.
  template <message_value T>
  void exchange(std::span<const T> out, int to, std::span<T> in, int from) {
    request sending = isend(out, to);
    request receiving = irecv(in, from);
    receiving.wait();
    sending.wait();
  }
  template <class T>
  requires movable_here<T>
  [[nodiscard]] T exchange_moved(T&& object, int to, int from) {
    request sending{*this, moved(&object, to, move_into<T>), true};
    std::optional<T> got;
    request receiving{*this, moved(&got, from, move_into<T>), false};
    receiving.wait();
    sending.wait();
    return std::move(*got);
  }

  /// Puts a message into the receiver's mailbox; waits only while that is full. Two ranks that fill
  /// each other's mailbox before they take wait for ever.
  template <message_value T>
  void post(std::span<const T> data, int to) {
    mailbox_.post(data.data(), data.size_bytes(), check(to));
  }
  template <message_value T>
  void take(std::span<T> data, int from) {
    mailbox_.take(data.data(), data.size_bytes(), check(from));
  }
  template <message_value T>
  void post(const T& value, int to) {
    mailbox_.post(&value, sizeof value, check(to));
  }
  template <message_value T>
  [[nodiscard]] T take(int from) {
    T value{};
    mailbox_.take(&value, sizeof value, check(from));
    return value;
  }
  /// Do not wait: return false if the mailbox is full, nothing if it is empty.
  template <message_value T>
  requires(sizeof(T) <= mailbox<Memory>::payload_bytes)
      [[nodiscard]] bool try_post(const T& value, int to) {
    return mailbox_.try_post(&value, sizeof value, check(to));
  }
  template <message_value T>
  requires(sizeof(T) <= mailbox<Memory>::payload_bytes)
      [[nodiscard]] std::optional<T> try_take(int from) {
    T value{};
    if (!mailbox_.try_take(&value, sizeof value, check(from))) return std::nullopt;
    return value;
  }

 private:
  // The blocks of a communicator, each at the same offset at every member.
  struct space {
    space(Memory& memory, symmetric_allocator& allocator, int size,
          const communicator_options& options) {
      const bool sections = options.buffers == message_buffers::write_sections;
      const auto ranks = static_cast<std::size_t>(size);
      const std::size_t quarter = memory.mpm_bytes() / 4;
      // The mailbox needs a word per peer, a buffer at the sender two more: a line each where that
      // is cheap, so that senders do not share lines.
      const std::size_t words = sections ? 1 : 3;
      const bool roomy = !sections && words * ranks * Memory::line_bytes <= quarter;
      const std::size_t stride = roomy ? Memory::line_bytes : sizeof(word);
      flags = claim(allocator, words * ranks * stride, "message flags");
      const std::size_t ring = ranks * Memory::line_bytes;
      std::size_t lines = options.mailbox_lines;
      if (lines == 0) lines = sections ? 1 : std::max<std::size_t>(1, quarter / ring);
      rings = claim(allocator, lines * ring, "mailbox rings");
      barrier =
          claim(allocator, dissemination_barrier<Memory>::bytes_needed(size), "barrier flags");
      std::size_t chunks = options.buffer_bytes;
      if (chunks == 0) chunks = sections ? allocator.free_bytes() : quarter;
      buffer = claim(allocator, chunks, "message buffer");
      buffer_layout = {flags.offset(), stride, buffer.offset(), buffer.bytes()};
      mailbox_layout = {rings.offset(), lines, flags.offset() + (words - 1) * ranks * stride,
                        stride};
    }

    static mpm_block claim(symmetric_allocator& allocator, std::size_t bytes, const char* name) {
      std::optional<mpm_block> block = allocator.allocate(bytes, name);
      if (!block) {
        throw usage_error("communicator: " + std::to_string(bytes) +
                          " bytes of message-passing memory wanted, " +
                          std::to_string(allocator.free_bytes()) +
                          " left; give cores more of it or choose smaller buffers");
      }
      return std::move(*block);
    }
    // Each member clears its own; words, since those must be zero before others look.
    void clear(Memory& memory) const {
      for (const mpm_block* block : {&flags, &rings, &barrier}) clear(memory, *block);
    }
    static void clear(Memory& memory, const mpm_block& block) {
      const auto words = memory.at(memory.self(), block.offset()).template as<word>();
      for (std::size_t i = 0; i < block.bytes() / sizeof(word); ++i) {
        memory.store(words + static_cast<std::ptrdiff_t>(i), 0);
      }
    }

    mpm_block flags, rings, barrier, buffer;
    sender_buffer_layout buffer_layout;
    typename mailbox<Memory>::layout mailbox_layout;
  };

  communicator(Memory& memory, symmetric_allocator& allocator, team members,
               communicator_options options, communicator* parent)
      : memory_{&memory},
        members_{std::move(members)},
        options_{options},
        // Every part of a parent gets the parent's size, so that all allocators stay in step.
        space_{memory, allocator, parent ? parent->size() : members_.size(), options_},
        rendezvous_{memory, members_, routes()},
        mailbox_{memory, members_, space_.mailbox_layout},
        barrier_{memory, members_, space_.barrier.offset()} {
    if (parent == nullptr) return;
    space_.clear(memory);
    if (options_.buffers == message_buffers::write_sections) rendezvous_.clear_flags();
    parent->barrier();
  }

  // Returns the routes of synchronous messages at first.
  [[nodiscard]] message_routes routes() {
    if (options_.buffers == message_buffers::at_sender) {
      return routes_through_senders(*memory_, members_, space_.buffer_layout);
    }
    return routes_of({size(), space_.buffer.bytes(), Memory::line_bytes});
  }
  [[nodiscard]] message_routes routes_of(const section_layout& layout) {
    return routes_through_sections(*memory_, members_, layout, space_.buffer.offset());
  }
  // Between the barriers nobody sends or receives: before the first each rank may use the old
  // sections, after the second all use the new ones, whose flags are zero.
  void lay_out(const section_layout& layout) {
    message_routes next = routes_of(layout);
    barrier();
    rendezvous_.move_to(std::move(next));
    barrier();
  }

  using hand_over = void (*)(void* to, void* from, std::size_t bytes);

  [[nodiscard]] hand_over hand_over_for(std::size_t bytes) const noexcept {
    if (!Memory::shares_addresses || bytes <= options_.hand_over_above) return nullptr;
    return [](void* to, void* from, std::size_t size) { std::memcpy(to, from, size); };
  }
  template <class T>
  static void move_into(void* to, void* from, std::size_t /*bytes*/) {
    static_cast<std::optional<T>*>(to)->emplace(std::move(*static_cast<T*>(from)));
  }
  [[nodiscard]] message_request moved(void* object, int peer, hand_over move) const {
    return {static_cast<std::byte*>(object), 1, check(peer), move};
  }
  [[nodiscard]] int check(int peer) const {
    if (peer < 0 || peer >= size()) {
      throw usage_error("communicator: rank " + std::to_string(peer) + " of " +
                        std::to_string(size()));
    }
    return peer;
  }

  Memory* memory_;
  team members_;
  communicator_options options_;
  space space_;
  rendezvous<Memory> rendezvous_;
  mailbox<Memory> mailbox_;
  dissemination_barrier<Memory> barrier_;
};

}  // namespace creek
