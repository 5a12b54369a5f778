// SPDX-License-Identifier: Apache-2.0
// A bounded queue of items of 8 bytes with 1024 slots. `channel`: worker 0 sends n items, worker 1
// receives them, one at a time; `channel_8`: the same, eight items, a cache line, at a time.
// `channel_shared`: half of the workers send, half receive, one at a time, through a queue that any
// number may use. Compare with the limit `bare_ring`. A receiver checks that each sender's items
// come in order.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "harness/invoked.hpp"

namespace bench::channel {

inline constexpr description one{.name = "channel",
                                 .about = "items of 8 bytes from one worker to another",
                                 .unit = "ns/item",
                                 .full = 10'000'000,
                                 .quick = 2'000'000,
                                 .smoke = 1000,
                                 .min_workers = 2,
                                 .groups = "invoke",
                                 .bounds = "bare_ring"};
inline constexpr description eight{.name = "channel_8",
                                   .about = "the same, eight items at a time",
                                   .unit = "ns/item",
                                   .full = 40'000'000,
                                   .quick = 8'000'000,
                                   .smoke = 1000,
                                   .min_workers = 2,
                                   .groups = "invoke",
                                   .bounds = "bare_ring_8"};
inline constexpr description shared{.name = "channel_shared",
                                    .about = "half of the workers send, half receive",
                                    .unit = "ns/item",
                                    .full = 4'000'000,
                                    .quick = 800'000,
                                    .smoke = 1000,
                                    .min_workers = 2,
                                    .groups = "invoke"};

using item = std::uint64_t;
inline constexpr std::size_t capacity = 1024;
constexpr unsigned number_bits = 48;

/// Sends `last - first` items with `send(items)`, at most `AtOnce` at a time.
template <std::size_t AtOnce, class Send>
void send_all(unsigned sender, std::int64_t first, std::int64_t last, const Send& send) {
  for (std::int64_t i = first; i < last;) {
    std::array<item, AtOnce> items;
    std::size_t count = 0;
    for (; count < AtOnce && i < last; ++i)
      items[count++] = (item{sender} << number_bits) | static_cast<item>(i);
    send(std::span<const item>(items.data(), count));
  }
}

/// Receives `total` items with `receive(room)`, which returns how many it has stored, at least one.
/// Returns the sum of their numbers.
template <std::size_t AtOnce, class Receive>
std::uint64_t receive_all(unsigned senders, std::int64_t total, const Receive& receive) {
  std::vector<item> next(senders);
  std::uint64_t sum = 0;
  while (total != 0) {
    std::array<item, AtOnce> items{};
    const std::size_t wanted = std::min(AtOnce, static_cast<std::size_t>(total));
    const std::size_t count = receive(std::span<item>(items.data(), wanted));
    for (std::size_t i = 0; i < count; ++i) {
      const item number = items[i] & ((item{1} << number_bits) - 1);
      item& expected = next[items[i] >> number_bits];
      if (number < expected) throw std::runtime_error("an item came twice or was overtaken");
      expected = number + 1;
      sum += number;
    }
    total -= static_cast<std::int64_t>(count);
  }
  return sum;
}

/// Runs one of the workloads: `on_all(body)` calls body(worker) on each worker and returns the ns.
template <std::size_t AtOnce, bool IsShared = false, class OnAll, class Send, class Receive>
sample run(const settings& s, const OnAll& on_all, const Send& send, const Receive& receive) {
  const unsigned senders = IsShared ? s.workers / 2 : 1;
  const unsigned receivers = IsShared ? s.workers - senders : 1;
  const auto border = [&](unsigned part, unsigned parts) { return s.n * part / parts; };
  std::vector<std::uint64_t> sums(receivers);
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = on_all([&](unsigned w) {
    if (w < senders) {
      send_all<AtOnce>(w, border(w, senders), border(w + 1, senders), send);
    } else if (const unsigned r = w - senders; r < receivers) {
      sums[r] =
          receive_all<AtOnce>(senders, border(r + 1, receivers) - border(r, receivers), receive);
    }
  });
  for (const std::uint64_t sum : sums) result.answer += sum;
  return result;
}

}  // namespace bench::channel
