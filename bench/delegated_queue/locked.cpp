// SPDX-License-Identifier: Apache-2.0
// A std::deque under the peer's lock.
#include <deque>

#include "config.hpp"
#include "harness/threads.hpp"
#include BENCH_RUNTIME

namespace bench::delegated_queue {
namespace {

template <std::size_t AtOnce>
sample measure(const settings& s) {
  struct alignas(64) {
    bench::lock lock;
    std::deque<item> items;
  } shared;
  return run<AtOnce>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> added) {
        const std::lock_guard hold(shared.lock);
        shared.items.insert(shared.items.end(), added.begin(), added.end());
      },
      [&](std::span<item> wanted) {
        const std::lock_guard hold(shared.lock);
        for (item& each : wanted) {
          each = shared.items.front();
          shared.items.pop_front();
        }
      });
}

const registration by_one{one, measure<1>};
const registration by_eight{eight, measure<8>};

}  // namespace
}  // namespace bench::delegated_queue
