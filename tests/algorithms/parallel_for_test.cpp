// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_for_range: every index exactly once, at the limits of every index type,
// with stops, exceptions and nesting.
#include <creek/tasking/parallel_for.hpp>

#include <atomic>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "on_workers.hpp"

namespace {

using creek::parallel_for;
using creek::parallel_for_range;
using creek::support::on_workers;

// Counts visits of positions 0 to n - 1.
class visits {
 public:
  explicit visits(std::size_t n) : count_(n) {}
  void operator()(std::size_t i) { count_.at(i).fetch_add(1, std::memory_order_relaxed); }
  bool each_once() const {
    return std::ranges::all_of(count_, [](const auto& c) { return c.load() == 1; });
  }

 private:
  std::deque<std::atomic<int>> count_;
};

TEST(parallel_for, visits_every_index_once_for_all_sizes_around_a_grain) {
  on_workers([] {
    for (std::size_t grain : {0u, 1u, 7u, 64u}) {
      for (std::size_t n : {0u, 1u, 2u, 3u, 6u, 7u, 8u, 13u, 14u, 15u, 63u, 64u, 65u, 1000u}) {
        visits seen(n);
        parallel_for(std::size_t{0}, n, [&](std::size_t i) { seen(i); }, {.grain = grain});
        EXPECT_TRUE(seen.each_once()) << "n = " << n << ", grain = " << grain;
      }
    }
  });
}

template <class Index>
class parallel_for_index : public ::testing::Test {};
using index_types =
    ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int, unsigned,
                     std::int64_t, std::uint64_t, long long, char, char16_t>;
TYPED_TEST_SUITE(parallel_for_index, index_types);

TYPED_TEST(parallel_for_index, reaches_both_limits_of_the_type) {
  using index = TypeParam;
  using limits = std::numeric_limits<index>;
  on_workers([] {
    const auto check = [](index first, index last) {
      const auto n =
          static_cast<std::size_t>(static_cast<std::make_unsigned_t<index>>(last - first));
      visits seen(n);
      parallel_for(first, last, [&](index i) {
        seen(static_cast<std::size_t>(static_cast<std::make_unsigned_t<index>>(i - first)));
      });
      EXPECT_TRUE(seen.each_once());
    };
    check(limits::min(), static_cast<index>(limits::min() + 100));
    check(static_cast<index>(limits::max() - 100), limits::max());
    if (sizeof(index) <= 2) check(limits::min(), limits::max());
  });
}

TEST(parallel_for, an_inverted_range_is_empty) {
  on_workers([] {
    parallel_for(5, -5, [](int) { FAIL(); });
    parallel_for(5u, 4u, [](unsigned) { FAIL(); });
    const std::vector<int> v(3);
    parallel_for(v.end(), v.begin(), [](int) { FAIL(); });
  });
}

TEST(parallel_for_range, covers_the_whole_64_bit_range) {
  on_workers([] {
    constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
    constexpr auto highest = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::uint64_t> covered{0};
    parallel_for_range(lowest, highest,
                       [&](std::int64_t lo, std::int64_t hi) {
                         EXPECT_LT(lo, hi);
                         covered += static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
                       },
                       {.grain = std::size_t{1} << 58});
    EXPECT_EQ(covered.load(), std::numeric_limits<std::uint64_t>::max());
  });
}

TEST(parallel_for_range, chunks_have_the_grain) {
  on_workers([] {
    std::atomic<int> short_chunks{0};
    visits seen(1000);
    parallel_for_range(0, 1000,
                       [&](int lo, int hi) {
                         EXPECT_LE(hi - lo, 64);
                         if (hi - lo < 64) ++short_chunks;
                         for (int i = lo; i < hi; ++i) seen(static_cast<std::size_t>(i));
                       },
                       {.grain = 64});
    EXPECT_TRUE(seen.each_once());
    EXPECT_LE(short_chunks.load(), 32);
  });
}

TEST(parallel_for, ends_of_different_types_meet_in_the_common_type) {
  on_workers([] {
    const std::vector<int> v(100, 1);
    std::atomic<int> sum{0};
    parallel_for(0, v.size(), [&](std::size_t i) { sum += v[i]; });
    EXPECT_EQ(sum.load(), 100);
    sum = 0;
    parallel_for_range(short{-3}, 5L, [&](long lo, long hi) { sum += static_cast<int>(hi - lo); });
    EXPECT_EQ(sum.load(), 8);
    EXPECT_THROW(parallel_for(-1, v.size(), [](std::size_t) {}), creek::usage_error);
  });
}

TEST(parallel_for, takes_iterators_ranges_and_proxies) {
  on_workers([] {
    std::vector<int> v(1000);
    parallel_for(v.begin(), v.end(), [](int& x) { x = 7; });
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 7000);
    parallel_for(std::span(v).first(10), [](int& x) { x = 0; }, {.grain = 3});
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 7000 - 70);
    std::deque<int> d(1000, 1);
    parallel_for(d, [](int& x) { ++x; });
    EXPECT_EQ(std::accumulate(d.begin(), d.end(), 0), 2000);
    std::vector<bool> bits(1000);
    bits[10] = bits[999] = true;
    std::atomic<int> sum{0};
    parallel_for(bits, [&](bool bit) { sum += bit; });
    EXPECT_EQ(sum.load(), 2);
    // Clang before 16 does not compile iota of libstdc++.
#if !defined(__clang__) || __clang_major__ >= 16
    sum = 0;
    parallel_for(std::views::iota(0, 100), [&](int i) { sum += i; });
    EXPECT_EQ(sum.load(), 4950);
#endif
  });
}

