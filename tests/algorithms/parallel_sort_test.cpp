// SPDX-License-Identifier: Apache-2.0
// parallel_sort by comparisons: against std::sort, within O(n log n), nothing lost when it fails.
#include <creek/tasking/parallel_sort.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_workers.hpp"
#include "sort_inputs.hpp"
#include "support/few_cases.hpp"

namespace {

using creek::parallel_sort;
using creek::support::on_workers;
using creek::support::seeded;
using creek::support::sort_inputs;

// A comparator that the vectorised sort does not know.
constexpr auto by_value = [](std::int64_t a, std::int64_t b) { return a < b; };

constexpr std::size_t sizes[] = {0, 1, 2, 3, 23, 24, 25, 127, 128, 129, 1023, 1024, 1025, 20'000};

TEST(parallel_sort, equals_the_serial_sort_for_every_input) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      for (auto& [name, v] : sort_inputs(n, random.engine)) {
        auto expected = v;
        std::sort(expected.begin(), expected.end());
        parallel_sort(v.begin(), v.end(), by_value);
        EXPECT_EQ(v, expected) << name << ", n = " << n;
      }
    }
  });
}

TEST(parallel_sort, needs_n_log_n_comparisons_at_most) {
  seeded random;
  on_workers([&] {
    constexpr std::size_t n = creek::support::few_cases ? 20'000 : 100'000;
    for (auto& [name, v] : sort_inputs(n, random.engine)) {
      std::atomic<std::size_t> comparisons{0};
      parallel_sort(v, [&](std::int64_t a, std::int64_t b) {
        comparisons.fetch_add(1, std::memory_order_relaxed);
        return a < b;
      });
      EXPECT_LE(static_cast<double>(comparisons.load()), 3.0 * n * std::log2(n)) << name;
      EXPECT_TRUE(std::ranges::is_sorted(v)) << name;
    }
  });
}

// Answers so that every pivot turns out bad; decides the order of elements only when asked.
// Source: [McIlroy 1999].
TEST(parallel_sort, is_not_quadratic_against_an_adversary) {
  constexpr int n = 20'000;
  const int gas = n;
  std::vector<int> value(n, gas), items(n);
  for (int i = 0; i < n; ++i) items[static_cast<std::size_t>(i)] = i;
  int solid = 0, candidate = 0;
  std::size_t comparisons = 0;
  parallel_sort(items, [&](int x, int y) {  // outside a runtime: one thread
    ++comparisons;
    auto& a = value[static_cast<std::size_t>(x)];
    auto& b = value[static_cast<std::size_t>(y)];
    if (a == gas && b == gas) (x == candidate ? a : b) = solid++;
    if (a == gas) {
      candidate = x;
    } else if (b == gas) {
      candidate = y;
    }
    return a < b;
  });
  EXPECT_LE(static_cast<double>(comparisons), 8.0 * n * std::log2(n));
}

