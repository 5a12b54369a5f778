// SPDX-License-Identifier: Apache-2.0
// Ports of a process: where it reads and writes the items of its channels.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/stream/detail/channel.hpp>

namespace creek::stream {

class network;

namespace detail {
template <class Body, class... Ports>
class process_of;

/// The part of a port that does not depend on its direction: one end of a channel.
template <class T, side Side>
class port {
 public:
  using value_type = T;
  port() = default;
  port(port&& from) noexcept
      : channel_(std::exchange(from.channel_, nullptr)), process_(from.process_) {}
  port& operator=(port&& from) noexcept {
    if (this == &from) return *this;
    close();
    channel_ = std::exchange(from.channel_, nullptr);
    process_ = from.process_;
    return *this;
  }
  ~port() { close(); }

  /// Returns whether this is the end of a channel: false after it was moved from or closed.
  [[nodiscard]] bool is_open() const noexcept { return channel_ != nullptr; }
  /// Ends the channel on this side. Called at the end of the process otherwise.
  void close() noexcept {
    channel<T>* const ended = std::exchange(channel_, nullptr);
    if (ended == nullptr || process_ == nullptr) return;
    items_at_end_ = ended->items(Side);
    if constexpr (Side == side::items) {
      ended->reader_ends();
    } else {
      ended->writer_ends();
    }
  }
  /// Returns how many items the process has read from this port, or written to it, also once it is
  /// closed.
  [[nodiscard]] std::uint64_t items() const noexcept {
    return channel_ != nullptr ? channel_->items(Side) : items_at_end_;
  }
  /// Returns a token of which a stop is requested when the network ends early: by an exception, a
  /// deadlock, or a stop. For what a process waits for besides its channels. Callbacks of it run
  /// on any thread, do not throw, and wait for no process of the network.
  [[nodiscard]] std::stop_token early_end() const {
    (void)require_channel();
    return process_->early_end();
  }
  /// Calls `wait`, which waits for something that is no channel: a file, a future, an answer. As
  /// cheap for others as a wait at a channel; they would poll for a process that runs. `wait` uses
  /// no port of the process, and does not call this again.
  template <class F>
  decltype(auto) wait_elsewhere(F&& wait) const {
    (void)require_channel();
    return process_->wait_elsewhere(std::forward<F>(wait));
  }

 protected:
  friend class creek::stream::network;
  friend class pipeline_builder;
  template <class Body, class... Ports>
  friend class process_of;
  explicit port(channel<T>& channel) noexcept : channel_(&channel) {}
  /// Makes it the port of a process; returns the channel.
  channel_base* belong_to(process& owner) noexcept {
    process_ = &owner;
    channel_->end(Side) = &owner;
    return channel_;
  }
  /// Throws usage_error outside of the process that has the port.
  [[nodiscard]] channel<T>& require_channel() const {
    if (channel_ == nullptr) throw usage_error("stream: this port is closed");
    if (process_ == nullptr) {
      throw usage_error("stream: this port belongs to no process: give it to network::add()");
    }
    return *channel_;
  }
  [[gnu::noinline]] void wait() {
    channel_->count_items(Side);
    process_->wait(*channel_, Side);
  }
  /// Called before each use of the channel, which the process then has.
  void prepare() const { process_->leave_if_network_ends(); }

  channel<T>* channel_ = nullptr;
  process* process_ = nullptr;
  std::uint64_t items_at_end_ = 0;
};
}  // namespace detail

/// The end of a channel from which a process reads. Only its process uses it.
template <class T>
class in : public detail::port<T, detail::side::items> {
  using base = detail::port<T, detail::side::items>;

 public:
  in() = default;

  /// Returns the next item; waits for it. Returns nothing once the writer has ended and all items
  /// were read.
  [[nodiscard]] std::optional<T> read() {
    std::optional<T> item;
    read_into(item);
    return item;
  }
  /// Reads as many items as the span has; returns their number. It is smaller only at the end, so
  /// that it does not depend on how fast the writer is.
  std::size_t read(std::span<T> to) {
    std::size_t done = 0;
    const auto keep = [&](T&& item) { to[done++] = std::move(item); };
    while (done < to.size()) {
      detail::channel<T>& from = this->require_channel();
      this->prepare();
      ext::follow_others();
      if (from.try_read(keep, to.size() - done) == 0 && !wait_for_item()) break;
    }
    return done;
  }
  /// Waits for an item; returns true if there is none any more.
  [[nodiscard]] bool at_end() {
    detail::channel<T>& from = this->require_channel();
    this->prepare();
    ext::follow_others();
    return from.is_empty() && !wait_for_item();
  }

  /// Items to the end: `for (T& item : port)`.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit iterator(in& from) : from_(&from) { from_->read_into(item_); }
    T& operator*() const noexcept { return *item_; }
    iterator& operator++() {
      from_->read_into(item_);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !item_; }

   private:
    in* from_;
    mutable std::optional<T> item_;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class network;
  template <class Body, class... Ports>
  friend class detail::process_of;
  using base::base;

  /// In place: a copy of the optional would read in one piece what is written in two, and wait.
  void read_into(std::optional<T>& item) {
    item.reset();
    take([&item](T&& next) { item.emplace(std::move(next)); });
  }
  template <class Take>
  void take(Take keep) {
    detail::channel<T>& from = this->require_channel();
    do {
      this->prepare();
      ext::follow_others();
      if (from.try_read(keep, 1) != 0) [[likely]]
        return;
    } while (wait_for_item());
  }
  /// Returns false at the end.
  [[gnu::noinline]] bool wait_for_item() {
    detail::channel<T>& from = *this->channel_;
    while (from.is_empty()) {
      if (from.is_at_end()) return false;
      this->wait();
    }
    return true;
  }
};

/// The end of a channel to which a process writes. Only its process uses it.
///
/// If the reader has ended, items are not written. A process ends when it would write and the
/// readers of all its outputs have ended.
template <class T>
class out : public detail::port<T, detail::side::room> {
  using base = detail::port<T, detail::side::room>;

 public:
  out() = default;

  /// Writes an item made of `value`; waits while the channel is full.
  template <class U = T>
  requires std::constructible_from<T, U>
  void write(U&& value) {
    detail::channel<T>& to = this->require_channel();
    this->prepare();
    ext::tell_others();
    while (is_read() && !to.try_write(std::forward<U>(value))) {
      this->wait();
      this->prepare();
    }
  }
  /// Writes these items, as many as possible at a time.
  void write(std::span<const T> items) requires std::copy_constructible<T> {
    detail::channel<T>& to = this->require_channel();
    while (!items.empty() && is_read()) {
      this->prepare();
      ext::tell_others();
      const std::size_t done = to.try_write_some(items.begin(), items.size());
      items = items.subspan(done);
      if (done == 0) this->wait();
    }
  }

 private:
  friend class network;
  template <class Body, class... Ports>
  friend class detail::process_of;
  using base::base;

  [[nodiscard]] bool is_read() const {
    if (!this->channel_->reader_has_ended()) [[likely]]
      return true;
    this->process_->leave_if_nobody_reads();
    return false;
  }
};

}  // namespace creek::stream
