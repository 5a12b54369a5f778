// SPDX-License-Identifier: Apache-2.0
// Messages of a channel between two workers that share no memory.
#include <creek/stream/detail/item_route.hpp>

#include <cstring>

#include <creek/core/charge.hpp>
#include <creek/stream/network.hpp>
#include <creek/tasking/ext/remote_message.hpp>

#include "network_state.hpp"

namespace creek::stream::detail {

/// Content of a message. The items lie in the ring: their bytes are only counted.
struct item_route::message {
  ext::message_head head;
  item_route* route;
  std::size_t bytes;
  std::uint32_t count;
  news what;
  /// Items of more bytes go by way of memory that all workers share. In several messages they would
  /// be there sooner, but these fill the place that a worker has for them: then all who send to it
  /// wait until it has time.
  static constexpr std::size_t max_bytes_sent = active_message_bytes - 48;
  [[nodiscard]] bool is_sent() const noexcept { return bytes <= max_bytes_sent; }
};

void item_route::send_written() noexcept {
  const word now = written() & ~spsc_place::closed_bit;
  const std::size_t count = (now - sent_) / spsc_place::step;
  sent_ = now;
  if (count != 0) send(news::items, count, channel_.bytes_of_last(count));
  if (is_closed()) send(news::end_of_items, 0, 0);
}

void item_route::add_room(std::size_t count) noexcept {
  const mpm_ptr<word> at = position(published_);
  process_memory::store(at, process_memory::load(at) + static_cast<word>(count) * spsc_place::step);
}

/// An item that moves within a worker's memory is a copy of the object.
void item_route::charge_copies(std::size_t count) const noexcept {
  charge(work::byte_copied, static_cast<std::int64_t>(count * item_size_));
}

void item_route::note_read(std::size_t count, word published) noexcept {
  if (count == 0) return;
  charge_copies(count);
  return_room(published);
}

void item_route::return_room(word published) noexcept {
  const word count = (published - returned_) / spsc_place::step;
  if (count == 0) return;
  returned_ = published;
  room_is_wanted_ = false;
  send(news::room, count, 0);
}

void item_route::restart() noexcept {
  process_memory::store(position(written_), 0);
  process_memory::store(position(published_), 0);
  sent_ = 0;
  returned_ = 0;
  room_is_wanted_ = false;
}

void item_route::send(news what, std::size_t count, std::size_t bytes) noexcept {
  network_state& network = channel_.network();
  const bool is_for_reader = what != news::room && what != news::end_of_reader;
  const process& to = *channel_.end(is_for_reader ? side::items : side::room);
  if (network.is_here(to)) {
    if (what == news::items) charge_copies(count);
    return channel_.hear(what, count);
  }
  under_way_.fetch_add(1, std::memory_order_seq_cst);
  network.one_more();
  send_to(to, {{&arrive, nullptr, nullptr}, this, bytes, static_cast<std::uint32_t>(count), what});
}

void item_route::send_to(const process& to, const message& made) const noexcept {
  static_assert(sizeof made + message::max_bytes_sent <= active_message_bytes);
  std::byte sent[active_message_bytes]{};
  std::memcpy(sent, &made, sizeof made);
  if (!made.is_sent()) charge_shared_write(channel_.number(), made.bytes);
  channel_.network().send(to, sent, sizeof made + (made.is_sent() ? made.bytes : 0));
}

/// Runs on the worker of the receiver, between its tasks.
void item_route::arrive(std::byte* arrived) noexcept {
  message came;
  std::memcpy(&came, arrived, sizeof came);
  item_route& self = *came.route;
  if (came.is_sent()) {
    charge(work::byte_copied, static_cast<std::int64_t>(came.bytes));
  } else {
    charge_shared_read(self.channel_.number(), came.bytes);
  }
  network_state& network = self.channel_.network();
  self.channel_.hear(came.what, came.count);
  self.under_way_.fetch_sub(1, std::memory_order_seq_cst);
  network.one_ends();
}

}  // namespace creek::stream::detail
