// SPDX-License-Identifier: Apache-2.0
// The ring from one producer to one consumer, in the memory of a process and between two cores.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <creek/core/messages/spsc_ring.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/host/memory.hpp>

namespace {

using namespace creek;

/// Both ends of a ring on the heap; destroys the items that are left.
template <class T>
class ring {
  static constexpr std::align_val_t line{process_memory::line_bytes};
  static std::byte* zeroed(std::size_t bytes) {
    auto* block = static_cast<std::byte*>(::operator new(bytes, line));
    std::fill_n(block, bytes, std::byte{});
    return block;
  }

 public:
  explicit ring(std::size_t capacity)
      : block_(zeroed(spsc_bytes<T, process_memory>(capacity))),
        where(spsc_place_in<T, process_memory>(mpm_ptr{block_})),
        in({}, where, capacity),
        out({}, where, capacity) {}
  ~ring() {
    out.consume([](T&&) {});
    ::operator delete(block_, line);
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

 private:
  std::byte* block_;

 public:
  spsc_place where;
  spsc_producer<T> in;
  spsc_consumer<T> out;
};

TEST(SpscRing, KeepsOrderAndBoundsForEveryCapacity) {
  for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 64U}) {
    ring<int> r(capacity);
    int sent = 0, received = 0;
    for (int round = 0; round < 20; ++round) {
      while (r.in.try_emplace(sent)) ++sent;
      EXPECT_EQ(static_cast<std::size_t>(sent - received), capacity);
      EXPECT_EQ(r.where.size(process_memory{}), capacity);
      EXPECT_EQ(r.in.room(), 0U);
      // A single free slot is seen, though it is no quarter of the ring.
      EXPECT_EQ(r.out.try_pop(), received++);
      EXPECT_EQ(r.in.room(), 1U);
      for (int i = 0; i < round % 3; ++i) {
        if (const auto item = r.out.try_pop()) {
          EXPECT_EQ(*item, received++);
        }
      }
    }
    while (const auto item = r.out.try_pop()) EXPECT_EQ(*item, received++);
    EXPECT_EQ(received, sent);
    EXPECT_TRUE(r.out.empty());
  }
}

TEST(SpscRing, PublishesRoomByQuarters) {
  ring<int> r(8);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(r.in.try_emplace(i));
  EXPECT_EQ(r.out.try_pop(), 0);
  EXPECT_FALSE(r.in.room_is_published());
  EXPECT_EQ(r.out.try_pop(), 1);
  EXPECT_TRUE(r.in.room_is_published());
  EXPECT_EQ(r.out.try_pop(), 2);
  EXPECT_EQ(r.in.room(), 2U);
  r.out.publish();
  EXPECT_TRUE(r.in.room_is_published());
}

TEST(SpscRing, PushesAndTakesBatches) {
  ring<int> r(10);
  std::vector<int> source(16), got;
  std::iota(source.begin(), source.end(), 0);
  EXPECT_EQ(r.in.try_push(source.begin(), 0), 0U);
  EXPECT_EQ(r.in.try_push(source.begin(), 7), 7U);
  EXPECT_EQ(r.in.try_push(source.begin() + 7, 9), 3U);
  EXPECT_EQ(r.in.try_push(source.begin() + 10, 6), 0U);
  const auto keep = [&](int&& item) { got.push_back(item); };
  EXPECT_EQ(r.out.consume(keep, 4), 4U);
  EXPECT_EQ(r.in.try_push(source.begin() + 10, 6), 4U);
  EXPECT_EQ(r.out.consume(keep, 0), 0U);
  EXPECT_EQ(r.out.consume(keep), 10U) << "those that came meanwhile, too";
  EXPECT_EQ(r.out.consume(keep), 0U);
  EXPECT_EQ(got, std::vector<int>(source.begin(), source.begin() + 14));
}

struct alignas(256) wide {
  explicit wide(std::unique_ptr<int> held) : value(std::move(held)) {}
  std::unique_ptr<int> value;
};

TEST(SpscRing, CarriesOverAlignedItemsThatMove) {
  ring<wide> r(3);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(r.in.try_emplace(std::make_unique<int>(i)));
    r.out.consume([&](wide&& item) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&item) % alignof(wide), 0U);
      EXPECT_EQ(*item.value, i);
    });
  }
  ASSERT_TRUE(r.in.try_emplace(std::make_unique<int>(0)));  // destroyed with the ring
}

struct immovable {
  explicit immovable(int n) : number(n) {}
  immovable(const immovable&) = delete;
  int number;
};

TEST(SpscRing, ConstructsInPlace) {
  ring<immovable> r(2);
  ASSERT_TRUE(r.in.try_emplace(4));
  int got = 0;
  r.out.consume([&](immovable&& item) { got = item.number; });
  EXPECT_EQ(got, 4);
}

/// Throws from its third copy on, and counts the living.
struct fragile {
  static inline int copies = 0, alive = 0;
  explicit fragile(int n) : number(n) { ++alive; }
  fragile(const fragile& other) : number(other.number) {
    if (++copies == 3) throw number;
    ++alive;
  }
  ~fragile() { --alive; }
  int number;
};

