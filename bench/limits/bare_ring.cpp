// SPDX-License-Identifier: Apache-2.0
// Items of 8 bytes from one core to another through a ring with cached positions, and nothing else:
// the ends spin, the capacity is a power of two. One at a time, and eight, a cache line.
#include <atomic>
#include <thread>

#include "harness/workload.hpp"
#include "pinning.hpp"

namespace bench::limits {
namespace {

constexpr description one{.name = "bare_ring",
                          .about = "item of 8 bytes through a ring",
                          .unit = "ns",
                          .full = 10'000'000,
                          .quick = 2'000'000,
                          .smoke = 1000,
                          .min_workers = 2,
                          .limit = true,
                          .groups = "invoke stream"};
constexpr description eight{.name = "bare_ring_8",
                            .about = "the same, a line at a time",
                            .unit = "ns",
                            .full = 40'000'000,
                            .quick = 8'000'000,
                            .smoke = 1000,
                            .min_workers = 2,
                            .limit = true,
                            .groups = "invoke"};

class ring {
 public:
  void push(const std::uint64_t* items, std::size_t count) {
    while (slots - (head_ - known_tail_) < count)
      known_tail_ = tail_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) items_[(head_ + i) % slots] = items[i];
    head_ += count;
    shared_head_.store(head_, std::memory_order_release);
  }
  /// Takes up to `most` items, at least one.
  std::size_t pop(std::uint64_t* items, std::size_t most) {
    while (known_head_ == own_tail_) known_head_ = shared_head_.load(std::memory_order_acquire);
    const std::size_t count = std::min<std::size_t>(most, known_head_ - own_tail_);
    for (std::size_t i = 0; i < count; ++i) items[i] = items_[(own_tail_ + i) % slots];
    own_tail_ += count;
    tail_.store(own_tail_, std::memory_order_release);
    return count;
  }

 private:
  static constexpr std::uint64_t slots = 1024;
  alignas(64) std::atomic<std::uint64_t> shared_head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::uint64_t head_ = 0;
  std::uint64_t known_tail_ = 0;
  alignas(64) std::uint64_t own_tail_ = 0;
  std::uint64_t known_head_ = 0;
  alignas(64) std::array<std::uint64_t, slots> items_{};
};

template <std::size_t AtOnce>
sample measure(const settings& s) {
  const auto [here, there] = two_cpus();
  ring shared;
  const auto total = static_cast<std::uint64_t>(s.n);
  sample result{.work = static_cast<double>(s.n)};
  const pin stay(here);
  std::atomic<bool> go{false};
  std::jthread consumer([&, cpu = there] {
    const pin stay_there(cpu);
    go.store(true, std::memory_order_release);
    for (std::uint64_t left = total; left != 0;) {
      std::array<std::uint64_t, AtOnce> items;
      const std::size_t count = shared.pop(items.data(), std::min<std::size_t>(AtOnce, left));
      for (std::size_t i = 0; i < count; ++i) result.answer += items[i];
      left -= count;
    }
  });
  while (!go.load(std::memory_order_acquire)) {
  }
  result.total_ns = timed([&] {
    for (std::uint64_t i = 0; i < total;) {
      std::array<std::uint64_t, AtOnce> items;
      std::size_t count = 0;
      for (; count < AtOnce && i < total; ++i) items[count++] = i;
      shared.push(items.data(), count);
    }
    consumer.join();
  });
  return result;
}

const registration by_one{one, measure<1>};
const registration by_eight{eight, measure<8>};

}  // namespace
}  // namespace bench::limits
