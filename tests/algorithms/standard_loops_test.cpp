// SPDX-License-Identifier: Apache-2.0
// for_each, transform, transform_reduce, find_if, count_if and the scans against those of std.
#include <creek/tasking/algorithm.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_workers.hpp"

namespace {

using creek::support::on_workers;
using creek::support::seeded;

constexpr std::size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1000, 16'384, 16'385, 100'003};

struct entry {
  long key = 0, value = 0;
  bool operator==(const entry&) const = default;
};

std::vector<long> numbers(std::size_t n, std::mt19937_64& random) {
  std::vector<long> v(n);
  for (long& x : v) x = static_cast<long>(random() % 2001) - 1000;
  return v;
}

template <class Range>
concept has_for_each_by_lookup = requires(Range& r) {
  for_each(r, [](auto&&) {});
};
struct of_creek_only {
  creek::parallel_options options;
};
static_assert(!has_for_each_by_lookup<std::vector<of_creek_only>>);

TEST(standard_loops, calls_without_qualification_are_not_ambiguous) {
  using creek::for_each, creek::transform, creek::find_if, creek::count_if;
  on_workers([] {
    std::vector<int> v{1, 2, 3}, out(3);
    for_each(v.begin(), v.end(), [](int& x) { ++x; });
    transform(v.begin(), v.end(), out.begin(), [](int x) { return 2 * x; });
    EXPECT_EQ(out, (std::vector<int>{4, 6, 8}));
    EXPECT_EQ(find_if(v.begin(), v.end(), [](int x) { return x == 3; }), v.begin() + 1);
    EXPECT_EQ(count_if(v.begin(), v.end(), [](int x) { return x > 2; }), 2);
  });
}

TEST(standard_loops, results_of_temporary_ranges_dangle) {
  const auto any = [](int) { return true; };
  using vector = std::vector<int>;
  static_assert(std::same_as<decltype(creek::find_if(vector(), any)), std::ranges::dangling>);
  static_assert(std::same_as<decltype(creek::for_each(vector(), any)), std::ranges::dangling>);
  static_assert(std::same_as<decltype(creek::find_if(std::span<int>(), any)),
                             std::ranges::iterator_t<std::span<int>>>);
  static_assert(std::same_as<decltype(creek::transform(vector(), std::declval<int*>(), any)),
                             std::ranges::unary_transform_result<std::ranges::dangling, int*>>);
  on_workers([&] { EXPECT_EQ(creek::count_if(vector(5), any), 5); });
}

TEST(standard_loops, for_each_visits_every_element_once) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      std::vector<entry> v(n), expected(n);
      for (std::size_t i = 0; i < n; ++i) v[i].key = expected[i].key = static_cast<long>(i);
      for (auto& e : expected) e.value = 3;
      EXPECT_EQ(creek::for_each(
                    v, [](long& x) { ++x; }, &entry::value),
                v.end());
      EXPECT_EQ(creek::for_each(v.begin(), v.end(), [](entry& e) { ++e.value; }), v.end());
      EXPECT_EQ(creek::for_each(v, [](entry& e) { ++e.value; }, {.grain = 7}), v.end());
      EXPECT_EQ(v, expected);
    }
  });
}

TEST(standard_loops, for_each_takes_elements_that_only_move) {
  on_workers([] {
    std::vector<std::unique_ptr<int>> v(1000);
    creek::for_each(v, [](std::unique_ptr<int>& p) { p = std::make_unique<int>(4); });
    EXPECT_EQ(
        creek::count_if(
            v, [](int x) { return x == 4; }, [](const std::unique_ptr<int>& p) { return *p; }),
        1000);
  });
}

TEST(standard_loops, for_each_stops_and_rethrows) {
  on_workers([] {
    std::vector<int> v(10'000);
    std::stop_source source;
    source.request_stop();
    const creek::parallel_options stopped{.stop = source.get_token()};
    creek::for_each(
        v, [](int& x) { ++x; }, stopped);
    EXPECT_EQ(creek::count_if(v, [](int x) { return x != 0; }), 0);
    EXPECT_THROW(creek::for_each(v, [](int) { throw std::runtime_error("f"); }),
                 std::runtime_error);
  });
}

TEST(standard_loops, transform_equals_that_of_std) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      const auto a = numbers(n, random.engine), b = numbers(n + n / 3, random.engine);
      std::vector<long> out(n), expected(n);
      const auto square = [](long x) { return x * x; };
      std::ranges::transform(a, expected.begin(), square, std::negate{});
      const auto unary = creek::transform(a, out.begin(), square, std::negate{});
      EXPECT_TRUE(unary.in == a.end() && unary.out == out.end());
      EXPECT_EQ(out, expected);

      std::ranges::transform(b, a, expected.begin(), std::minus{}, std::negate{}, square);
      for (bool first_longer : {false, true}) {
        std::fill(out.begin(), out.end(), 0);
        if (first_longer) {
          const auto ends =
              creek::transform(b, a, out.begin(), std::minus{}, std::negate{}, square);
          EXPECT_TRUE(ends.in1 == b.begin() + static_cast<long>(n) && ends.in2 == a.end());
          EXPECT_EQ(ends.out, out.end());
        } else {
          const auto ends = creek::transform(a.begin(), a.end(), b.begin(), b.end(), out.begin(),
                                             [](long x, long y) { return y - x; }, square,
                                             std::negate{}, {.grain = 100});
          EXPECT_TRUE(ends.in1 == a.end() && ends.in2 == b.begin() + static_cast<long>(n));
        }
        EXPECT_EQ(out, expected);
      }

      auto in_place = a;
      std::ranges::transform(a, expected.begin(), square);
      creek::transform(in_place, in_place.begin(), square, {.grain = 3});
      EXPECT_EQ(in_place, expected);
    }
  });
}