TEST(SpscRing, KeepsItsStateWhenAConstructorOrAReceiverThrows) {
  {
    ring<fragile> r(8);
    std::vector<fragile> source;
    source.reserve(5);
    for (int i = 0; i < 5; ++i) source.emplace_back(i);
    fragile::copies = 0;
    EXPECT_THROW((void)r.in.try_push(source.begin(), 5), int);
    EXPECT_EQ(r.where.size(process_memory{}), 2U) << "those before it are added";
    fragile::copies = 2;
    EXPECT_THROW((void)r.in.try_emplace(source[2]), int);
    EXPECT_TRUE(r.in.try_emplace(source[2]));
    std::vector<int> got;
    const auto take = [&](fragile&& item) {
      if (item.number == 1 && got.size() == 1) {
        got.push_back(-1);
        throw item.number;
      }
      got.push_back(item.number);
    };
    EXPECT_THROW(r.out.consume(take), int);
    EXPECT_EQ(r.out.consume(take), 2U) << "the item stays the next one";
    EXPECT_EQ(got, (std::vector<int>{0, -1, 1, 2}));
    EXPECT_TRUE(r.in.try_emplace(7));
  }
  EXPECT_EQ(fragile::alive, 0);
}

TEST(SpscRing, ClosesWithAReason) {
  ring<int> r(2);
  EXPECT_FALSE(r.out.closed_by_producer());
  ASSERT_TRUE(r.in.try_emplace(1));
  r.in.close(42);
  EXPECT_FALSE(r.out.closed_by_producer()) << "an item is left";
  EXPECT_EQ(r.out.try_pop(), 1);
  EXPECT_EQ(r.out.closed_by_producer(), 42U);
  EXPECT_FALSE(r.in.closed_by_consumer());
  r.out.close(7);
  EXPECT_EQ(r.in.closed_by_consumer(), 7U);
  EXPECT_GT(r.in.room(), 0U);
}

TEST(SpscRing, VisitsTheLastItems) {
  ring<std::unique_ptr<int>> r(3);
  const auto last = [&](std::size_t count) {
    std::vector<int> values;
    r.in.visit_last(count, [&](const std::unique_ptr<int>& each) { values.push_back(*each); });
    return values;
  };
  EXPECT_TRUE(r.in.try_emplace(std::make_unique<int>(1)));
  EXPECT_EQ(last(1), std::vector<int>{1});
  EXPECT_TRUE(r.in.try_emplace(std::make_unique<int>(2)));
  EXPECT_TRUE(r.out.try_pop());
  for (const int each : {3, 4}) EXPECT_TRUE(r.in.try_emplace(std::make_unique<int>(each)));
  EXPECT_EQ(last(3), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(last(2), (std::vector<int>{3, 4}));
  EXPECT_TRUE(last(0).empty());
}

TEST(SpscRing, RejectsCapacitiesOutOfRange) {
  EXPECT_THROW(spsc_producer<int>({}, {}, 0), usage_error);
  EXPECT_THROW(spsc_consumer<int>({}, {}, (std::size_t{1} << 29) + 1), usage_error);
}

TEST(SpscRing, CarriesItemsBetweenTwoThreads) {
  for (const std::size_t capacity : {1U, 5U, 64U}) {
    ring<std::unique_ptr<int>> r(capacity);
    constexpr int count = 20'000;
    std::thread producer([&] {
      for (int i = 0; i < count; ++i) {
        auto item = std::make_unique<int>(i);
        spin_briefly([&] { return r.in.try_emplace(std::move(item)); });
      }
      r.in.close(1);
    });
    int next = 0;
    while (!r.out.closed_by_producer()) {
      const std::size_t taken =
          r.out.consume([&](std::unique_ptr<int>&& item) { EXPECT_EQ(*item, next++); }, 3);
      if (taken == 0) std::this_thread::yield();
    }
    producer.join();
    EXPECT_EQ(next, count);
  }
}

/// Over a memory policy: each end waits in its own memory.
TEST(SpscRing, CarriesBytesBetweenTwoCores) {
  struct pair {
    std::uint32_t number;
    std::uint64_t square;
  };
  static_assert(!object_memory<host_backend::memory>);
  for (const std::size_t capacity : {1U, 6U}) {
    host_backend::memory_space space(2);
    std::thread producer([&] {
      host_backend::memory memory = space.core(core_id{0});
      const auto where = spsc_place_between<pair>(memory, core_id{0}, core_id{1}, 64);
      spsc_producer<pair, host_backend::memory> in(memory, where, capacity);
      for (std::uint32_t i = 0; i < 5000; ++i) {
        while (!in.try_emplace(pair{i, std::uint64_t{i} * i})) ASSERT_TRUE(in.wait_for_room());
      }
      in.close(9);
    });
    host_backend::memory memory = space.core(core_id{1});
    const auto where = spsc_place_between<pair>(memory, core_id{0}, core_id{1}, 64);
    spsc_consumer<pair, host_backend::memory> out(memory, where, capacity);
    std::uint32_t next = 0;
    while (out.wait_for_item()) {
      out.consume([&](const pair& item) {
        EXPECT_EQ(item.number, next);
        EXPECT_EQ(item.square, std::uint64_t{next} * next);
        ++next;
      });
    }
    producer.join();
    EXPECT_EQ(next, 5000U);
    EXPECT_EQ(out.closed_by_producer(), 9U);
  }
}

}  // namespace
