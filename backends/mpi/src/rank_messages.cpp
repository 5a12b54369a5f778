// SPDX-License-Identifier: Apache-2.0
// Messages of any length from any rank. A message has one part of up to 64 KB, which a receive from
// any rank takes, the rest, which follows in a message of its own, and blocks, which follow in one
// each.
#include <creek/core/messages/rank_messages.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/mpi/process.hpp>

namespace creek::mpi_backend {
namespace {

/// Maximum bytes of the first part. An estimate: the rest of a long message costs a second message.
constexpr std::size_t part_bytes = std::size_t{64} << 10;

/// Returns the size from which on a block, which is one more message, costs less than two copies;
/// measured by bench_calls. With MPICH a block of 32 KB took between 1.2 and 2.0 times as long as
/// a bare message, depending on the addresses, and copies 1.3 to 1.5 times.
std::size_t min_block_bytes_of(std::string_view implementation) {
  return std::size_t{implementation.starts_with("Open MPI") ? 32u : 64u} << 10;
}

class messages_from_any final : public rank_messages {
 public:
  explicit messages_from_any(channel& over)
      : channel_(&over), min_block_bytes_(min_block_bytes_of(over.implementation())) {}
  ~messages_from_any() override {
    if (first_.done && rests_.empty() && sending_.empty()) return;
    // The run has to end: MPI may still read and write this memory.
    if (!first_.done) channel_->forget(first_);
    forget(rests_);
    for (outgoing& each : sending_) forget(each.parts);
    static std::deque<std::pair<incoming, std::deque<outgoing>>> left_behind;
    left_behind.emplace_back(std::move(in_), std::move(sending_));
  }

  [[nodiscard]] int rank() const override { return channel_->rank(); }
  [[nodiscard]] int size() const override { return channel_->size(); }

  [[nodiscard]] bool try_receive(message& to) override {
    if (!sending_.empty()) end_sends();
    if (!is_receiving_) {
      // Begun no sooner than it is waited for, so that none is left at the end of a barrier.
      if (first_.done) begin_receive();
      if (!channel_->test(first_)) return false;
      take_first_part();
    }
    if (!all_done(rests_)) return false;
    if (!in_.sizes.empty() && in_.target == nullptr) {
      begin_blocks();
      if (!all_done(rests_)) return false;
    }
    hand_over(to);
    return true;
  }

