// SPDX-License-Identifier: Apache-2.0
// parallel_stable_sort: order of equal elements, lifetimes in the buffer, failures, no memory.
#include <creek/tasking/parallel_sort.hpp>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "on_workers.hpp"
#include "sort_inputs.hpp"
#include "support/few_cases.hpp"

namespace {

using creek::parallel_stable_sort;
using creek::support::on_workers;
using creek::support::seeded;
using creek::support::sort_inputs;

using item = std::pair<std::int64_t, std::size_t>;  // key, original position
constexpr auto by_key = [](const item& a, const item& b) { return a.first < b.first; };

std::vector<item> with_places(const std::vector<std::int64_t>& keys) {
  std::vector<item> items;
  for (std::size_t i = 0; i < keys.size(); ++i) items.emplace_back(keys[i], i);
  return items;
}

TEST(parallel_stable_sort, equals_the_serial_stable_sort_for_every_input) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : {0u, 1u, 2u, 24u, 25u, 49u, 4095u, 4096u, 4097u,
                          creek::support::few_cases ? 12'000u : 50'000u}) {
      for (auto& [name, keys] : sort_inputs(n, random.engine)) {
        auto items = with_places(keys), expected = items;
        std::stable_sort(expected.begin(), expected.end(), by_key);
        auto in_place = items;
        parallel_stable_sort(items, by_key);
        EXPECT_EQ(items, expected) << name << ", n = " << n;
        auto less = by_key;
        creek::detail::stable_sort_in_place(in_place.begin(), in_place.end(), less);
        EXPECT_EQ(in_place, expected) << name << ", without a buffer, n = " << n;
      }
    }
  });
}

TEST(parallel_stable_sort, needs_n_log_n_comparisons_at_most) {
  seeded random;
  on_workers([&] {
    constexpr std::size_t n = creek::support::few_cases ? 20'000 : 100'000;
    for (auto& [name, v] : sort_inputs(n, random.engine)) {
      std::atomic<std::size_t> comparisons{0};
      parallel_stable_sort(v, [&](std::int64_t a, std::int64_t b) {
        comparisons.fetch_add(1, std::memory_order_relaxed);
        return a < b;
      });
      EXPECT_LE(static_cast<double>(comparisons.load()), 2.0 * n * std::log2(n)) << name;
      EXPECT_TRUE(std::ranges::is_sorted(v)) << name;
    }
  });
}

TEST(parallel_stable_sort, keeps_minus_zero_before_zero_only_if_it_was) {
  on_workers([] {
    std::vector<double> v{0.0, -0.0, 1.0, -1.0, -0.0, 0.0};
    parallel_stable_sort(v);
    const std::vector<bool> negative{true, false, true, true, false, false};
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(std::signbit(v[i]), negative[i]) << i;
  });
}

TEST(parallel_stable_sort, integers_and_descending_order) {
  seeded random;
  on_workers([&] {
    std::vector<int> v(30'000);
    for (int& x : v) x = static_cast<int>(random.engine());
    parallel_stable_sort(v, std::greater{});
    EXPECT_TRUE(std::ranges::is_sorted(v, std::greater{}));
    parallel_stable_sort(v.begin(), v.end());
    EXPECT_TRUE(std::ranges::is_sorted(v));
  });
}

// Counts living objects, to find constructions in the buffer without a destruction.
class counted {
 public:
  explicit counted(std::size_t id) : id_(std::make_unique<std::size_t>(id)) { ++living; }
  counted(counted&& other) noexcept : id_(std::move(other.id_)) { ++living; }
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --living; }
  std::size_t id() const { return *id_; }

  static inline std::atomic<long> living{0};

 private:
  std::unique_ptr<std::size_t> id_;
};

TEST(parallel_stable_sort, destroys_what_it_constructed) {
  seeded random;
  on_workers([&] {
    std::vector<counted> v;
    for (std::size_t i = 0; i < 20'000; ++i) v.emplace_back(random.engine() % 100);
    parallel_stable_sort(v, [](const counted& a, const counted& b) { return a.id() < b.id(); });
    EXPECT_EQ(counted::living.load(), 20'000);
    EXPECT_TRUE(std::ranges::is_sorted(v, {}, [](const counted& c) { return c.id(); }));
  });
  EXPECT_EQ(counted::living.load(), 0);
}

TEST(parallel_stable_sort, keeps_every_element_when_the_comparator_throws) {
  seeded random;
  on_workers([&] {
    for (std::size_t after : {0u, 1u, 20u, 1'000u, 30'000u, 100'000u, 200'000u, 240'000u}) {
      std::vector<counted> v;
      for (std::size_t i = 0; i < 20'000; ++i) v.emplace_back(i);
      std::shuffle(v.begin(), v.end(), random.engine);
      std::atomic<std::size_t> calls{0};
      const auto fails = [&](const counted& a, const counted& b) {
        if (calls++ >= after) throw std::runtime_error("compare");
        return a.id() < b.id();
      };
      EXPECT_THROW(parallel_stable_sort(v, fails), std::runtime_error);
      EXPECT_EQ(counted::living.load(), 20'000);
      std::vector<bool> seen(v.size());
      for (const counted& c : v) {
        ASSERT_FALSE(seen[c.id()]);
        seen[c.id()] = true;
      }
    }
  });
}

}  // namespace
