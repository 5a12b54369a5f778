// SPDX-License-Identifier: Apache-2.0
// A ring without a lock: threads claim an index by compare-and-swap; each slot holds its turn.
// Source: the bounded MPMC queue of [Vyukov]. It cannot push or pop several items at once.
#include <bit>
#include <memory>

#include <creek/core/threads/spin_lock.hpp>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::delegated_queue {
namespace {

class ring {
 public:
  /// Makes a ring of `slots` slots, a power of two.
  explicit ring(std::size_t slots) : mask_(slots - 1), slots_(std::make_unique<slot[]>(slots)) {
    for (std::size_t i = 0; i < slots; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }
  /// Returns false if the ring is full.
  bool try_push(item added) {
    std::size_t place = pushed_.load(std::memory_order_relaxed);
    slot* mine = take_place(pushed_, place, 0);
    if (mine == nullptr) return false;
    mine->what = added;
    mine->turn.store(place + 1, std::memory_order_release);
    return true;
  }
  /// Returns false if the ring is empty, or the next push has not ended.
  bool try_pop(item& taken) {
    std::size_t place = popped_.load(std::memory_order_relaxed);
    slot* mine = take_place(popped_, place, 1);
    if (mine == nullptr) return false;
    taken = mine->what;
    mine->turn.store(place + mask_ + 1, std::memory_order_release);
    return true;
  }

 private:
  struct slot {
    std::atomic<std::size_t> turn;
    item what;
  };
  /// Returns the slot at `next` once its turn is that index + `ahead`, or nullptr before that.
  slot* take_place(std::atomic<std::size_t>& next, std::size_t& place, std::size_t ahead) {
    for (;;) {
      slot& at = slots_[place & mask_];
      const auto early =
          static_cast<std::ptrdiff_t>(at.turn.load(std::memory_order_acquire) - (place + ahead));
      if (early < 0) return nullptr;
      if (early > 0) {
        place = next.load(std::memory_order_relaxed);
      } else if (next.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) {
        return &at;
      }
    }
  }

  alignas(64) std::size_t mask_;
  std::unique_ptr<slot[]> slots_;
  alignas(64) std::atomic<std::size_t> pushed_{0};
  alignas(64) std::atomic<std::size_t> popped_{0};
};

template <std::size_t AtOnce>
sample measure(const settings& s) {
  ring shared(std::bit_ceil(2 * AtOnce * s.workers));
  return run<AtOnce>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> added) {
        for (const item each : added) {
          creek::spin_briefly([&] { return shared.try_push(each); });
        }
      },
      [&](std::span<item> wanted) {
        for (item& each : wanted) {
          creek::spin_briefly([&] { return shared.try_pop(each); });
        }
      });
}

const registration by_one{one, measure<1>};
const registration by_eight{eight, measure<8>};

}  // namespace
}  // namespace bench::delegated_queue
