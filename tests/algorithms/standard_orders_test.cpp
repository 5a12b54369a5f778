// SPDX-License-Identifier: Apache-2.0
// merge, unique, partition and stable_sort against those of std: order, stability, failures.
#include <creek/tasking/algorithm.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "on_workers.hpp"
#include "sort_inputs.hpp"
#include "support/few_cases.hpp"

namespace {

using creek::support::on_workers;
using creek::support::seeded;
using creek::support::sort_inputs;

constexpr std::size_t sizes[] = {
    0, 1, 2, 3, 4095, 4096, 4097, 8192, creek::support::few_cases ? 20'001 : 80'001};

struct item {
  std::int64_t key = 0;
  std::size_t place = 0;
  bool operator==(const item&) const = default;
};

std::vector<item> with_places(const std::vector<std::int64_t>& keys) {
  std::vector<item> items;
  for (std::size_t i = 0; i < keys.size(); ++i) items.push_back({keys[i], i});
  return items;
}

using owner = std::unique_ptr<std::int64_t>;
constexpr auto value_of = [](const owner& p) { return *p; };

std::vector<owner> owners(const std::vector<std::int64_t>& values) {
  std::vector<owner> v;
  for (std::int64_t x : values) v.push_back(std::make_unique<std::int64_t>(x));
  return v;
}

/// Returns the values of all elements, in ascending order.
std::vector<std::int64_t> sorted_values(const std::vector<owner>& v) {
  std::vector<std::int64_t> values;
  for (const owner& p : v) values.push_back(*p);
  std::ranges::sort(values);
  return values;
}

/// Throws at call number `after`.
struct failing {
  std::atomic<std::size_t> calls{0};
  std::size_t after;
  explicit failing(std::size_t n) : after(n) {}
  void call() {
    if (calls++ == after) throw std::runtime_error("call");
  }
};

TEST(standard_orders, calls_without_qualification_are_not_ambiguous) {
  using creek::merge, creek::unique, creek::partition, creek::stable_sort;
  on_workers([] {
    std::vector<int> v{3, 1, 1, 2}, out(8);
    stable_sort(v.begin(), v.end());
    merge(v.begin(), v.end(), v.begin(), v.end(), out.begin());
    EXPECT_EQ(unique(out.begin(), out.end()) - out.begin(), 3);
    EXPECT_EQ(partition(v.begin(), v.end(), [](int x) { return x == 1; }), v.begin() + 2);
  });
  using vector = std::vector<int>;
  static_assert(std::same_as<decltype(unique(vector())), std::ranges::dangling>);
  static_assert(std::same_as<decltype(stable_sort(vector())), std::ranges::dangling>);
  static_assert(
      std::same_as<decltype(partition(vector(), std::identity{})), std::ranges::dangling>);
}

TEST(standard_orders, merge_equals_that_of_std_and_is_stable) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      for (std::size_t m : {std::size_t{0}, std::size_t{1}, n / 7, n}) {
        for (std::int64_t values : {1, 10, 1 << 30}) {
          std::vector<item> a(n), b(m);
          for (auto& x : a) x.key = static_cast<std::int64_t>(random.engine()) % values;
          for (auto& x : b) x.key = static_cast<std::int64_t>(random.engine()) % values;
          std::ranges::stable_sort(a, {}, &item::key);
          std::ranges::stable_sort(b, {}, &item::key);
          for (std::size_t i = 0; i < n; ++i) a[i].place = i;
          for (std::size_t i = 0; i < m; ++i) b[i].place = n + i;
          std::vector<item> out(n + m), expected(n + m);
          std::ranges::merge(a, b, expected.begin(), {}, &item::key, &item::key);
          const auto ends = creek::merge(a, b, out.begin(), {}, &item::key, &item::key);
          EXPECT_TRUE(ends.in1 == a.end() && ends.in2 == b.end() && ends.out == out.end());
          EXPECT_EQ(out, expected);
          if (n > 9000) continue;
          std::ranges::fill(out, item{});
          creek::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin(), {}, &item::key,
                       &item::key, {.grain = 3});
          EXPECT_EQ(out, expected);
        }
      }
    }
  });
}

TEST(standard_orders, merge_takes_inputs_of_two_types) {
  on_workers([] {
    std::vector<int> a(20'000);
    std::vector<long> b(30'000), out(50'000), expected(50'000);
    std::iota(a.rbegin(), a.rend(), 5);
    std::iota(b.rbegin(), b.rend(), -100);
    std::ranges::merge(a, b, expected.begin(), std::ranges::greater{});
    creek::merge(a, b, out.begin(), std::ranges::greater{}, {.grain = 100});
    EXPECT_EQ(out, expected);
  });
}

TEST(standard_orders, merge_rethrows_stops_and_bears_an_order_that_is_none) {
  seeded random;
  on_workers([&] {
    std::vector<int> a(20'000), out(40'000, -1);
    std::iota(a.begin(), a.end(), 0);
    auto b = a;
    for (int after : {0, 100, 10'000}) {
      failing f(static_cast<std::size_t>(after));
      const auto less = [&](int x, int y) {
        f.call();
        return x < y;
      };
      EXPECT_THROW(creek::merge(a, b, out.begin(), less), std::runtime_error);
    }
    std::ranges::fill(out, -1);
    std::stop_source source;
    source.request_stop();
    const creek::parallel_options stopped{.stop = source.get_token()};
    creek::merge(a, b, out.begin(), std::ranges::less{}, stopped);
    EXPECT_TRUE(std::ranges::all_of(out, [](int x) { return x == -1; }));
    std::ranges::fill(a, 0);
    std::ranges::fill(b, 0);
    std::atomic<unsigned> state{static_cast<unsigned>(random.engine())};
    const auto whim = [&](int, int) {
      return ((state += 0x9e3779b9u) * 0x85ebca6bu & 0x10000u) != 0;
    };
    creek::merge(a, b, out.begin(), whim, {.grain = 64});  // within its bounds
    EXPECT_TRUE(std::ranges::all_of(out, [](int x) { return x == 0; }));
  });
}

TEST(standard_orders, unique_equals_that_of_std) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      for (auto& [name, keys] : sort_inputs(n, random.engine)) {
        for (bool sorted : {false, true}) {
          if (sorted) std::ranges::sort(keys);
          auto got = with_places(keys), expected = got;
          got.erase(creek::unique(got, {}, &item::key), got.end());
          const auto same = [](const item& a, const item& b) { return a.key == b.key; };
          expected.erase(std::unique(expected.begin(), expected.end(), same), expected.end());
          EXPECT_EQ(got, expected) << name << ", n = " << n;
        }
      }
    }
  });
}

