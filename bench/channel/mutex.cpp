// SPDX-License-Identifier: Apache-2.0
// A std::deque under a std::mutex, with two condition variables.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::channel {
namespace {

template <std::size_t AtOnce, bool IsShared>
sample measure(const settings& s) {
  struct {
    std::mutex lock;
    std::condition_variable has_items, has_room;
    std::deque<item> items;
  } queue;
  return run<AtOnce, IsShared>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) {
        {
          std::unique_lock hold(queue.lock);
          queue.has_room.wait(hold, [&] { return queue.items.size() + items.size() <= capacity; });
          queue.items.insert(queue.items.end(), items.begin(), items.end());
        }
        queue.has_items.notify_one();
      },
      [&](std::span<item> room) {
        std::size_t count = 0;
        {
          std::unique_lock hold(queue.lock);
          queue.has_items.wait(hold, [&] { return !queue.items.empty(); });
          for (; count < room.size() && !queue.items.empty(); ++count) {
            room[count] = queue.items.front();
            queue.items.pop_front();
          }
        }
        queue.has_room.notify_one();
        return count;
      });
}

const registration by_one{one, measure<1, false>};
const registration by_eight{eight, measure<8, false>};
const registration by_many{shared, measure<1, true>};

}  // namespace
}  // namespace bench::channel
