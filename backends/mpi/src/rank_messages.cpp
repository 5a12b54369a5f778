// SPDX-License-Identifier: Apache-2.0
// Messages of any length from any rank. A message has one part of up to 64 KB, which a receive from
// any rank takes, and the rest, which follows in a message of its own.
#include <creek/core/messages/rank_messages.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include <creek/mpi/process.hpp>

namespace creek::mpi_backend {
namespace {

/// Maximum bytes of the first part. An estimate: the rest of a long message costs a second message.
constexpr std::size_t part_bytes = std::size_t{64} << 10;

class messages_from_any final : public rank_messages {
 public:
  explicit messages_from_any(channel& over) : channel_(&over) {}
  ~messages_from_any() override {
    if (first_.done && rest_.done && sending_.empty()) return;
    // The run has to end: MPI may still read and write this memory.
    if (!first_.done) channel_->forget(first_);
    if (!rest_.done) channel_->forget(rest_);
    for (outgoing& each : sending_) {
      for (channel::pending& part : each.parts) {
        if (!part.done) channel_->forget(part);
      }
    }
    static std::deque<std::vector<std::byte>> left_behind;
    left_behind.push_back(std::move(in_));
    for (outgoing& each : sending_) left_behind.push_back(std::move(each.bytes));
  }

  [[nodiscard]] int rank() const override { return channel_->rank(); }
  [[nodiscard]] int size() const override { return channel_->size(); }

  [[nodiscard]] bool try_receive(message& to) override {
    if (!sending_.empty()) end_sends();
    if (!rest_.done) return channel_->test(rest_) && hand_over(to);
    // Begun no sooner than it is waited for, so that none is left at the end of a barrier.
    if (first_.done) begin_receive();
    if (!channel_->test(first_)) return false;
    std::uint32_t length = 0;
    const std::size_t got = first_.bytes;
    if (got >= length_bytes) std::memcpy(&length, in_.data(), sizeof length);
    if (got != std::min<std::size_t>(length, part_bytes)) {
      throw_wrong_length(first_.peer, length, got);
    }
    in_size_ = length;
    if (in_size_ <= part_bytes) return hand_over(to);
    std::vector<std::byte> whole = std::move(long_buffer_);
    if (whole.size() < in_size_) whole = std::vector<std::byte>(in_size_);
    std::memcpy(whole.data(), in_.data(), part_bytes);
    recycle(std::exchange(in_, std::move(whole)));
    channel_->begin_receive(in_.data() + part_bytes, in_size_ - part_bytes, first_.peer,
                            message_kind::rest, rest_);
    return channel_->test(rest_) && hand_over(to);
  }

  void receive(message& to) override {
    if (try_receive(to)) return;
    own_activity->begin(operation::serve, 0, channel_->is_part());
    std::optional<back_off> waiting;
    bool is_long = false;
    do {
      const bool copies = !rest_.done || !sending_.empty();
      if (!waiting || copies != is_long) {
        waiting.emplace(channel_->spin(), longest_sleep(copies ? 2 * part_bytes : 0));
      }
      is_long = copies;
      waiting->pause();
    } while (!try_receive(to));
    own_activity->end();
  }

  void recycle(std::vector<std::byte>&& memory) override {
    if (memory.size() == part_bytes && receive_buffers_.size() < max_buffers) {
      receive_buffers_.push_back(std::move(memory));
    } else if (memory.size() > long_buffer_.size() && memory.size() > part_bytes &&
               memory.size() <= max_long_buffer) {
      long_buffer_ = std::move(memory);
    } else {
      rank_messages::recycle(std::move(memory));
    }
  }

 private:
  static constexpr std::size_t max_buffers = 16, max_long_buffer = std::size_t{16} << 20;

  struct outgoing {
    std::vector<std::byte> bytes;
    channel::pending parts[2];
    [[nodiscard]] bool is_done(channel& over) { return over.test(parts[0]) && over.test(parts[1]); }
  };

  void begin_receive() {
    if (in_.size() != part_bytes) {
      if (receive_buffers_.empty()) {
        in_ = std::vector<std::byte>(part_bytes);
      } else {
        in_ = std::move(receive_buffers_.back());
        receive_buffers_.pop_back();
      }
    }
    channel_->begin_receive_from_any(in_.data(), part_bytes, first_);
  }

  bool hand_over(message& to) {
    recycle(std::exchange(to.memory, std::exchange(in_, {})));
    to.from = first_.peer;
    to.size = in_size_;
    return true;
  }

  void begin_send(std::vector<std::byte>&& bytes, int to) override {
    outgoing made{std::move(bytes), {}};
    const std::size_t first = std::min(made.bytes.size(), part_bytes);
    channel_->begin_send(made.bytes.data(), first, to, made.parts[0], message_kind::from_any);
    channel_->begin_send(made.bytes.data() + first, made.bytes.size() - first, to, made.parts[1],
                         message_kind::rest);
    if (made.is_done(*channel_)) return recycle(std::move(made.bytes));
    sending_.push_back(std::move(made));
  }
  void end_sends() {
    std::erase_if(sending_, [&](outgoing& each) {
      if (!each.is_done(*channel_)) return false;
      recycle(std::move(each.bytes));
      return true;
    });
  }

  channel* channel_;
  std::vector<std::byte> in_;  ///< what arrives
  std::size_t in_size_ = 0;
  channel::pending first_, rest_;
  std::deque<outgoing> sending_;
  std::vector<std::vector<std::byte>> receive_buffers_;  ///< of part_bytes each
  std::vector<std::byte> long_buffer_;                   ///< for the next long message, or empty
};

}  // namespace

std::unique_ptr<rank_messages> make_rank_messages(channel& over) {
  return std::make_unique<messages_from_any>(over);
}

}  // namespace creek::mpi_backend
