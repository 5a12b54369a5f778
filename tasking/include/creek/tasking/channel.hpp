// SPDX-License-Identifier: Apache-2.0
// Channels: bounded queues between tasks, and between tasks and threads that belong to no runtime.
// A task that waits for a channel leaves its worker to others. docs/channels.md is the guide.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/channel_result.hpp>
#include <creek/tasking/detail/channel_base.hpp>
#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek {

/// Forms of a channel: how many strands or threads may send at the same time, and receive.
struct spsc {
  static constexpr bool many_producers = false, many_consumers = false;
};
struct mpsc {
  static constexpr bool many_producers = true, many_consumers = false;
};
struct spmc {
  static constexpr bool many_producers = false, many_consumers = true;
};
struct mpmc {
  static constexpr bool many_producers = true, many_consumers = true;
};

namespace detail {
/// Mutual exclusion on a side that several use, else nothing.
template <bool IsShared>
struct side_lock {
  void lock() noexcept {}
  void unlock() noexcept {}
};
template <>
struct side_lock<true> : spin_lock {};

/// The memory of a ring; its words are zero.
template <class T>
class ring_block {
 public:
  explicit ring_block(std::size_t capacity) {
    if (capacity == 0 || capacity > spsc_place::max_capacity) {
      throw usage_error("channel: the capacity must be between 1 and 2^29, got " +
                        std::to_string(capacity));
    }
    bytes_ = static_cast<std::byte*>(::operator new(spsc_bytes<T, process_memory>(capacity), line));
    std::fill_n(bytes_, 3 * process_memory::line_bytes, std::byte{});
  }
  ~ring_block() { ::operator delete(bytes_, line); }
  ring_block(const ring_block&) = delete;
  ring_block& operator=(const ring_block&) = delete;
  [[nodiscard]] spsc_place place() const noexcept {
    return spsc_place_in<T, process_memory>(mpm_ptr{bytes_});
  }

 private:
  static constexpr std::align_val_t line{process_memory::line_bytes};
  std::byte* bytes_;
};
}  // namespace detail

/// A bounded queue of items, in the order in which each producer sent them. The form says who may
/// use an end at the same time; `channel<T>` is for any number on both sides.
///
/// Operations may be called by strands of any runtime and by other threads. One that has to wait
/// suspends its strand, or blocks its thread. Nothing is allocated after the constructor.
///
/// T must be movable and its destructor must not throw. Its move constructor and destructor run
/// inside the channel: they must neither use this channel nor wait. If one throws in a send, the
/// item was not sent; in a receive, it stays in the channel as the next one.
///
/// The channel must outlive all operations on it. Items that are left are destroyed with it.
template <class T, class Form = mpmc>
class channel : detail::ring_block<T>, public detail::channel_base {
  using status = channel_status;
  using side = detail::channel_side;
  friend detail::selection;

 public:
  using value_type = T;
  static_assert(std::move_constructible<T> && std::is_nothrow_destructible_v<T>,
                "an item of a channel must be movable, and its destructor must not throw");

  /// Makes a channel with room for `capacity` items. Throws usage_error unless it is between 1 and
  /// 2^29, and std::bad_alloc.
  explicit channel(std::size_t capacity)
      : detail::ring_block<T>(capacity),
        detail::channel_base(this->place(), capacity),
        producer_{{{}, this->place(), capacity}, {}},
        consumer_{{{}, this->place(), capacity}, {}} {}
  ~channel() {
    while (consumer_.end.consume([](T&&) noexcept {}) != 0) {
    }
  }

