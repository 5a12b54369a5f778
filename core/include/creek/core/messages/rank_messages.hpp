// SPDX-License-Identifier: Apache-2.0
// Messages of any length between ranks, received from whichever rank has sent one: the transport of
// calls on ranks (objects/object_space.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// Memory that is sent after the bytes of a message, without a copy.
struct message_block {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< null: the sender keeps the memory until it is sent
};

struct outgoing_message {
  std::vector<std::byte> bytes;
  std::vector<message_block> blocks;
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = bytes.size();
    for (const message_block& each : blocks) sum += each.bytes.size();
    return sum;
  }
};

/// Memory for the blocks of a message that arrives.
class block_target {
 public:
  block_target() = default;
  block_target(const block_target&) = delete;
  block_target& operator=(const block_target&) = delete;
  virtual ~block_target() = default;
  /// One per block, of its size; or none, if the blocks are to be dropped.
  std::vector<std::span<std::byte>> blocks;
};

/// Makes the memory for blocks, when the bytes of their message have arrived.
class block_receiver {
 public:
  virtual std::unique_ptr<block_target> prepare(int from, std::span<const std::byte> bytes,
                                                std::span<const std::uint32_t> sizes) noexcept = 0;

 protected:
  ~block_receiver() = default;
};

/// The messages of one rank. Used by the thread that may use its communicator. Messages from one
/// rank to another arrive in the order in which they were sent.
///
/// The first 4 bytes of a message are its length with all blocks, which send() fills in.
class rank_messages {
 public:
  static constexpr std::size_t length_bytes = sizeof(std::uint32_t);

  struct message {
    int from = -1;
    std::size_t size = 0;                  ///< with all blocks
    std::size_t head = 0;                  ///< without them
    std::vector<std::byte> memory;         ///< at least `head`
    std::unique_ptr<block_target> target;  ///< that the blocks are in; null if there are none
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
      return {memory.data(), head};
    }
  };

  rank_messages() = default;
  rank_messages(const rank_messages&) = delete;
  rank_messages& operator=(const rank_messages&) = delete;
  virtual ~rank_messages() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Begins to send to another rank, and does not wait. Throws usage_error for 4 GB or more.
  void send(outgoing_message&& message, int to) {
    const auto length = static_cast<std::uint32_t>(checked_size(message));
    std::memcpy(message.bytes.data(), &length, sizeof length);
    begin_send(std::move(message), to);
  }
  /// Returns the size of a message. Throws usage_error for 4 GB or more.
  static std::size_t checked_size(const outgoing_message& message) {
    const std::size_t size = message.size();
    if (size != static_cast<std::uint32_t>(size)) [[unlikely]]
      throw_too_long(size);
    return size;
  }
  /// Returns the size from which on a block is better than a copy in the message; all ranks return
  /// the same. By default no size is. Blocks go to the receiver that was set.
  [[nodiscard]] virtual std::size_t min_block_bytes() const noexcept { return no_blocks; }
  static constexpr std::size_t no_blocks = std::numeric_limits<std::size_t>::max();
  void set_block_receiver(block_receiver& to) noexcept { block_receiver_ = &to; }
  /// Returns whether a block without an owner may still be read.
  [[nodiscard]] virtual bool has_blocks_without_owner() { return false; }
  /// Takes the next message, if one has arrived whole; throws creek::error (EBADMSG) for one whose
  /// length is wrong.
  [[nodiscard]] virtual bool try_receive(message& to) = 0;
  /// Waits until there is a message, and takes it.
  virtual void receive(message& to) = 0;

  /// Returns an empty vector, which may have the memory of a message that was sent or recycled.
  [[nodiscard]] std::vector<std::byte> make_buffer() {
    if (unused_.empty()) return {};
    std::vector<std::byte> made = std::move(unused_.back());
    unused_.pop_back();
    unused_bytes_ -= made.capacity();
    made.clear();
    return made;
  }
  /// Keeps the memory of a message for later ones.
  virtual void recycle(std::vector<std::byte>&& memory) {
    constexpr std::size_t max_kept = 64, max_bytes = std::size_t{16} << 20;
    if (memory.capacity() == 0 || unused_.size() == max_kept) return;
    if (unused_bytes_ + memory.capacity() > max_bytes) return;
    unused_bytes_ += memory.capacity();
    unused_.push_back(std::move(memory));
  }

 protected:
  virtual void begin_send(outgoing_message&& message, int to) = 0;
  [[nodiscard]] block_receiver& receiver_of_blocks() const noexcept { return *block_receiver_; }
  /// Throws creek::error: a message of `size` bytes does not have the length that it states.
  [[noreturn]] static void throw_wrong_length(int from, std::size_t stated, std::size_t size);

 private:
  [[noreturn]] static void throw_too_long(std::size_t size);

  block_receiver* block_receiver_ = nullptr;
  std::vector<std::vector<std::byte>> unused_;
  std::size_t unused_bytes_ = 0;
};

