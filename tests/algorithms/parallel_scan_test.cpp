// SPDX-License-Identifier: Apache-2.0
// Prefix sums against the serial ones of the standard library.
#include <creek/tasking/parallel_scan.hpp>

#include <bit>
#include <deque>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_workers.hpp"

namespace {

using creek::parallel_exclusive_scan;
using creek::parallel_inclusive_scan;
using creek::parallel_scan;
using creek::support::on_workers;
using creek::support::seeded;

TEST(parallel_scan, equals_the_serial_scans_at_all_sizes_around_a_grain) {
  seeded random;
  on_workers([&] {
    for (bool deterministic : {false, true}) {
      for (std::size_t grain : {0u, 1u, 10u}) {
        const creek::parallel_options options{.grain = grain, .deterministic = deterministic};
        for (std::size_t n :
             {0u, 1u, 2u, 3u, 9u, 10u, 11u, 23u, 24u, 25u, 255u, 256u, 257u, 4000u}) {
          std::vector<long> in(n), out(n), expected(n);
          for (long& x : in) x = static_cast<long>(random.engine() % 100) - 50;
          std::inclusive_scan(in.begin(), in.end(), expected.begin());
          EXPECT_EQ(
              parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::plus{}, options),
              out.end());
          EXPECT_EQ(out, expected);
          std::exclusive_scan(in.begin(), in.end(), expected.begin(), 5L);
          EXPECT_EQ(
              parallel_exclusive_scan(in.begin(), in.end(), out.begin(), 5L, std::plus{}, options),
              out.end());
          EXPECT_EQ(out, expected);
        }
      }
    }
  });
}

TEST(parallel_scan, works_in_place) {
  on_workers([] {
    std::vector<int> v(10'000, 1);
    parallel_inclusive_scan(v.begin(), v.end(), v.begin());
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i + 1);
    std::fill(v.begin(), v.end(), 1);
    parallel_exclusive_scan(v.begin(), v.end(), v.begin(), 0);
    for (int i = 0; i < 10'000; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i);
  });
}

TEST(parallel_scan, takes_operations_that_do_not_commute_and_have_no_identity) {
  on_workers([] {
    std::deque<std::string> in(500), out(500);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = std::string(1, static_cast<char>('a' + i % 26));
    parallel_inclusive_scan(in.begin(), in.end(), out.begin());
    std::string so_far;
    for (std::size_t i = 0; i < in.size(); ++i) {
      so_far += in[i];
      ASSERT_EQ(out[i], so_far);
    }
    const auto last = [](int, int b) { return b; };
    std::vector<int> v{3, 1, 4, 1, 5};
    std::vector<int> w(5);
    parallel_inclusive_scan(v.begin(), v.end(), w.begin(), last);
    EXPECT_EQ(w, v);
  });
}

TEST(parallel_scan, deterministic_sums_repeat_to_the_bit_on_any_number_of_workers) {
  seeded random;
  std::vector<double> in(20'011);
  std::lognormal_distribution<double> wide(0.0, 20.0);
  for (double& x : in) x = wide(random.engine);
  std::vector<std::vector<double>> results;
  on_workers([&] {
    std::vector<double> out(in.size());
    parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::plus{},
                            {.deterministic = true});
    results.push_back(std::move(out));
  });
  for (const auto& result : results) EXPECT_EQ(result, results.front());
}

TEST(parallel_scan, compacts_by_counting_first_and_copying_then) {
  seeded random;
  std::vector<unsigned> in(30'000);
  for (unsigned& x : in) x = static_cast<unsigned>(random.engine());
  std::vector<unsigned> expected;
  std::ranges::copy_if(in, std::back_inserter(expected), [](unsigned x) { return x % 3 == 0; });
  on_workers([&] {
    std::vector<unsigned> out(in.size());
    const auto fold = [&](std::size_t lo, std::size_t hi, std::size_t kept, bool is_final) {
      for (std::size_t i = lo; i < hi; ++i) {
        if (in[i] % 3 != 0) continue;
        if (is_final) out[kept] = in[i];
        ++kept;
      }
      return kept;
    };
    const std::size_t kept =
        parallel_scan(std::size_t{0}, in.size(), std::size_t{0}, fold, std::plus{});
    out.resize(kept);
    EXPECT_EQ(out, expected);
  });
}

TEST(parallel_scan, finishes_every_block_once_and_in_one_pass_with_one_worker) {
  on_workers([] {
    std::atomic<int> finished{0}, summed{0};
    const auto fold = [&](int lo, int hi, int sum, bool is_final) {
      (is_final ? finished : summed) += hi - lo;
      return sum + hi - lo;
    };
    EXPECT_EQ(parallel_scan(0, 999, 0, fold, std::plus{}), 999);
    EXPECT_EQ(finished.load(), 999);
    EXPECT_LT(summed.load(), creek::worker_count() == 1 ? 1 : 999);
  });
}

TEST(parallel_scan, rethrows_and_stops) {
  on_workers([] {
    std::vector<int> v(1000, 1);
    const auto bad = [](int, int) -> int { throw std::runtime_error("op"); };
    EXPECT_THROW(parallel_inclusive_scan(v.begin(), v.end(), v.begin(), bad), std::runtime_error);
    std::stop_source source;
    source.request_stop();
    const auto untouched = v;
    parallel_exclusive_scan(v.begin(), v.end(), v.begin(), 0, std::plus{},
                            {.stop = source.get_token()});
    parallel_inclusive_scan(v.begin(), v.end(), v.begin(), std::plus{},
                            {.stop = source.get_token()});
    EXPECT_EQ(v, untouched);
  });
}

}  // namespace