TEST(parallel_sort, sorts_move_only_elements) {
  seeded random;
  on_workers([&] {
    std::vector<std::unique_ptr<int>> v;
    for (int i = 0; i < 20'000; ++i)
      v.push_back(std::make_unique<int>(static_cast<int>(random.engine() % 1000)));
    parallel_sort(v, [](const auto& a, const auto& b) { return *a < *b; });
    EXPECT_TRUE(std::ranges::is_sorted(v, {}, [](const auto& p) { return *p; }));
  });
}

TEST(parallel_sort, sorts_strings_in_a_deque_backwards) {
  seeded random;
  on_workers([&] {
    std::deque<std::string> d;
    for (int i = 0; i < 10'000; ++i) d.push_back(std::to_string(random.engine() % 5000));
    auto expected = d;
    std::sort(expected.begin(), expected.end(), std::greater{});
    parallel_sort(d, std::greater{});
    EXPECT_EQ(d, expected);
    parallel_sort(d.rbegin(), d.rend(), std::greater{});
    EXPECT_TRUE(std::ranges::is_sorted(d));
  });
}

TEST(parallel_sort, keeps_every_element_when_the_comparator_throws) {
  seeded random;
  on_workers([&] {
    for (std::size_t after : {0u, 1u, 100u, 5'000u, 30'000u, 100'000u, 200'000u}) {
      std::vector<std::unique_ptr<std::size_t>> v;
      for (std::size_t i = 0; i < 20'000; ++i) v.push_back(std::make_unique<std::size_t>(i));
      std::shuffle(v.begin(), v.end(), random.engine);
      std::atomic<std::size_t> calls{0};
      EXPECT_THROW(parallel_sort(v,
                                 [&](const auto& a, const auto& b) {
                                   if (calls++ >= after) throw std::runtime_error("compare");
                                   return *a < *b;
                                 }),
                   std::runtime_error);
      std::vector<bool> seen(v.size());
      for (const auto& p : v) {
        ASSERT_NE(p, nullptr);
        ASSERT_FALSE(seen[*p]);
        seen[*p] = true;
      }
    }
  });
}

TEST(parallel_sort, permutes_under_a_comparator_that_is_no_order) {
  seeded random;
  on_workers([&] {
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<std::uint64_t> v(10'000);
      for (auto& x : v) x = random.engine();
      auto before = v;
      parallel_sort(v, [kind](std::uint64_t a, std::uint64_t b) {
        switch (kind) {
          case 0:
            return true;
          case 1:
            return ((a ^ b) & 64) != 0;
          case 2:
            return a <= b;
          default:
            return a % 7 != b % 5;
        }
      });
      std::ranges::sort(v);
      std::ranges::sort(before);
      EXPECT_EQ(v, before) << kind;
    }
  });
}

/// A small plain value, of which several sizes are sorted by copies.
template <std::size_t Words>
struct record {
  std::uint64_t key;
  std::array<std::uint64_t, Words> rest;
  friend bool operator==(const record&, const record&) = default;
};

template <class T>
class parallel_sort_of_plain_values : public ::testing::Test {
 protected:
  /// Returns `n` values with up to `keys` different keys.
  std::vector<T> values(std::size_t n, std::uint64_t keys) {
    std::vector<T> made(n);
    for (std::size_t i = 0; i < n; ++i) {
      made[i] = T{};
      const std::uint64_t key = random.engine() % keys;
      std::memcpy(&made[i], &key, std::min(sizeof key, sizeof(T)));
      if constexpr (sizeof(T) > sizeof key) {
        std::memcpy(reinterpret_cast<std::byte*>(&made[i]) + sizeof key, &i, sizeof i);
      }
    }
    return made;
  }
  static std::uint64_t key_of(const T& value) {
    std::uint64_t key = 0;
    std::memcpy(&key, &value, std::min(sizeof key, sizeof(T)));
    return key;
  }
  static bool by_key(const T& a, const T& b) { return key_of(a) < key_of(b); }
  /// Brings values that are a permutation of each other into the same order.
  static std::vector<T> in_one_order(std::vector<T> values) {
    std::ranges::sort(values,
                      [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) < 0; });
    return values;
  }
  seeded random;
};
#ifdef CREEK_TEST_FEW_CASES  // the smallest, the largest that is copied, and one that is not
using plain_values = ::testing::Types<std::uint8_t, record<3>, record<4>>;
#else
using plain_values =
    ::testing::Types<std::uint8_t, std::uint16_t, std::uint64_t, record<1>, record<3>, record<4>>;
#endif
TYPED_TEST_SUITE(parallel_sort_of_plain_values, plain_values);

TYPED_TEST(parallel_sort_of_plain_values, sorts_ranges_of_every_length) {
  using test = parallel_sort_of_plain_values<TypeParam>;
  const auto expect_sorted = [this](std::size_t n, std::uint64_t keys) {
    auto v = this->values(n, keys);
    const auto before = v;
    parallel_sort(v, &test::by_key);
    EXPECT_TRUE(std::ranges::is_sorted(v, &test::by_key)) << n << " elements, keys " << keys;
    EXPECT_EQ(test::in_one_order(v), test::in_one_order(before));
  };
  for (std::size_t n = 0; n < 700; n += n < 140 ? 1 : 37) {
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}})
      expect_sorted(n, keys);
  }
  for (const std::size_t n : {2047U, 8192U, 16384U, 16385U, 40'000U}) {
    for (const std::uint64_t keys : {std::uint64_t{40}, ~std::uint64_t{0}}) expect_sorted(n, keys);
  }
}

