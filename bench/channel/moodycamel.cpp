// SPDX-License-Identifier: Apache-2.0
// moodycamel's queues: the blocking circular buffer for one producer and one consumer, which has no
// batches, and the blocking concurrent queue for many, which has no bound.
#include <readerwriterqueue/readerwritercircularbuffer.h>

#include <concurrentqueue/blockingconcurrentqueue.h>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::channel {
namespace {

sample measure(const settings& s) {
  moodycamel::BlockingReaderWriterCircularBuffer<item> queue(capacity);
  return run<1>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) { queue.wait_enqueue(items[0]); },
      [&](std::span<item> room) -> std::size_t {
        queue.wait_dequeue(room[0]);
        return 1;
      });
}

sample measure_shared(const settings& s) {
  moodycamel::BlockingConcurrentQueue<item> queue(capacity);
  return run<1, true>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> items) { queue.enqueue(items[0]); },
      [&](std::span<item> room) -> std::size_t {
        queue.wait_dequeue(room[0]);
        return 1;
      });
}

const registration by_one{one, measure};
const registration by_many{shared, measure_shared};

}  // namespace
}  // namespace bench::channel
