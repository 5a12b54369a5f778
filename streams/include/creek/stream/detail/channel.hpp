// SPDX-License-Identifier: Apache-2.0
// A channel of a network with its items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <creek/core/messages/spsc_ring.hpp>
#include <creek/stream/detail/process.hpp>
#include <creek/stream/transfer_bytes.hpp>

namespace creek::stream::detail {

template <class T>
class channel final : public channel_base {
 public:
  channel(network_state& network, std::size_t number, std::string item_type, std::size_t capacity)
      : channel_base(network, number, std::move(item_type)) {
    use(memory_for(capacity), capacity);
  }
  ~channel() override {
    show_all();
    drop_items(consumer_);
  }

  [[nodiscard]] std::size_t capacity() const noexcept override { return producer_.capacity(); }

  void grow(std::size_t capacity) override {
    block larger = memory_for(capacity);
    for (const side which : {side::items, side::room}) count_items(which);
    block smaller = std::move(memory_);
    spsc_consumer<T> from = consumer_;
    use(std::move(larger), capacity);
    try {
      from.consume([this](T&& item) { (void)producer_.try_emplace(std::move(item)); });
    } catch (...) {
      drop_items(from);
      show_all();
      count_from_here();
      throw;
    }
    show_all();
    count_from_here();
  }

  /// Adds an item; returns false if there is no room.
  template <class U>
  [[nodiscard]] bool try_write(U&& value) {
    if (!producer_.try_emplace(std::forward<U>(value))) [[unlikely]]
      return false;
    changed(side::items);
    return true;
  }
  /// Adds as many of these items as there is room for; returns their number.
  template <class Iterator>
  [[nodiscard]] std::size_t try_write_some(Iterator first, std::size_t count) {
    const std::size_t written = producer_.try_push(first, count);
    if (written != 0) changed(side::items);
    return written;
  }
  /// Calls take(T&&) for up to `limit` items; returns their number.
  template <class Take>
  std::size_t try_read(Take&& take, std::size_t limit) {
    const std::size_t count = consumer_.consume(take, limit);
    light_fence();
    if (is_watched(side::room)) [[unlikely]]
      were_read(count);
    return count;
  }
  [[nodiscard]] bool is_empty() { return consumer_.empty(); }
  /// Returns whether the writer has ended and all items were read.
  [[nodiscard]] bool is_at_end() { return consumer_.closed_by_producer().has_value(); }

  void use_messages() override {
    set_route(std::make_unique<item_route>(*this, sizeof(T)));
    producer_ = spsc_producer<T>({}, route()->writers_place(place()), capacity());
  }
  void publish_room() noexcept override {
    if (!has_room_to_publish()) return;
    if (route() != nullptr) {
      // A message: only if the writer waits for it.
      if (!route()->room_is_wanted()) return;
      consumer_.publish();
      return route()->return_room(published_position());
    }
    consumer_.publish();
    changed(side::room);
  }
  void writer_ends() noexcept {
    producer_.close();
    changed(side::items);
  }
  /// Items that come later are destroyed with the channel.
  void reader_ends() noexcept {
    if (route() != nullptr) {
      route()->end_reader();
    } else {
      tell_end_of_reader();
    }
    drop_items(consumer_);
  }
  [[nodiscard]] std::size_t bytes_of_last(std::size_t count) const noexcept override {
    std::size_t bytes = 0;
    producer_.visit_last(count, [&](const T& item) { bytes += transfer_bytes(item); });
    return bytes;
  }

 private:
  struct deleter {
    void operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, line); }
  };
  using block = std::unique_ptr<std::byte, deleter>;
  static constexpr std::align_val_t line{process_memory::line_bytes};

  static block memory_for(std::size_t capacity) {
    const std::size_t bytes = spsc_bytes<T, process_memory>(capacity);
    block made(static_cast<std::byte*>(::operator new(bytes, line)));
    std::fill_n(made.get(), 3 * process_memory::line_bytes, std::byte{});
    return made;
  }
  void use(block memory, std::size_t capacity) {
    const auto place = spsc_place_in<T, process_memory>(mpm_ptr{memory.get()});
    if (route() != nullptr) route()->restart();
    const spsc_place writers = route() != nullptr ? route()->writers_place(place) : place;
    producer_ = spsc_producer<T>({}, writers, capacity);
    consumer_ = spsc_consumer<T>({}, place, capacity);
    memory_ = std::move(memory);
    set_place(place);
  }
  static void drop_items(spsc_consumer<T>& from) noexcept {
    while (from.consume([](T&&) noexcept {}) != 0) {
    }
  }

  block memory_;
  alignas(64) spsc_producer<T> producer_{{}, {}, 1};
  alignas(64) spsc_consumer<T> consumer_{{}, {}, 1};
};

}  // namespace creek::stream::detail
