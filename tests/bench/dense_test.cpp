// SPDX-License-Identifier: Apache-2.0
// The checks of the dense linear algebra workloads: they accept the results of textbook algorithms,
// and refuse results with one element wrong or not a number. Peers' figures rely on these checks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "cholesky/config.hpp"
#include "dgemm/config.hpp"
#include "lu/config.hpp"
#include "lu_solve/config.hpp"
#include "qr/config.hpp"

namespace bench {

// Stub: the real one belongs to the protocol's main(), which these tests do not have.
registration::registration(const description&, run_function, print_function) {}

namespace {

constexpr std::int64_t n = 60;
constexpr auto size = static_cast<std::size_t>(n);

double& at(std::vector<double>& a, std::size_t i, std::size_t j) {
  return a[i + j * size];
}

void multiply(dgemm::operands& o) {
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t i = 0; i < size; ++i) at(o.c, i, j) += at(o.a, i, k) * at(o.b, k, j);
    }
  }
}

void factor_lu(std::vector<double>& a, std::vector<std::int32_t>& pivots) {
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < size; ++i) {
      if (std::fabs(at(a, i, k)) > std::fabs(at(a, pivot, k))) pivot = i;
    }
    pivots[k] = static_cast<std::int32_t>(pivot) + 1;
    for (std::size_t j = 0; j < size; ++j) std::swap(at(a, k, j), at(a, pivot, j));
    for (std::size_t i = k + 1; i < size; ++i) {
      at(a, i, k) /= at(a, k, k);
      for (std::size_t j = k + 1; j < size; ++j) at(a, i, j) -= at(a, i, k) * at(a, k, j);
    }
  }
}

void factor_cholesky(cholesky::operands& o) {
  for (std::size_t k = 0; k < size; ++k) {
    const double pivot = std::sqrt(at(o.a, k, k));
    for (std::size_t i = k; i < size; ++i) at(o.a, i, k) /= pivot;
    for (std::size_t j = k + 1; j < size; ++j) {
      for (std::size_t i = j; i < size; ++i) at(o.a, i, j) -= at(o.a, i, k) * at(o.a, j, k);
    }
  }
}

/// Column k becomes R above a reflector, as dgeqr2 leaves it.
void reflect(qr::operands& o, std::size_t k) {
  double square = 0;
  for (std::size_t i = k; i < size; ++i) square += at(o.a, i, k) * at(o.a, i, k);
  const double alpha = at(o.a, k, k);
  const double beta = -std::copysign(std::sqrt(square), alpha);
  o.tau[k] = (beta - alpha) / beta;
  for (std::size_t i = k + 1; i < size; ++i) at(o.a, i, k) /= alpha - beta;
  for (std::size_t j = k + 1; j < size; ++j) {
    double dot = at(o.a, k, j);
    for (std::size_t i = k + 1; i < size; ++i) dot += at(o.a, i, k) * at(o.a, i, j);
    at(o.a, k, j) -= o.tau[k] * dot;
    for (std::size_t i = k + 1; i < size; ++i) at(o.a, i, j) -= o.tau[k] * dot * at(o.a, i, k);
  }
  at(o.a, k, k) = beta;
}

/// Expects `check` to accept the result of `compute`, and to refuse it with `element` off or NaN.
template <class Operands, class Compute, class Element, class Check>
void expect_told_apart(const Operands& before, const Compute& compute, const Element& element,
                       const Check& check) {
  Operands right = before;
  compute(right);
  Operands off = right, none = right;
  EXPECT_EQ(check(right), static_cast<std::uint64_t>(n));
  element(off) += 1e-6;
  EXPECT_THROW(check(off), std::runtime_error);
  element(none) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check(none), std::runtime_error);
}

TEST(DenseChecks, TellProducts) {
  expect_told_apart(
      dgemm::operands{n}, multiply, [](auto& o) -> double& { return at(o.c, 7, 9); }, dgemm::check);
}

TEST(DenseChecks, TellFactorsOfLu) {
  expect_told_apart(
      lu::operands{n}, [](auto& o) { factor_lu(o.a, o.pivots); },
      [](auto& o) -> double& { return at(o.a, 40, 9); }, lu::check);
}

TEST(DenseChecks, TellPivotsOfLu) {
  lu::operands o{n};
  factor_lu(o.a, o.pivots);
  std::swap(o.pivots[0], o.pivots[1]);
  EXPECT_THROW(lu::check(o), std::runtime_error);
}

TEST(DenseChecks, TellSolutions) {
  const auto solve = [](auto& o) {
    factor_lu(o.a, o.pivots);
    for (std::size_t i = 0; i < size; ++i) {
      std::swap(o.x[i], o.x[static_cast<std::size_t>(o.pivots[i] - 1)]);
    }
    dense::solve_lower(o.a, o.x, true);
    dense::solve_upper(o.a, o.x);
  };
  expect_told_apart(
      lu_solve::operands{n}, solve, [](auto& o) -> double& { return o.x[5]; }, lu_solve::check);
}

TEST(DenseChecks, TellFactorsOfCholesky) {
  expect_told_apart(
      cholesky::operands(n), factor_cholesky, [](auto& o) -> double& { return at(o.a, 40, 9); },
      cholesky::check);
}

TEST(DenseChecks, TellFactorsOfQr) {
  const auto factor = [](auto& o) {
    for (std::size_t k = 0; k < size; ++k) reflect(o, k);
  };
  expect_told_apart(
      qr::operands{n}, factor, [](auto& o) -> double& { return at(o.a, 9, 40); }, qr::check);
}

}  // namespace
}  // namespace bench