  void receive(message& to) override {
    if (try_receive(to)) return;
    own_activity->begin(operation::serve, 0, channel_->is_part());
    std::optional<back_off> waiting;
    bool is_long = false;
    do {
      const bool copies = is_receiving_ || !sending_.empty();
      if (!waiting || copies != is_long) {
        waiting.emplace(channel_->spin() + copying_time(),
                        longest_sleep(copies ? 2 * part_bytes : 0));
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

  [[nodiscard]] std::size_t min_block_bytes() const noexcept override { return min_block_bytes_; }
  [[nodiscard]] bool has_blocks_without_owner() override {
    end_sends();
    return std::ranges::any_of(sending_, [](const outgoing& each) {
      return std::ranges::any_of(each.message.blocks,
                                 [](const message_block& block) { return block.owner == nullptr; });
    });
  }

 private:
  static constexpr std::size_t max_buffers = 16, max_long_buffer = std::size_t{16} << 20;

  struct outgoing {
    outgoing_message message;
    std::vector<channel::pending> parts;  ///< that are not done
  };
  /// A message that arrives.
  struct incoming {
    std::vector<std::byte> memory;
    std::size_t size = 0, head = 0;
    std::vector<std::uint32_t> sizes;  ///< of its blocks
    std::unique_ptr<block_target> target;
    std::vector<std::byte> dropped;  ///< memory for blocks that nobody wants
  };

  /// Returns how long what was sent since the last message, and what is received, takes at a
  /// gigabyte per second. A wait polls for this long in addition, as channel::finish() does: an
  /// answer comes only after the question has been copied.
  [[nodiscard]] std::chrono::microseconds copying_time() const noexcept {
    return std::chrono::microseconds((sent_bytes_ + (is_receiving_ ? in_.size : 0)) / 1000);
  }

  void forget(std::vector<channel::pending>& all) noexcept {
    for (channel::pending& each : all) {
      if (!each.done) channel_->forget(each);
    }
  }
  [[nodiscard]] bool all_done(std::vector<channel::pending>& all) {
    while (!all.empty() && channel_->test(all.back())) all.pop_back();
    return all.empty();
  }

  void begin_receive() {
    if (in_.memory.size() != part_bytes) {
      if (receive_buffers_.empty()) {
        in_.memory = std::vector<std::byte>(part_bytes);
      } else {
        in_.memory = std::move(receive_buffers_.back());
        receive_buffers_.pop_back();
      }
    }
    channel_->begin_receive_from_any(in_.memory.data(), part_bytes, first_);
  }
  void begin_rest(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    rests_.emplace_back();
    channel_->begin_receive(to, bytes, first_.peer, message_kind::rest, rests_.back());
  }

  void take_first_part() {
    std::uint32_t length = 0;
    const std::size_t got = first_.bytes;
    if (got >= length_bytes) std::memcpy(&length, in_.memory.data(), sizeof length);
    in_.size = in_.head = length;
    in_.sizes.clear();
    std::size_t head_here = got;
    if (got < std::min<std::size_t>(length, part_bytes)) {
      head_here = take_sizes(got);
    } else if (got != std::min<std::size_t>(length, part_bytes)) {
      throw_wrong_length(first_.peer, length, got);
    }
    is_receiving_ = true;
    if (in_.head == head_here) return;
    std::vector<std::byte> whole = std::move(long_buffer_);
    if (whole.size() < in_.head) whole = std::vector<std::byte>(in_.head);
    std::memcpy(whole.data(), in_.memory.data(), head_here);
    recycle(std::exchange(in_.memory, std::move(whole)));
    begin_rest(in_.memory.data() + head_here, in_.head - head_here);
  }
  /// Takes the sizes at the end of the first part of a message with blocks; returns the number of
  /// bytes before them.
  std::size_t take_sizes(std::size_t got) {
    const auto wrong = [&] { throw_wrong_length(first_.peer, in_.size, got); };
    std::uint32_t count = 0;
    if (got < length_bytes + sizeof count) wrong();
    std::memcpy(&count, in_.memory.data() + got - sizeof count, sizeof count);
    if (count == 0 || count > (got - length_bytes) / sizeof count - 1) wrong();
    in_.sizes.resize(count);
    const std::size_t head_here = got - bytes_of_sizes(count);
    std::memcpy(in_.sizes.data(), in_.memory.data() + head_here, count * sizeof count);
    const std::size_t blocks = sum_of_sizes();
    if (blocks > in_.size || in_.size - blocks < head_here) wrong();
    in_.head = in_.size - blocks;
    return head_here;
  }
  [[nodiscard]] std::size_t sum_of_sizes() const {
    return std::accumulate(in_.sizes.begin(), in_.sizes.end(), std::size_t{0});
  }

  /// Has the memory for the blocks made and begins to receive them.
  void begin_blocks() {
    auto target =
        receiver_of_blocks().prepare(first_.peer, {in_.memory.data(), in_.head}, in_.sizes);
    if (target->blocks.empty()) in_.dropped.resize(sum_of_sizes());
    in_.target = std::move(target);
    for (const auto block : in_.target->blocks) begin_rest(block.data(), block.size());
    if (in_.dropped.empty()) return;
    std::byte* at = in_.dropped.data();
    for (const std::uint32_t bytes : in_.sizes) {
      begin_rest(at, bytes);
      at += bytes;
    }
  }

  void hand_over(message& to) {
    recycle(std::exchange(to.memory, std::exchange(in_.memory, {})));
    to.from = first_.peer;
    to.size = in_.size;
    to.head = in_.head;
    to.target = std::move(in_.target);
    in_.sizes.clear();
    in_.dropped = {};
    is_receiving_ = false;
    sent_bytes_ = 0;
  }

  [[nodiscard]] static constexpr std::size_t bytes_of_sizes(std::size_t blocks) noexcept {
    return (blocks + 1) * sizeof(std::uint32_t);
  }
  void begin_send(outgoing_message&& message, int to) override {
    sent_bytes_ += message.size();
    if (!message.blocks.empty()) return begin_send_with_blocks(std::move(message), to);
    const std::size_t first = std::min(message.bytes.size(), part_bytes);
    channel::pending begun;
    channel_->begin_send(message.bytes.data(), first, to, begun, message_kind::from_any);
    if (first == message.bytes.size() && channel_->test(begun)) {
      return recycle(std::move(message.bytes));
    }
    outgoing& made = sending_.emplace_back(outgoing{std::move(message), {begun}});
    begin_rest_of_send(made, made.message.bytes.data() + first, made.message.bytes.size() - first,
                       to);
  }
  void begin_rest_of_send(outgoing& made, const std::byte* from, std::size_t bytes, int to) {
    if (bytes == 0) return;
    made.parts.emplace_back();
    channel_->begin_send(from, bytes, to, made.parts.back(), message_kind::rest);
  }
  /// The first part then is shorter than the message and than a part, and ends with the sizes of
  /// the blocks and their number.
  void begin_send_with_blocks(outgoing_message&& message, int to) {
    std::vector<std::uint32_t> sizes;
    for (const message_block& each : message.blocks) {
      sizes.push_back(static_cast<std::uint32_t>(each.bytes.size()));
    }
    sizes.push_back(static_cast<std::uint32_t>(sizes.size()));
    const auto sizes_bytes = std::as_bytes(std::span(sizes));
    const std::size_t head_here =
        std::min(message.bytes.size(), part_bytes - 1 - sizes_bytes.size());
    message.bytes.insert(message.bytes.begin() + static_cast<std::ptrdiff_t>(head_here),
                         sizes_bytes.begin(), sizes_bytes.end());
    const std::size_t first = head_here + sizes_bytes.size();
    channel::pending begun;
    channel_->begin_send(message.bytes.data(), first, to, begun, message_kind::from_any);
    outgoing& made = sending_.emplace_back(outgoing{std::move(message), {begun}});
    begin_rest_of_send(made, made.message.bytes.data() + first, made.message.bytes.size() - first,
                       to);
    for (const message_block& each : made.message.blocks) {
      begin_rest_of_send(made, each.bytes.data(), each.bytes.size(), to);
    }
  }
  void end_sends() {
    std::erase_if(sending_, [&](outgoing& each) {
      if (!all_done(each.parts)) return false;
      recycle(std::move(each.message.bytes));
      return true;
    });
  }

  channel* channel_;
  std::size_t min_block_bytes_;
  incoming in_;
  bool is_receiving_ = false;  ///< the first part has arrived, and the rest is to be received
  channel::pending first_;
  std::vector<channel::pending> rests_;  ///< that are not done
  std::deque<outgoing> sending_;
  std::size_t sent_bytes_ = 0;                           ///< since the last message was received
  std::vector<std::vector<std::byte>> receive_buffers_;  ///< of part_bytes each
  std::vector<std::byte> long_buffer_;                   ///< for the next long message, or empty
};

}  // namespace

std::unique_ptr<rank_messages> make_rank_messages(channel& over) {
  return std::make_unique<messages_from_any>(over);
}

}  // namespace creek::mpi_backend