TEST(standard_loops, transform_rethrows) {
  on_workers([] {
    std::deque<std::string> in(2000, "text");
    std::vector<std::size_t> out(in.size());
    const auto fails = [](std::size_t n) { return n == 4 ? throw std::runtime_error("f") : n; };
    EXPECT_THROW(creek::transform(in, out.begin(), fails, &std::string::size), std::runtime_error);
  });
}

TEST(standard_loops, transform_reduce_equals_that_of_std) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      const auto a = numbers(n, random.engine), b = numbers(n, random.engine);
      const auto twice = [](long x) { return 2 * x; };
      for (bool deterministic : {false, true}) {
        const creek::parallel_options options{.deterministic = deterministic};
        // An init that is no identity is counted once.
        EXPECT_EQ(creek::transform_reduce(a, 17L, std::plus{}, twice, options),
                  std::transform_reduce(a.begin(), a.end(), 17L, std::plus{}, twice));
        EXPECT_EQ(creek::transform_reduce(a.begin(), a.end(), b.begin(), 5L, options),
                  std::transform_reduce(a.begin(), a.end(), b.begin(), 5L));
        EXPECT_EQ(creek::transform_reduce(a, b, 5L, options),
                  std::transform_reduce(a.begin(), a.end(), b.begin(), 5L));
      }
      const auto larger = [](long x, long y) { return std::max(x, y); };
      EXPECT_EQ(creek::transform_reduce(a, b, -5000L, larger, std::minus{}),
                std::transform_reduce(a.begin(), a.end(), b.begin(), -5000L, larger, std::minus{}));
      EXPECT_EQ(creek::transform_reduce(a.begin(), a.end(), b.begin(), 0L, larger, std::minus{},
                                        {.grain = 10}),
                std::transform_reduce(a.begin(), a.end(), b.begin(), 0L, larger, std::minus{}));
    }
  });
}

TEST(standard_loops, transform_reduce_keeps_the_order_of_operands) {
  on_workers([] {
    std::vector<int> v(3000);
    std::iota(v.begin(), v.end(), 0);
    const auto digits = [](int x) { return std::to_string(x) + ' '; };
    std::string expected = "> ";
    for (int x : v) expected += digits(x);
    EXPECT_EQ(creek::transform_reduce(v, std::string("> "), std::plus{}, digits), expected);
  });
}

TEST(standard_loops, transform_reduce_of_doubles_is_exact_where_sums_are) {
  on_workers([] {
    for (std::size_t n : {1u, 63u, 64u, 65u, 66u, 67u, 68u, 50'001u}) {
      std::vector<double> v(n);
      std::iota(v.begin(), v.end(), 1.0);
      const double count = static_cast<double>(n);
      EXPECT_EQ(creek::transform_reduce(v, 0.5, std::plus{}, [](double x) { return 2 * x; }),
                0.5 + count * (count + 1));
      EXPECT_EQ(creek::transform_reduce(
                    v, -1.0, [](double a, double b) { return std::max(a, b); }, std::identity{}),
                count);
    }
  });
}

TEST(standard_loops, transform_reduce_rethrows) {
  on_workers([] {
    std::vector<int> v(5000, 1);
    const auto fails = [](int) -> int { throw std::runtime_error("transform"); };
    EXPECT_THROW((void)creek::transform_reduce(v, 0, std::plus{}, fails), std::runtime_error);
    const auto bad = [](int, int) -> int { throw std::runtime_error("reduce"); };
    EXPECT_THROW((void)creek::transform_reduce(v, 0, bad, std::identity{}), std::runtime_error);
  });
}

TEST(standard_loops, find_if_returns_the_first_match) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      std::vector<entry> v(n);
      for (int matches : {0, 1, 2, 50}) {
        for (auto& e : v) e.key = 0;
        for (int i = 0; i < matches && n > 0; ++i) v[random.engine() % n].key = 1;
        const auto is_one = [](long key) { return key == 1; };
        const auto expected = std::ranges::find_if(v, is_one, &entry::key);
        EXPECT_EQ(creek::find_if(v, is_one, &entry::key), expected);
        EXPECT_EQ(creek::find_if(v.begin(), v.end(), is_one, &entry::key, {.grain = 5}), expected);
        EXPECT_EQ(creek::find_if(v, [](const entry& e) { return e.key == 1; }), expected);
        EXPECT_EQ(creek::count_if(v, is_one, &entry::key),
                  std::ranges::count_if(v, is_one, &entry::key));
        EXPECT_EQ(creek::count_if(v.begin(), v.end(), [](const entry& e) { return e.key == 1; },
                                  {.grain = 5}),
                  std::ranges::count_if(v, is_one, &entry::key));
      }
    }
  });
}

