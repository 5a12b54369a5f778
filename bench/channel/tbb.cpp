// SPDX-License-Identifier: Apache-2.0
// oneTBB's bounded queue, which has one form, blocks its threads and takes one item at a time.
#include <tbb/concurrent_queue.h>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::channel {
namespace {

template <bool IsShared>
sample measure(const settings& s) {
  tbb::concurrent_bounded_queue<item> queue;
  queue.set_capacity(capacity);
  return run<1, IsShared>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) { queue.push(items[0]); },
      [&](std::span<item> room) -> std::size_t {
        queue.pop(room[0]);
        return 1;
      });
}

const registration by_one{one, measure<false>};
const registration by_many{shared, measure<true>};

}  // namespace
}  // namespace bench::channel
