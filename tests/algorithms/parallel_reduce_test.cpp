// SPDX-License-Identifier: Apache-2.0
// parallel_reduce: order of combination, repeatable floating-point sums, awkward value types.
#include <creek/tasking/parallel_reduce.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_workers.hpp"

namespace {

using creek::parallel_reduce;
using creek::parallel_reduce_range;
using creek::support::on_workers;
using creek::support::seeded;

TEST(parallel_reduce, adds_integers_of_all_sizes_around_a_grain) {
  on_workers([] {
    for (bool deterministic : {false, true}) {
      for (std::size_t grain : {0u, 1u, 8u}) {
        for (long n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 511, 512, 513, 5000}) {
          const creek::parallel_options options{.grain = grain, .deterministic = deterministic};
          const auto square = [](long i) { return i * i; };
          EXPECT_EQ(parallel_reduce(0L, n, 0L, square, std::plus{}, options),
                    (n - 1) * n * (2 * n - 1) / 6);
        }
      }
    }
  });
}

TEST(parallel_reduce, keeps_the_order_of_operations_that_do_not_commute) {
  std::string expected;
  for (int i = 0; i < 3000; ++i) expected += std::to_string(i) + ',';
  on_workers([&] {
    const auto digits = [](int i) { return std::to_string(i) + ','; };
    for (bool deterministic : {false, true}) {
      const creek::parallel_options options{.grain = 5, .deterministic = deterministic};
      EXPECT_EQ(parallel_reduce(0, 3000, std::string(), digits, std::plus{}, options), expected);
    }
    EXPECT_EQ(parallel_reduce(0, 3000, std::string(), digits, std::plus{}), expected);
  });
}

TEST(parallel_reduce, takes_ranges_iterators_and_no_map) {
  on_workers([] {
    std::deque<int> d(1000);
    std::iota(d.begin(), d.end(), 1);
    EXPECT_EQ(parallel_reduce(d, 0L, std::plus<long>{}), 500'500);
    EXPECT_EQ(parallel_reduce(d.begin(), d.end(), 0L, std::plus<long>{}), 500'500);
    EXPECT_EQ(parallel_reduce(
                  d, 0L, [](int x) { return 2L * x; }, std::plus{}),
              1'001'000);
    EXPECT_EQ(parallel_reduce(1, 11, 1L, std::multiplies<long>{}), 3'628'800);
    const auto larger = [](int a, int b) { return std::max(a, b); };
    EXPECT_EQ(parallel_reduce(d.begin(), d.end(), -1, larger, {.grain = 10}), 1000);
  });
}

TEST(parallel_reduce, deterministic_sums_repeat_to_the_bit_on_any_number_of_workers) {
  seeded random;
  std::vector<double> v(100'003);
  std::lognormal_distribution<double> wide(0.0, 20.0);
  for (double& x : v) x = wide(random.engine);
  for (std::size_t grain : {0u, 1000u}) {
    std::vector<std::uint64_t> results;
    on_workers([&] {
      for (int i = 0; i < 3; ++i) {
        const double sum =
            parallel_reduce(v, 0.0, std::plus{}, {.grain = grain, .deterministic = true});
        results.push_back(std::bit_cast<std::uint64_t>(sum));
      }
    });
    EXPECT_EQ(std::ranges::count(results, results.front()), std::ssize(results));
  }
}

TEST(parallel_reduce, floating_point_sums_are_close_to_the_serial_one) {
  seeded random;
  std::vector<float> v(50'021);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  for (float& x : v) x = unit(random.engine);
  const double expected = std::accumulate(v.begin(), v.end(), 0.0);
  on_workers([&] {
    EXPECT_NEAR(parallel_reduce(
                    v, 0.0, [](float x) { return double{x}; }, std::plus{}),
                expected, 1e-6);
    EXPECT_NEAR(parallel_reduce(v, 0.0f, std::plus{}), expected, expected * 1e-4);
  });
}

TEST(parallel_reduce, folds_chunks) {
  on_workers([] {
    using histogram = std::vector<int>;
    const auto count = [](int lo, int hi, histogram h) {
      for (int i = lo; i < hi; ++i) ++h[static_cast<std::size_t>(i % 7)];
      return h;
    };
    const auto add = [](histogram a, const histogram& b) {
      std::ranges::transform(a, b, a.begin(), std::plus{});
      return a;
    };
    const histogram h = parallel_reduce_range(0, 7000, histogram(7), count, add);
    EXPECT_EQ(h, histogram(7, 1000));
  });
}

TEST(parallel_reduce, rethrows_from_map_and_combine) {
  on_workers([] {
    const auto bad_map = [](int i) { return i == 777 ? throw std::runtime_error("map") : i; };
    EXPECT_THROW(parallel_reduce(0, 1000, 0, bad_map, std::plus{}), std::runtime_error);
    const auto bad_combine = [](int, int) -> int { throw std::runtime_error("combine"); };
    for (bool deterministic : {false, true}) {
      EXPECT_THROW(parallel_reduce(0, 1000, 0, bad_combine, {.deterministic = deterministic}),
                   std::runtime_error);
    }
  });
}

TEST(parallel_reduce, a_stop_leaves_a_partial_result) {
  on_workers([] {
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(parallel_reduce(0, 1000, 0, std::plus{}, {.stop = source.get_token()}), 0);
    EXPECT_EQ(parallel_reduce(0, 1000, 0, std::plus{},
                              {.stop = source.get_token(), .deterministic = true}),
              0);
  });
}

TEST(parallel_reduce, nests) {
  on_workers([] {
    const auto row = [](long i) {
      return parallel_reduce(
          0L, 100L, 0L, [i](long j) { return i * j; }, std::plus{});
    };
    EXPECT_EQ(parallel_reduce(0L, 100L, 0L, row, std::plus{}), 4950L * 4950L);
  });
}

TEST(parallel_reduce, runs_in_the_calling_thread_outside_a_runtime) {
  EXPECT_EQ(parallel_reduce(0, 100, 0, std::plus{}), 4950);
  EXPECT_EQ(parallel_reduce(0, 100, 0, std::plus{}, {.deterministic = true}), 4950);
}

}  // namespace
