// SPDX-License-Identifier: Apache-2.0
// A first-in, first-out queue that all workers share. Each worker repeatedly pushes some items and
// pops as many, n in all: one at a time in `delegated_queue`, eight in `delegated_queue_8` (by one
// call, or under the lock once). An item is its number and its pusher; each consumer sees the items
// of each pusher in order.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "harness/invoked.hpp"

namespace bench::delegated_queue {

inline constexpr description one{.name = "delegated_queue",
                                 .about = "push and pop of a FIFO queue that all workers share",
                                 .unit = "ns/item",
                                 .full = 500'000,
                                 .quick = 100'000,
                                 .smoke = 1000,
                                 .min_workers = 2,
                                 .groups = "invoke"};
inline constexpr description eight{.name = "delegated_queue_8",
                                   .about = "the same, eight items at a time",
                                   .unit = "ns/item",
                                   .full = 2'000'000,
                                   .quick = 400'000,
                                   .smoke = 1000,
                                   .min_workers = 2,
                                   .groups = "invoke"};

using item = std::uint64_t;
constexpr unsigned number_bits = 48;

constexpr item make_item(unsigned worker, std::int64_t number) {
  return (item{worker} << number_bits) | static_cast<item>(number);
}

/// The items that one worker has popped.
class taken_items {
 public:
  explicit taken_items(unsigned workers) : next_(workers) {}
  void take(item what) {
    const item number = what & ((item{1} << number_bits) - 1);
    item& next = next_.at(what >> number_bits);
    if (number < next) throw std::runtime_error("an item came twice or was overtaken");
    next = number + 1;
    sum_ += number;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::vector<item> next_;  ///< lowest number that may come next, per pusher
  std::uint64_t sum_ = 0;
};

/// Does the work of one worker with `push(items)` and `pop(items)`, which fills them in, at most
/// `AtOnce` at a time. Returns the sum of the popped numbers; over all workers it is the answer.
template <std::size_t AtOnce, class Push, class Pop>
std::uint64_t push_and_pop(const settings& s, unsigned worker, const Push& push, const Pop& pop) {
  taken_items taken(s.workers);
  const part_of_work mine = part_of(s, worker);
  for (std::int64_t i = mine.first; i < mine.last;) {
    std::array<item, AtOnce> items;
    std::size_t count = 0;
    for (; count < AtOnce && i < mine.last; ++i) items[count++] = make_item(worker, i);
    const std::span<item> some(items.data(), count);
    push(some);
    pop(some);
    for (const item each : some) taken.take(each);
  }
  return taken.sum();
}

/// Runs it on every worker; `on_all(body)` calls body(worker) there and returns the nanoseconds.
template <std::size_t AtOnce, class OnAll, class Push, class Pop>
sample run(const settings& s, const OnAll& on_all, const Push& push, const Pop& pop) {
  std::vector<std::uint64_t> sums(s.workers);
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = on_all([&](unsigned w) { sums[w] = push_and_pop<AtOnce>(s, w, push, pop); });
  for (const std::uint64_t sum : sums) result.answer += sum;
  return result;
}

}  // namespace bench::delegated_queue