TEST(standard_loops, find_if_ends_soon_after_the_match) {
  on_workers([] {
    std::vector<int> v(3'000'000);
    for (std::size_t match : {std::size_t{0}, std::size_t{100}, std::size_t{40'000}}) {
      v[match] = 1;
      std::atomic<std::size_t> calls{0};
      const auto found = creek::find_if(v, [&](int x) {
        calls.fetch_add(1, std::memory_order_relaxed);
        return x == 1;
      });
      EXPECT_EQ(found - v.begin(), static_cast<std::ptrdiff_t>(match));
      EXPECT_LE(calls.load(), 2 * match + 16'384);
      v[match] = 0;
    }
  });
}

TEST(standard_loops, find_if_rethrows_and_stops) {
  on_workers([] {
    std::vector<int> v(10'000);
    const auto fails = [](int) -> bool { throw std::runtime_error("pred"); };
    EXPECT_THROW((void)creek::find_if(v, fails), std::runtime_error);
    EXPECT_THROW((void)creek::count_if(v, fails), std::runtime_error);
    std::stop_source source;
    source.request_stop();
    const creek::parallel_options stopped{.stop = source.get_token()};
    EXPECT_EQ(creek::find_if(
                  v, [](int) { return true; }, stopped),
              v.end());
  });
}

TEST(standard_loops, scans_equal_those_of_std) {
  seeded random;
  on_workers([&] {
    for (std::size_t n : sizes) {
      const auto in = numbers(n, random.engine);
      const auto larger = [](long a, long b) { return std::max(a, b); };
      std::vector<long> out(n), expected(n);
      std::inclusive_scan(in.begin(), in.end(), expected.begin());
      EXPECT_EQ(creek::inclusive_scan(in, out.begin()), out.end());
      EXPECT_EQ(out, expected);
      creek::inclusive_scan(in.begin(), in.end(), out.begin(), {.grain = 10});
      EXPECT_EQ(out, expected);
      std::inclusive_scan(in.begin(), in.end(), expected.begin(), larger, 100L);
      EXPECT_EQ(creek::inclusive_scan(in, out.begin(), larger, 100L, {.deterministic = true}),
                out.end());
      EXPECT_EQ(out, expected);
      EXPECT_EQ(creek::inclusive_scan(in.begin(), in.end(), out.begin(), larger, 100L), out.end());
      EXPECT_EQ(out, expected);
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L);
      EXPECT_EQ(creek::exclusive_scan(in, out.begin(), 7L), out.end());
      EXPECT_EQ(out, expected);
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L, larger);
      const creek::parallel_options blocks{.grain = 10};
      EXPECT_EQ(creek::exclusive_scan(in.begin(), in.end(), out.begin(), 7L, larger, blocks),
                out.end());
      EXPECT_EQ(out, expected);
      auto in_place = in;
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0L);
      creek::exclusive_scan(in_place, in_place.begin(), 0L, blocks);
      EXPECT_EQ(in_place, expected);
    }
  });
}

TEST(standard_loops, scans_compute_in_the_type_of_init) {
  on_workers([] {
    const std::vector<unsigned char> in(2000, 200);
    std::vector<long> out(in.size());
    creek::inclusive_scan(in, out.begin(), std::plus{}, 1L);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 1 + 200 * (long(i) + 1));
    const auto bad = [](long, long) -> long { throw std::runtime_error("op"); };
    EXPECT_THROW(creek::inclusive_scan(in, out.begin(), bad, 1L), std::runtime_error);
  });
}

TEST(standard_loops, work_outside_a_runtime_in_the_calling_thread) {
  std::vector<long> v(1000, 1), out(1000);
  creek::for_each(v, [](long& x) { ++x; });
  EXPECT_EQ(creek::transform_reduce(v, 0L, std::plus{}, std::identity{}), 2000);
  EXPECT_EQ(creek::find_if(v, [](long x) { return x == 3; }), v.end());
  creek::inclusive_scan(v, out.begin());
  EXPECT_EQ(out.back(), 2000);
}

}  // namespace
