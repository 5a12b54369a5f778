// SPDX-License-Identifier: Apache-2.0
// Processes that many networks need: copying, dealing and joining streams, groups of items. Each is
// given to network::add() with its ports.
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/stream/port.hpp>

namespace creek::stream {

/// Writes each item to all outputs: `net.add("tee", tee{}, from, out...)`.
struct tee {
  template <std::copy_constructible T, class... More>
  void operator()(in<T>& from, out<T>& first, More&... more) const {
    while (std::optional<T> item = from.read()) {
      (more.write(std::as_const(*item)), ...);
      first.write(*std::move(item));
    }
  }
};

/// Writes the items to the outputs in turn.
struct deal {
  template <class T, std::same_as<out<T>>... Out>
  void operator()(in<T>& from, Out&... to) const {
    out<T>* const outputs[] = {&to...};
    for (std::size_t next = 0;; next = (next + 1) % sizeof...(Out)) {
      std::optional<T> item = from.read();
      if (!item) return;
      outputs[next]->write(*std::move(item));
    }
  }
};

/// Writes the items of the inputs in turn, and goes on with the others where one has ended: joins
/// again what `deal` has dealt.
struct take_turns {
  template <class T, class... Ports>
  void operator()(in<T>& first, Ports&... more) const {
    join(std::tie(first, more...), std::make_index_sequence<sizeof...(Ports)>{});
  }

 private:
  template <class Ports, std::size_t... Input>
  static void join(Ports ports, std::index_sequence<Input...>) {
    auto& to = std::get<sizeof...(Input)>(ports);
    const auto pass_one = [&](auto& from) {
      auto item = from.read();
      if (item) to.write(*std::move(item));
      return item.has_value();
    };
    bool any = true;
    while (any) {
      any = false;
      ((any |= pass_one(std::get<Input>(ports))), ...);
    }
  }
};

/// Joins two streams that are in order to one.
template <class Less = std::less<>>
struct merge {
  [[no_unique_address]] Less less{};
  template <class T>
  void operator()(in<T>& a, in<T>& b, out<T>& to) const {
    std::optional<T> from_a = a.read(), from_b = b.read();
    while (from_a || from_b) {
      const bool takes_b = !from_a || (from_b && less(*from_b, *from_a));
      std::optional<T>& next = takes_b ? from_b : from_a;
      to.write(*std::move(next));
      next = (takes_b ? b : a).read();
    }
  }
};

/// Writes tuples of one item of each input; ends with the shortest.
struct zip {
  template <class A, class B, class... More>
  void operator()(in<A>& a, in<B>& b, More&... more) const {
    join(std::tie(a, b, more...), std::make_index_sequence<1 + sizeof...(More)>{});
  }

 private:
  template <class Ports, std::size_t... Input>
  static void join(Ports ports, std::index_sequence<Input...>) {
    auto& to = std::get<sizeof...(Input)>(ports);
    while (!(std::get<Input>(ports).at_end() || ...)) to.write({*std::get<Input>(ports).read()...});
  }
};

/// Writes vectors of `size` items, at the end a shorter one.
class batch {
 public:
  /// Throws usage_error if the size is 0.
  explicit batch(std::size_t size) : size_(size) {
    if (size == 0) throw usage_error("stream::batch: the size must not be 0");
  }
  template <class T>
  void operator()(in<T>& from, out<std::vector<T>>& to) const {
    while (!from.at_end()) {
      std::vector<T> items;
      items.reserve(size_);
      while (items.size() < size_) {
        std::optional<T> item = from.read();
        if (!item) break;
        items.push_back(*std::move(item));
      }
      to.write(std::move(items));
    }
  }

 private:
  std::size_t size_;
};

/// Writes vectors of `size` neighbouring items; each begins `step` items behind the one before.
/// Items that do not fill one are left out.
class window {
 public:
  /// Throws usage_error if the size or the step is 0.
  explicit window(std::size_t size, std::size_t step = 1) : size_(size), step_(step) {
    if (size == 0 || step == 0) throw usage_error("stream::window: size and step must not be 0");
  }
  template <std::copy_constructible T>
  void operator()(in<T>& from, out<std::vector<T>>& to) const {
    std::deque<T> recent;
    std::size_t to_skip = 0;
    while (std::optional<T> item = from.read()) {
      if (to_skip != 0) {
        --to_skip;
        continue;
      }
      recent.push_back(*std::move(item));
      if (recent.size() < size_) continue;
      to.write(std::vector<T>(recent.begin(), recent.end()));
      const std::size_t dropped = step_ < size_ ? step_ : size_;
      recent.erase(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(dropped));
      to_skip = step_ - dropped;
    }
  }

 private:
  std::size_t size_, step_;
};

}  // namespace creek::stream
