// SPDX-License-Identifier: Apache-2.0
// Factorizations on the cores of a simulated chip: the same bits as in one memory on any number of
// cores and for every way of waiting; no wrong use of non-coherent memory; the same report in
// every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/ranks.hpp>
#include <creek/power/policies.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::linalg;
using scc_backend::machine_options;
using scc_backend::run_report;

constexpr index_t size = 120;
constexpr index_t block = 8;

matrix<double> given(matrix_kind kind) {
  return generate<double>({.kind = kind, .seed = 5}, size, size);
}

/// Returns a machine whose cores wait by the policy; empty: without one.
machine_options waiting(const char* policy) {
  machine_options on;
  if (*policy != 0) on.waits.policy = power::make_policy(policy);
  return on;
}

void expect_same(const matrix<double>& a, const matrix<double>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  for (index_t j = 0; j < a.cols(); ++j) {
    ASSERT_TRUE(std::equal(a.view().column(j), a.view().column(j) + a.rows(), b.view().column(j)))
        << "column " << j;
  }
}

/// LU through messages, with the matrix sent from rank 0 and back, compared with one memory's.
run_report check_lu(int cores, const machine_options& on, const rank_options& options = {}) {
  const matrix<double> a = given(matrix_kind::uniform);
  matrix<double> expected = a;
  std::vector<index_t> expected_pivots(size);
  EXPECT_EQ(getrf(expected.view(), std::span<index_t>(expected_pivots), {.block = block}), 0);
  return simulate(cores,
                  [&](scc_communicator& c) {
                    auto mine = scatter_columns<double>(c, a.view(), size, size, block);
                    std::vector<index_t> pivots(size);
                    EXPECT_EQ(getrf_on_ranks(c, mine, std::span<index_t>(pivots), options), 0);
                    EXPECT_EQ(pivots, expected_pivots);
                    const matrix<double> whole = gather_columns(c, mine);
                    if (c.rank() == 0) expect_same(whole, expected);
                  },
                  on, {.chunks_in_flight = 2});
}

class on_cores : public ::testing::TestWithParam<int> {};

TEST_P(on_cores, lu_has_the_bits_of_one_memory) {
  check_lu(GetParam(), {});
}

TEST_P(on_cores, cholesky_and_qr_solve) {
  const matrix<double> a = given(matrix_kind::positive_definite);
  matrix<double> x(size, 2), b(size, 2);
  for (index_t i = 0; i < size; ++i) x(i, 0) = x(i, 1) = static_cast<double>(i % 7) - 3;
  gemm(op::none, op::none, 1.0, a, x, 0.0, b.view());
  simulate(GetParam(), [&](scc_communicator& c) {
    const auto expect_solved = [&](const matrix<double>& found) {
      for (index_t i = 0; i < size; ++i) ASSERT_NEAR(found(i, 1), x(i, 1), 1e-11);
    };
    auto mine = scatter_columns<double>(c, a.view(), size, size, block);
    ASSERT_EQ(potrf_on_ranks(c, mine), 0);
    matrix<double> found = b;
    potrs_on_ranks(c, mine, found.view());
    expect_solved(found);
    mine = scatter_columns<double>(c, a.view(), size, size, 11);
    std::vector<double> tau(size);
    geqrf_on_ranks(c, mine, std::span<double>(tau));
    found = b;
    geqrs_on_ranks(c, mine, std::span<const double>(tau), found.view());
    expect_solved(found);
  });
}

INSTANTIATE_TEST_SUITE_P(linalg_ranks, on_cores, ::testing::Values(1, 2, 3, 16, 47, 48));

TEST(linalg_ranks, every_policy_gives_the_same_bits) {
  for (const char* policy : {"polling", "blocking", "frequency", "race_to_idle", "energy_delay"}) {
    SCOPED_TRACE(policy);
    check_lu(12, waiting(policy));
  }
}

TEST(linalg_ranks, uses_memory_as_it_must_without_coherence) {
  for (const char* policy : {"", "blocking"}) {
    machine_options on = waiting(policy);
    on.check = true;
    on.on_faults = [](const auto&) {};
    EXPECT_TRUE(
        check_lu(9, on, {.look_ahead = 3, .route = broadcast_kind::binary_tree}).faults.empty());
  }
}

TEST(linalg_ranks, a_run_repeats) {
  for (const char* policy : {"", "blocking", "frequency"}) {
    const run_report first = check_lu(20, waiting(policy));
    const run_report second = check_lu(20, waiting(policy));
    EXPECT_EQ(first.ended, second.ended);
    EXPECT_EQ(first.switches, second.switches);
    EXPECT_EQ(first.usage.total, second.usage.total);
  }
}

TEST(linalg_ranks, without_a_policy_cores_wait_as_with_polling) {
  const run_report none = check_lu(10, {});
  const run_report polling = check_lu(10, waiting("polling"));
  EXPECT_EQ(none.ended, polling.ended);
  EXPECT_EQ(none.usage.total, polling.usage.total);
}

TEST(linalg_ranks, halted_cores_save_energy_that_adds_up) {
  const run_report polling = check_lu(24, waiting("polling"));
  const run_report blocking = check_lu(24, waiting("blocking"));
  EXPECT_LT(blocking.usage.total, polling.usage.total);
  std::uint64_t interrupts = 0;
  units::joules cores{0}, islands{0};
  for (const auto& core : blocking.usage.cores) {
    cores += core.energy;
    interrupts += core.interrupts;
    EXPECT_EQ(core.busy + core.waiting + core.halted + core.finished, blocking.length());
  }
  for (const auto island : blocking.usage.islands) islands += island;
  const double total = blocking.usage.total.value;
  EXPECT_GT(interrupts, 0U);
  EXPECT_NEAR((cores + blocking.usage.uncore).value, total, 1e-12 * total);
  EXPECT_NEAR((islands + blocking.usage.uncore).value, total, 1e-12 * total);
}

TEST(linalg_ranks, columns_in_private_memory_cost_time) {
  // Does the same work on one core with the whole matrix, and on four.
  const run_report one = check_lu(1, {});
  const run_report four = check_lu(4, {});
  EXPECT_LT(four.length(), one.length());
}

}  // namespace