/// Messages through the mailboxes of a communicator over a memory policy, in pieces of a line.
template <class Communicator>
class mailbox_messages final : public rank_messages {
 public:
  explicit mailbox_messages(Communicator& ranks)
      : ranks_(&ranks),
        out_(static_cast<std::size_t>(ranks.size())),
        in_(static_cast<std::size_t>(ranks.size())) {}

  [[nodiscard]] int rank() const override { return ranks_->rank(); }
  [[nodiscard]] int size() const override { return ranks_->size(); }
  [[nodiscard]] bool try_receive(message& to) override {
    push();
    for (int looked = 0; looked < size(); ++looked) {
      next_ = (next_ + 1) % size();
      if (next_ != rank() && take_from(next_, to)) return true;
    }
    return false;
  }
  void receive(message& to) override {
    // Each arrival and each report of room is signalled to this rank's memory.
    ranks_->memory().wait_poll([&] { return try_receive(to); });
  }

 private:
  struct piece {
    std::byte bytes[48];
  };
  struct outgoing {
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  };

  void begin_send(outgoing_message&& message, int to) override {
    out_[static_cast<std::size_t>(to)].push_back({std::move(message.bytes), 0});
    push();
  }
  void push() {
    for (int to = 0; to < size(); ++to) {
      auto& queue = out_[static_cast<std::size_t>(to)];
      while (!queue.empty() && push_one(queue.front(), to)) {
        recycle(std::move(queue.front().bytes));
        queue.pop_front();
      }
    }
  }
  /// Returns whether all of the message is sent.
  bool push_one(outgoing& one, int to) {
    while (one.sent < one.bytes.size()) {
      piece next{};
      const std::size_t bytes = std::min(sizeof next, one.bytes.size() - one.sent);
      std::memcpy(next.bytes, one.bytes.data() + one.sent, bytes);
      if (!ranks_->try_post(next, to)) return false;
      one.sent += bytes;
    }
    return true;
  }
  bool take_from(int from, message& to) {
    std::vector<std::byte>& got = in_[static_cast<std::size_t>(from)];
    while (const auto next = ranks_->template try_take<piece>(from)) {
      if (got.empty()) got = make_buffer();
      got.insert(got.end(), std::begin(next->bytes), std::end(next->bytes));
      std::uint32_t length = 0;
      std::memcpy(&length, got.data(), sizeof length);
      if (length < length_bytes) throw_wrong_length(from, length, got.size());
      if (got.size() < length) continue;
      recycle(std::exchange(to.memory, std::exchange(got, {})));
      to.from = from;
      to.size = to.head = length;
      return true;
    }
    return false;
  }

  Communicator* ranks_;
  std::vector<std::deque<outgoing>> out_;   // by receiver
  std::vector<std::vector<std::byte>> in_;  // by sender: what has arrived of a message
  int next_ = 0;
};

/// Returns the messages of a communicator: its own, or those through its mailboxes.
template <class Communicator>
[[nodiscard]] std::unique_ptr<rank_messages> make_rank_messages(Communicator& ranks) {
  if constexpr (requires { ranks.make_rank_messages(); }) {
    return ranks.make_rank_messages();
  } else {
    return std::make_unique<mailbox_messages<Communicator>>(ranks);
  }
}

}  // namespace creek