  /// Sends an item made of `value`; waits while the channel is full. If it is closed, returns a
  /// false result, or rethrows the exception that it was closed with. A T is moved from only if the
  /// item was sent. With a stop token the wait also ends by a stop request.
  template <class U = T>
  requires std::constructible_from<T, U> send_result send(U&& value) {
    return send_within({}, std::forward<U>(value));
  }
  template <class U = T>
  requires std::constructible_from<T, U> send_result send(U&& value, const std::stop_token& stop) {
    return send_within({nullptr, &stop}, std::forward<U>(value));
  }
  /// Sends only if there is room.
  template <class U = T>
  requires std::constructible_from<T, U> send_result try_send(U&& value) {
    go_in_order();
    return sent(with_item(std::forward<U>(value), [this](auto&& item) {
      return this->put(std::forward<decltype(item)>(item));
    }));
  }
  /// Waits for room for at most `span`; a span of zero or less only looks. In a task of the
  /// simulated chip the span is one of virtual time.
  template <class U, class Rep, class Period>
  requires std::constructible_from<T, U> send_result send_for(
      U&& value, const std::chrono::duration<Rep, Period>& span, const std::stop_token& stop = {}) {
    const std::chrono::nanoseconds limit = detail::wait_span(span);
    return send_within({&limit, &stop}, std::forward<U>(value));
  }
  /// Does the same until `deadline`, by its clock. Throws usage_error in a task of the simulated
  /// chip, in whose time no clock of the process runs.
  template <class U, class Clock, class Duration>
  requires std::constructible_from<T, U> send_result
  send_until(U&& value, const std::chrono::time_point<Clock, Duration>& deadline,
             const std::stop_token& stop = {}) {
    detail::require_clocks("channel::send_until");
    return sent(with_item(std::forward<U>(value), [&](auto&& item) {
      return repeat_until(side::room, deadline, stop,
                          [&] { return put(std::forward<decltype(item)>(item)); });
    }));
  }
  /// Sends `count` items made of *first, *++first ..., each as soon as there is room, as many as
  /// possible at a time. Items of another producer may come between them. Returns how many were
  /// sent: fewer only if the channel was closed. If a constructor throws, those before are sent.
  /// The iterator is advanced behind each item, the last one too.
  template <std::input_iterator Iterator>
  std::size_t send_batch(Iterator first, std::size_t count) {
    std::size_t sent_so_far = 0;
    while (sent_so_far < count) {
      go_in_order();
      const auto attempt = [&] { return put_batch(first, count, sent_so_far); };
      status ended = attempt();
      if (ended == status::not_ready) [[unlikely]]
        ended = retry(side::room, {}, attempt);
      if (!sent(ended)) break;
    }
    return sent_so_far;
  }
  /// Sends as many of them as there is room for; returns how many.
  template <std::input_iterator Iterator>
  std::size_t try_send_batch(Iterator first, std::size_t count) {
    std::size_t sent_so_far = 0;
    go_in_order();
    if (count != 0) (void)sent(put_batch(first, count, sent_so_far));
    return sent_so_far;
  }