TEST(standard_orders, unique_of_elements_that_only_move) {
  seeded random;
  on_workers([&] {
    std::vector<std::int64_t> values(60'000);
    for (auto& x : values) x = static_cast<std::int64_t>(random.engine() % 3);
    auto v = owners(values);
    std::atomic<std::size_t> calls{0};
    const auto same = [&](std::int64_t a, std::int64_t b) {
      ++calls;
      return a == b;
    };
    const auto rest = creek::unique(v.begin(), v.end(), same, value_of);
    EXPECT_LT(calls.load(), values.size());
    v.erase(rest, v.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    ASSERT_EQ(v.size(), values.size());
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(*v[i], values[i]);

    auto w = owners(values);
    failing f(20'000);
    const auto fails = [&](const owner& a, const owner& b) {
      f.call();
      return a && b && *a == *b;
    };
    EXPECT_THROW(creek::unique(w, fails), std::runtime_error);
    for (owner& p : w) p = std::make_unique<std::int64_t>(1);  // each is valid
  });
}

TEST(standard_orders, partition_separates_and_keeps_every_element) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      for (auto& [name, keys] : sort_inputs(n, random.engine)) {
        auto v = with_places(keys);
        const std::int64_t pivot = n == 0 ? 0 : keys[n / 2];
        const auto below = [&](std::int64_t key) { return key < pivot; };
        const auto others = creek::partition(v, below, &item::key);
        EXPECT_EQ(others - v.begin(), std::ranges::count_if(keys, below)) << name;
        EXPECT_TRUE(std::ranges::is_partitioned(v, below, &item::key)) << name;
        std::ranges::sort(v, {}, &item::place);
        EXPECT_EQ(v, with_places(keys)) << name;
      }
    }
  });
}

TEST(standard_orders, partition_moves_only_and_keeps_every_element_after_an_exception) {
  seeded random;
  on_workers([&] {
    std::vector<std::int64_t> values(60'000);
    std::iota(values.begin(), values.end(), 0);
    auto v = owners(values);
    std::ranges::shuffle(v, random.engine);
    std::atomic<std::size_t> calls{0};
    const auto others = creek::partition(
        v.begin(), v.end(),
        [&](std::int64_t x) {
          ++calls;
          return x < 25'000;
        },
        value_of);
    EXPECT_EQ(calls.load(), values.size());
    EXPECT_EQ(others - v.begin(), 25'000);
    for (std::size_t after : {0u, 10u, 30'000u}) {
      failing f(after);
      const auto odd = [&](std::int64_t x) {
        f.call();
        return x % 2 == 1;
      };
      EXPECT_THROW(creek::partition(v, odd, value_of), std::runtime_error);
      EXPECT_EQ(sorted_values(v), values);
    }
  });
}

TEST(standard_orders, stable_sort_equals_that_of_std) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      for (auto& [name, keys] : sort_inputs(n, random.engine)) {
        auto got = with_places(keys), expected = got;
        std::ranges::stable_sort(expected, std::ranges::greater{}, &item::key);
        EXPECT_EQ(creek::stable_sort(got, std::ranges::greater{}, &item::key), got.end());
        EXPECT_EQ(got, expected) << name << ", n = " << n;
        std::ranges::sort(keys);
        auto plain = keys;
        std::ranges::reverse(plain);
        creek::stable_sort(plain);
        EXPECT_EQ(plain, keys) << name;
      }
    }
  });
}

TEST(standard_orders, stable_sort_keeps_every_element_after_an_exception) {
  seeded random;
  on_workers([&] {
    std::vector<std::int64_t> values(30'000);
    std::iota(values.begin(), values.end(), 0);
    for (std::size_t after : {0u, 1000u, 100'000u}) {
      auto v = owners(values);
      std::ranges::shuffle(v, random.engine);
      failing f(after);
      const auto less = [&](std::int64_t a, std::int64_t b) {
        f.call();
        return a < b;
      };
      EXPECT_THROW(creek::stable_sort(v, less, value_of), std::runtime_error);
      EXPECT_EQ(sorted_values(v), values);
      creek::stable_sort(v.begin(), v.end(), {}, value_of);
      EXPECT_TRUE(std::ranges::is_sorted(v, {}, value_of));
    }
  });
}

TEST(standard_orders, work_outside_a_runtime_in_the_calling_thread) {
  std::vector<int> v(20'000), out(40'000);
  std::iota(v.rbegin(), v.rend(), 0);
  creek::stable_sort(v);
  creek::merge(v, v, out.begin());
  EXPECT_EQ(creek::unique(out) - out.begin(), 20'000);
  EXPECT_EQ(creek::partition(v, [](int x) { return x % 2 == 0; }) - v.begin(), 10'000);
}

}  // namespace