TEST(parallel_for, takes_bodies_that_can_be_neither_copied_nor_called_const) {
  on_workers([] {
    std::atomic<int> sum{0};
    struct body {
      std::unique_ptr<std::atomic<int>*> sum;
      void operator()(int i) { **sum += i; }
    };
    parallel_for(0, 100, body{std::make_unique<std::atomic<int>*>(&sum)});
    EXPECT_EQ(sum.load(), 4950);
  });
}

TEST(parallel_for, rethrows_and_leaves_out_what_has_not_begun) {
  on_workers([] {
    std::atomic<int> calls{0};
    try {
      parallel_for(0, 100'000,
                   [&](int i) {
                     ++calls;
                     if (i == 10) throw std::runtime_error("ten");
                   },
                   {.grain = 1});
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "ten");
    }
    if (creek::worker_count() == 1) {
      EXPECT_EQ(calls.load(), 11);
    }
    EXPECT_LE(calls.load(), 100'000);
  });
}

TEST(parallel_for, rethrows_one_of_many_exceptions) {
  on_workers([] { EXPECT_THROW(parallel_for(0, 1000, [](int i) { throw i; }), int); });
}

TEST(parallel_for, begins_no_chunk_after_a_stop) {
  on_workers([] {
    std::stop_source source;
    std::atomic<int> calls{0};
    const auto stop_at_once = [&](int) {
      ++calls;
      source.request_stop();
    };
    parallel_for(0, 1'000'000, stop_at_once, {.grain = 1, .stop = source.get_token()});
    EXPECT_GE(calls.load(), 1);
    EXPECT_LE(calls.load(), static_cast<int>(creek::worker_count()));
    parallel_for(0, 1000, [](int) { FAIL(); }, {.stop = source.get_token()});
  });
}

TEST(parallel_for, nests) {
  on_workers([] {
    constexpr std::size_t n = 50;
    visits seen(n * n * n);
    parallel_for(std::size_t{0}, n, [&](std::size_t i) {
      parallel_for(std::size_t{0}, n, [&, i](std::size_t j) {
        parallel_for(std::size_t{0}, n, [&, i, j](std::size_t k) { seen((i * n + j) * n + k); });
      });
    });
    EXPECT_TRUE(seen.each_once());
  });
}

TEST(parallel_for, survives_bodies_of_very_unequal_length) {
  on_workers([] {
    visits seen(2000);
    std::atomic<std::uint64_t> sink{0};
    parallel_for(0, 2000, [&](int i) {
      std::uint64_t x = 1;
      for (int k = 0; k < (i < 20 ? 20'000 : 1); ++k) x = x * 6364136223846793005u + 1;
      sink += x;
      seen(static_cast<std::size_t>(i));
    });
    EXPECT_TRUE(seen.each_once());
  });
}

TEST(parallel_for, runs_in_the_calling_thread_outside_a_runtime) {
  int sum = 0;  // not atomic: no other thread adds
  parallel_for(0, 1000, [&](int i) { sum += i; });
  EXPECT_EQ(sum, 499'500);
}

}  // namespace