  /// Receives the next item; waits while the channel is empty. If it is closed and empty, returns a
  /// result without an item, or rethrows the exception that it was closed with. With a stop token
  /// the wait also ends by a stop request.
  receive_result<T> receive() { return receive_within({}); }
  receive_result<T> receive(const std::stop_token& stop) {
    return receive_within({nullptr, &stop});
  }
  /// Receives only if there is an item.
  receive_result<T> try_receive() {
    std::optional<T> item;
    go_in_order();
    const status ended = take(item);
    return received(std::move(item), ended);
  }
  /// Waits for an item for at most `span`: see send_for().
  template <class Rep, class Period>
  receive_result<T> receive_for(const std::chrono::duration<Rep, Period>& span,
                                const std::stop_token& stop = {}) {
    const std::chrono::nanoseconds limit = detail::wait_span(span);
    return receive_within({&limit, &stop});
  }
  /// Waits for an item until `deadline`: see send_until().
  template <class Clock, class Duration>
  receive_result<T> receive_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                  const std::stop_token& stop = {}) {
    detail::require_clocks("channel::receive_until");
    std::optional<T> item;
    const status ended = repeat_until(side::items, deadline, stop, [&] { return take(item); });
    return received(std::move(item), ended);
  }
  /// Waits until there is an item, then receives up to `limit` items that are there, by `*out++ =
  /// item`. Returns how many: 0 only if the channel is closed and empty, or `limit` is 0. If the
  /// assignment throws, that item stays in the channel.
  template <std::output_iterator<T&&> Output>
  std::size_t receive_batch(Output out, std::size_t limit) {
    std::size_t count = 0;
    if (limit == 0) return 0;
    go_in_order();
    const auto attempt = [&] { return take_batch(out, limit, count); };
    status ended = attempt();
    if (ended == status::not_ready) [[unlikely]]
      ended = retry(side::items, {}, attempt);
    if (ended == status::closed) throw_reason();
    return count;
  }
  /// Receives up to `limit` items that are there; returns how many.
  template <std::output_iterator<T&&> Output>
  std::size_t try_receive_batch(Output out, std::size_t limit) {
    std::size_t count = 0;
    go_in_order();
    if (limit != 0 && take_batch(out, limit, count) == status::closed) throw_reason();
    return count;
  }

  /// `auto result = co_await channel.async_send(value);` in any coroutine: send() that suspends the
  /// coroutine instead of a strand. It continues as a task of the runtime where it was suspended,
  /// or, outside one, on the thread that makes room. A T is moved from only if the item was sent.
  template <class U = T>
  requires std::constructible_from<T, U>
  [[nodiscard]] auto async_send(U&& value) {
    return send_awaiter<stored_value<U>>(*this, std::forward<U>(value));
  }
  /// `auto result = co_await channel.async_receive();`: likewise receive().
  [[nodiscard]] auto async_receive() { return receive_awaiter(*this); }

  /// Ends the channel: sends fail from now on, receives once all items were received. Whoever waits
  /// is woken. With an exception, sends and receives that find the channel closed rethrow it.
  /// Returns false if the channel was closed before. Any thread, but with one producer only, a send
  /// that runs at the same time on another thread may still succeed, and receivers may miss its
  /// item: let the producer close, or end it first.
  bool close(std::exception_ptr reason = nullptr) {
    go_in_order();
    {
      const std::lock_guard hold(producer_.lock);
      if (!mark_closed(std::move(reason))) return false;
    }
    wake_all();
    return true;
  }

  /// Received items until the channel is closed: `for (T& item : channel)`.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit iterator(channel& from) : from_(&from), item_(from.receive()) {}
    T& operator*() noexcept { return *item_; }
    iterator& operator++() {
      item_ = from_->receive();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !item_; }

   private:
    channel* from_;
    receive_result<T> item_;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  /// The value that a send of a coroutine keeps meanwhile. Under a lock an item is at most moved.
  template <class U>
  using stored_value =
      std::conditional_t<std::same_as<std::remove_cvref_t<U>, T> &&
                             (!Form::many_producers || !std::is_lvalue_reference_v<U> ||
                              std::is_trivially_copyable_v<T>),
                         U&&, T>;
  template <class Value>
  class send_awaiter final : public detail::channel_suspension {
   public:
    template <class U>
    send_awaiter(channel& to, U&& value)
        : detail::channel_suspension(to, side::room, detail::task_name<send_awaiter>()),
          to_(to),
          value_(std::forward<U>(value)) {}
    send_result await_resume() { return to_.sent(this->ended()); }

   private:
    status attempt() override {
      go_in_order();
      return to_.put(std::forward<Value>(value_));
    }
    channel& to_;
    Value value_;
  };
  class receive_awaiter final : public detail::channel_suspension {
   public:
    explicit receive_awaiter(channel& from)
        : detail::channel_suspension(from, side::items, detail::task_name<receive_awaiter>()),
          from_(from) {}
    receive_result<T> await_resume() {
      const status how = this->ended();
      return from_.received(std::move(item_), how);
    }

   private:
    status attempt() override {
      go_in_order();
      return from_.take(item_);
    }
    channel& from_;
    std::optional<T> item_;
  };

  template <class Attempt>
  status repeat(side waited, const detail::channel_limits& limits, const Attempt& attempt) {
    go_in_order();
    const status first = attempt();
    return first != status::not_ready ? first : retry(waited, limits, attempt);
  }

  template <class Clock, class Duration, class Attempt>
  status repeat_until(side waited, const std::chrono::time_point<Clock, Duration>& deadline,
                      const std::stop_token& stop, const Attempt& attempt) {
    go_in_order();
    status ended = attempt();
    if (ended != status::not_ready) return ended;
    ended = status::timeout;
    detail::wait_until_deadline(deadline, [&](std::chrono::nanoseconds span) {
      ended = retry(waited, {&span, &stop}, attempt);
      return ended != status::timeout;
    });
    return ended;
  }

  /// Calls use(item) with what an item is constructed from. Where a lock is held meanwhile, that is
  /// at most a move: other constructors, which may do anything, run before.
  template <class U, class Use>
  static auto with_item(U&& value, Use use) {
    if constexpr (!Form::many_producers || std::same_as<std::remove_cvref_t<U>, T> ||
                  std::is_trivially_copyable_v<T>) {
      if constexpr (!Form::many_producers || !std::is_lvalue_reference_v<U> ||
                    std::is_trivially_copyable_v<T>) {
        return use(std::forward<U>(value));
      } else {
        return use(T(value));
      }
    } else {
      return use(T(std::forward<U>(value)));
    }
  }
  template <class U>
  send_result send_within(const detail::channel_limits& limits, U&& value) {
    return sent(with_item(std::forward<U>(value), [&](auto&& item) {
      return repeat(side::room, limits, [&] { return put(std::forward<decltype(item)>(item)); });
    }));
  }
  receive_result<T> receive_within(const detail::channel_limits& limits) {
    std::optional<T> item;
    const status ended = repeat(side::items, limits, [&] { return take(item); });
    return received(std::move(item), ended);
  }
  send_result sent(status ended) {
    if (ended == status::closed) [[unlikely]]
      throw_reason();
    return send_result(ended);
  }
  receive_result<T> received(std::optional<T>&& item, status ended) {
    if (ended == status::closed) [[unlikely]]
      throw_reason();
    return receive_result<T>(std::move(item), ended);
  }

  template <class U>
  status put(U&& value) {
    ext::tell_others();
    {
      const std::lock_guard hold(producer_.lock);
      if (is_closed()) [[unlikely]]
        return status::closed;
      if (!producer_.end.try_emplace(std::forward<U>(value))) return status::not_ready;
    }
    changed(side::items, 1);
    return status::done;
  }
  template <class Iterator>
  status put_batch(Iterator& first, std::size_t count, std::size_t& sent_so_far) {
    const std::size_t before = sent_so_far;
    // Woken even if a constructor throws.
    const after_batch waking{*this, side::items, before, sent_so_far};
    ext::tell_others();
    const std::lock_guard hold(producer_.lock);
    if (is_closed()) return status::closed;
    const counting_iterator<Iterator> source{&first, &sent_so_far};
    return producer_.end.try_push(source, count - before) != 0 ? status::done : status::not_ready;
  }
  /// Calls once(), which returns false if there is no item.
  template <class Take>
  status take_unless_closed(Take once) {
    ext::follow_others();
    if (once()) return status::done;
    if (!is_closed()) return status::not_ready;
    // An item that was sent before the channel was closed is seen now.
    return once() ? status::done : status::closed;
  }
  status take(std::optional<T>& item) {
    return take_unless_closed([&] {
      {
        const std::lock_guard hold(consumer_.lock);
        if (consumer_.end.consume([&](T&& next) { item.emplace(std::move(next)); }, 1) == 0)
          return false;
      }
      changed(side::room, 1);
      return true;
    });
  }
  template <class Output>
  status take_batch(Output& out, std::size_t limit, std::size_t& count) {
    return take_unless_closed([&] {
      const after_batch waking{*this, side::room, count, count};
      const std::lock_guard hold(consumer_.lock);
      const auto keep = [&](T&& next) {
        *out = std::move(next);
        ++out;
        ++count;
      };
      return consumer_.end.consume(keep, limit) != 0;
    });
  }

  /// Wakes those that wait for a batch, also while an exception passes.
  struct after_batch {
    channel& of;
    side changed_side;
    std::size_t before;
    const std::size_t& now;
    ~after_batch() {
      if (now != before) of.changed(changed_side, now - before);
    }
  };
  /// Advances the caller's iterator and count with the items that are constructed.
  template <class Iterator>
  struct counting_iterator {
    using value_type = std::iter_value_t<Iterator>;
    using difference_type = std::ptrdiff_t;
    decltype(auto) operator*() const { return **at; }
    counting_iterator& operator++() {
      ++*count;  // first: the item is there, even if the iterator throws
      ++*at;
      return *this;
    }
    void operator++(int) { ++*this; }
    Iterator* at;
    std::size_t* count;
  };

  struct alignas(process_memory::line_bytes) {
    spsc_producer<T> end;
    [[no_unique_address]] detail::side_lock<Form::many_producers> lock;
  } producer_;
  struct alignas(process_memory::line_bytes) {
    spsc_consumer<T> end;
    [[no_unique_address]] detail::side_lock<Form::many_consumers> lock;
  } consumer_;
};

}  // namespace creek