TYPED_TEST(parallel_sort_of_plain_values, keeps_the_order_of_equal_ones_if_asked) {
  using test = parallel_sort_of_plain_values<TypeParam>;
  for (std::size_t n = 0; n < 10'000; n += n < 140 ? 1 : 977) {
    auto v = this->values(n, n / 4 + 1);
    auto expected = v;
    std::ranges::stable_sort(expected, &test::by_key);
    creek::parallel_stable_sort(v, &test::by_key);
    EXPECT_EQ(v, expected) << n << " elements";
  }
}

TYPED_TEST(parallel_sort_of_plain_values, keeps_every_element_when_the_comparator_throws) {
  using test = parallel_sort_of_plain_values<TypeParam>;
  int thrown = 0;
  const auto expect_kept = [&](std::size_t n, std::size_t calls, auto sort) {
    auto v = this->values(n, 1'000'000);
    const auto before = v;
    const auto tired = [&calls](const TypeParam& a, const TypeParam& b) {
      if (calls-- == 0) throw std::runtime_error("compare");
      return test::by_key(a, b);
    };
    try {
      sort(v, tired);
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    EXPECT_EQ(test::in_one_order(v), test::in_one_order(before)) << n << " elements";
  };
  const auto unstable = [](auto& v, auto less) { parallel_sort(v, less); };
  const auto stable = [](auto& v, auto less) { creek::parallel_stable_sort(v, less); };
  for (std::size_t calls = 0; calls < 1500; calls += 1 + calls / 5) {
    expect_kept(700, calls, unstable);
    expect_kept(700, calls, stable);
  }
  for (std::size_t calls = 1000; calls < 250'000; calls += 29'989) {
    expect_kept(20'000, calls, unstable);
    expect_kept(20'000, calls, stable);
  }
  EXPECT_GT(thrown, 50);
}

TYPED_TEST(parallel_sort_of_plain_values, permutes_under_a_comparator_that_is_no_order) {
  using test = parallel_sort_of_plain_values<TypeParam>;
  const auto guesses = [this](const TypeParam&, const TypeParam&) {
    return this->random.engine() % 2 == 0;
  };
  for (std::size_t n = 2; n < 20'000; n += n < 140 ? 1 : n / 2) {
    auto v = this->values(n, 1'000'000);
    const auto before = v;
    parallel_sort(v, guesses);
    EXPECT_EQ(test::in_one_order(v), test::in_one_order(before)) << n << " elements";
    creek::parallel_stable_sort(v, guesses);
    EXPECT_EQ(test::in_one_order(v), test::in_one_order(before)) << n << " elements, stably";
  }
}

TEST(parallel_sort, sorts_slices_concurrently) {
  seeded random;
  std::vector<std::int64_t> v(64 * 3000);
  for (auto& x : v) x = static_cast<std::int64_t>(random.engine());
  on_workers([&] {
    creek::parallel_for(0, 64, [&](int i) {
      parallel_sort(v.begin() + i * 3000, v.begin() + (i + 1) * 3000, by_value);
    });
    for (int i = 0; i < 64; ++i) {
      EXPECT_TRUE(std::is_sorted(v.begin() + i * 3000, v.begin() + (i + 1) * 3000));
    }
  });
}

}  // namespace
