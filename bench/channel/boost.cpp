// SPDX-License-Identifier: Apache-2.0
// The queues of Boost.Lockfree with a fixed capacity, whose users wait by trying again.
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include <creek/core/threads/spin_lock.hpp>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::channel {
namespace {

template <std::size_t AtOnce>
sample measure(const settings& s) {
  boost::lockfree::spsc_queue<item> queue(capacity);
  return run<AtOnce>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) {
        if constexpr (AtOnce == 1) {
          creek::spin_briefly([&] { return queue.push(items[0]); });
        } else {
          creek::spin_briefly([&] {
            items = items.subspan(queue.push(items.data(), items.size()));
            return items.empty();
          });
        }
      },
      [&](std::span<item> room) {
        std::size_t count = 0;
        creek::spin_briefly([&] {
          count = AtOnce == 1 ? queue.pop(room[0]) : queue.pop(room.data(), room.size());
          return count != 0;
        });
        return count;
      });
}

sample measure_shared(const settings& s) {
  boost::lockfree::queue<item, boost::lockfree::fixed_sized<true>> queue(capacity);
  return run<1, true>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) {
        creek::spin_briefly([&] { return queue.bounded_push(items[0]); });
      },
      [&](std::span<item> room) -> std::size_t {
        creek::spin_briefly([&] { return queue.pop(room[0]); });
        return 1;
      });
}

const registration by_one{one, measure<1>};
const registration by_eight{eight, measure<8>};
const registration by_many{shared, measure_shared};

}  // namespace
}  // namespace bench::channel
