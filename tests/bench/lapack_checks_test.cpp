// SPDX-License-Identifier: Apache-2.0
// The checks of `creek bench lapack`: they accept the results of textbook algorithms, and refuse
// results with one element wrong or not a number. The figures of all libraries rely on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "lapack/checks.h"

namespace {

using matrix = std::vector<double>;

constexpr std::int64_t n = 40;
constexpr std::int64_t tall = 90;

matrix take(double* values, std::int64_t count) {
  matrix copy(values, values + count);
  std::free(values);
  return copy;
}

matrix random(input which, std::int64_t count) {
  return take(filled(which, count), count);
}

/// Element (i, j) of a matrix with `rows` rows.
double& at(matrix& a, std::int64_t rows, std::int64_t i, std::int64_t j) {
  return a[static_cast<std::size_t>(i + j * rows)];
}

std::vector<std::int64_t> factor_lu(matrix& a, std::int64_t m) {
  std::vector<std::int64_t> pivots;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < m; ++i) {
      if (std::fabs(at(a, m, i, k)) > std::fabs(at(a, m, pivot, k))) pivot = i;
    }
    pivots.push_back(pivot + 1);
    for (std::int64_t j = 0; j < n; ++j) std::swap(at(a, m, k, j), at(a, m, pivot, j));
    for (std::int64_t i = k + 1; i < m; ++i) {
      at(a, m, i, k) /= at(a, m, k, k);
      for (std::int64_t j = k + 1; j < n; ++j) at(a, m, i, j) -= at(a, m, i, k) * at(a, m, k, j);
    }
  }
  return pivots;
}

/// Leaves L below and its transpose above the diagonal.
void factor_cholesky(matrix& a) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = std::sqrt(at(a, n, k, k));
    for (std::int64_t i = k; i < n; ++i) at(a, n, k, i) = at(a, n, i, k) /= pivot;
    for (std::int64_t j = k + 1; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) at(a, n, i, j) -= at(a, n, i, k) * at(a, n, j, k);
    }
  }
}

/// Leaves R above the reflectors, as dgeqr2 does, and returns tau.
matrix factor_qr(matrix& a, std::int64_t m) {
  matrix tau;
  for (std::int64_t k = 0; k < n; ++k) {
    double square = 0;
    for (std::int64_t i = k; i < m; ++i) square += at(a, m, i, k) * at(a, m, i, k);
    const double alpha = at(a, m, k, k);
    const double beta = -std::copysign(std::sqrt(square), alpha);
    tau.push_back((beta - alpha) / beta);
    for (std::int64_t i = k + 1; i < m; ++i) at(a, m, i, k) /= alpha - beta;
    for (std::int64_t j = k + 1; j < n; ++j) {
      double dot = at(a, m, k, j);
      for (std::int64_t i = k + 1; i < m; ++i) dot += at(a, m, i, k) * at(a, m, i, j);
      at(a, m, k, j) -= tau.back() * dot;
      for (std::int64_t i = k + 1; i < m; ++i) {
        at(a, m, i, j) -= tau.back() * dot * at(a, m, i, k);
      }
    }
    at(a, m, k, k) = beta;
  }
  return tau;
}

/// Solves A x = b by the factors of LU, for square A.
matrix solve(matrix a, matrix b) {
  const auto pivots = factor_lu(a, n);
  const auto value = [&](std::int64_t i) -> double& { return b[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i < n; ++i) {
    std::swap(value(i), value(pivots[static_cast<std::size_t>(i)] - 1));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j + 1; i < n; ++i) value(i) -= at(a, n, i, j) * value(j);
  }
  for (std::int64_t j = n; j-- > 0;) {
    value(j) /= at(a, n, j, j);
    for (std::int64_t i = 0; i < j; ++i) value(i) -= at(a, n, i, j) * value(j);
  }
  return b;
}

/// Returns A^T B; A has `rows` rows.
matrix transposed_product(matrix a, matrix b, std::int64_t rows, std::int64_t columns_of_b) {
  matrix c(static_cast<std::size_t>(n * columns_of_b));
  for (std::int64_t j = 0; j < columns_of_b; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k < rows; ++k)
        at(c, n, i, j) += at(a, rows, k, i) * at(b, rows, k, j);
    }
  }
  return c;
}

matrix transposed(matrix a) {
  matrix t(a.size());
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) at(t, n, j, i) = at(a, n, i, j);
  }
  return t;
}

/// Returns an orthogonal matrix, the Q of a QR factorization.
matrix orthogonal(input which) {
  matrix factors = random(which, n * n), q(factors.size());
  const matrix tau = factor_qr(factors, n);
  for (std::int64_t j = 0; j < n; ++j) {
    at(q, n, j, j) = 1;
    for (std::int64_t k = n; k-- > 0;) {
      at(factors, n, k, k) = 1;
      double dot = 0;
      for (std::int64_t i = k; i < n; ++i) dot += at(factors, n, i, k) * at(q, n, i, j);
      dot *= tau[static_cast<std::size_t>(k)];
      for (std::int64_t i = k; i < n; ++i) at(q, n, i, j) -= dot * at(factors, n, i, k);
    }
  }
  return q;
}

/// Returns A B^T.
matrix product_by_transposed(const matrix& a, const matrix& b) {
  return transposed_product(transposed(a), transposed(b), n, n);
}

/// Returns the values 1, 2, ... n, or their negatives.
matrix ascending(double sign) {
  matrix values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(sign * static_cast<double>(i + 1));
  return values;
}

matrix with_scaled_columns(matrix a, const matrix& factors) {
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) at(a, n, i, j) *= factors[static_cast<std::size_t>(j)];
  }
  return a;
}

/// Expects a good residual of `result`, and a bad one with its element (i, j) off or NaN.
void expect_told_apart(const matrix& result, std::int64_t rows, std::int64_t i, std::int64_t j,
                       const std::function<double(const matrix&)>& residual) {
  EXPECT_LT(residual(result), MAX_RESIDUAL);
  matrix off = result, none = result;
  at(off, rows, i, j) += 1e-6;
  EXPECT_FALSE(residual(off) < MAX_RESIDUAL);
  at(none, rows, i, j) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(residual(none) < MAX_RESIDUAL);
}

TEST(LapackChecks, TellFactorsOfLu) {
  for (const std::int64_t m : {n, tall}) {
    const matrix a = random(INPUT_A, m * n);
    matrix factors = a;
    const auto pivots = factor_lu(factors, m);
    const auto residual = [&](const matrix& result) {
      return lu_residual(a.data(), result.data(), pivots.data(), m, n);
    };
    expect_told_apart(factors, m, 7, 9, residual);
    expect_told_apart(factors, m, 30, 9, residual);
  }
}

TEST(LapackChecks, TellPivotsOfLu) {
  const matrix a = random(INPUT_A, n * n);
  matrix factors = a;
  auto pivots = factor_lu(factors, n);
  for (const std::int64_t wrong : {pivots[0] - 1, pivots[0] + 1, n + 1, std::int64_t{1} << 32}) {
    pivots[0] = wrong;
    EXPECT_FALSE(lu_residual(a.data(), factors.data(), pivots.data(), n, n) < MAX_RESIDUAL);
  }
}

TEST(LapackChecks, TellFactorsOfCholesky) {
  const matrix a = take(positive_definite(n), n * n);
  matrix factor = a;
  factor_cholesky(factor);
  expect_told_apart(factor, n, 30, 9, [&](const matrix& result) {
    return cholesky_residual(a.data(), result.data(), n, false);
  });
  expect_told_apart(factor, n, 9, 30, [&](const matrix& result) {
    return cholesky_residual(a.data(), result.data(), n, true);
  });
}

TEST(LapackChecks, TellFactorsOfQr) {
  for (const std::int64_t m : {n, tall}) {
    const matrix a = random(INPUT_A, m * n);
    matrix factors = a;
    const matrix tau = factor_qr(factors, m);
    const auto residual = [&](const matrix& result) {
      return qr_residual(a.data(), result.data(), tau.data(), m, n);
    };
    expect_told_apart(factors, m, 9, 30, residual);
    expect_told_apart(factors, m, 30, 9, residual);
  }
}

TEST(LapackChecks, TellProducts) {
  const matrix a = random(INPUT_A, n * n), b = random(INPUT_B, n * n);
  expect_told_apart(transposed_product(transposed(a), b, n, n), n, 7, 9, [&](const matrix& result) {
    return product_residual(a.data(), b.data(), result.data(), n);
  });
  // C = A A^T, of which the lower triangle is read.
  const matrix t = transposed(a);
  matrix c = transposed_product(t, t, n, n);
  at(c, n, 9, 30) = std::numeric_limits<double>::quiet_NaN();
  expect_told_apart(c, n, 30, 9, [&](const matrix& result) {
    return rank_update_residual(a.data(), result.data(), n);
  });
}

TEST(LapackChecks, TellSolutions) {
  const matrix a = random(INPUT_A, n * n), b = random(INPUT_RIGHT_SIDE, n);
  expect_told_apart(solve(a, b), n, 7, 0, [&](const matrix& result) {
    return solution_residual(a.data(), result.data(), b.data(), n);
  });
}

TEST(LapackChecks, TellLeastSquares) {
  const matrix a = random(INPUT_A, tall * n), b = random(INPUT_RIGHT_SIDE, tall);
  // By the normal equations: A^T A is well conditioned here.
  const matrix x = solve(transposed_product(a, a, tall, n), transposed_product(a, b, tall, 1));
  expect_told_apart(x, n, 7, 0, [&](const matrix& result) {
    return least_squares_residual(a.data(), result.data(), b.data(), tall, n);
  });
}

TEST(LapackChecks, TellEigenvectorsOfSymmetricMatrices) {
  const matrix vectors = orthogonal(INPUT_A), values = ascending(1);
  const matrix a = product_by_transposed(with_scaled_columns(vectors, values), vectors);
  expect_told_apart(vectors, n, 7, 9, [&](const matrix& result) {
    return symmetric_eigen_residual(a.data(), values.data(), result.data(), n);
  });
  expect_told_apart(values, n, 7, 0, [&](const matrix& result) {
    return symmetric_eigen_residual(a.data(), result.data(), vectors.data(), n);
  });
  // In another order.
  const matrix falling = ascending(-1);
  const matrix negative = product_by_transposed(with_scaled_columns(vectors, falling), vectors);
  EXPECT_FALSE(symmetric_eigen_residual(negative.data(), falling.data(), vectors.data(), n) <
               MAX_RESIDUAL);
}

TEST(LapackChecks, TellSingularVectors) {
  const matrix u = orthogonal(INPUT_A), v = orthogonal(INPUT_B), vt = transposed(v);
  matrix values = ascending(1);
  std::reverse(values.begin(), values.end());
  const matrix a = product_by_transposed(with_scaled_columns(u, values), v);
  expect_told_apart(u, n, 7, 9, [&](const matrix& result) {
    return singular_residual(a.data(), values.data(), result.data(), vt.data(), n);
  });
  expect_told_apart(vt, n, 7, 9, [&](const matrix& result) {
    return singular_residual(a.data(), values.data(), u.data(), result.data(), n);
  });
  expect_told_apart(values, n, 7, 0, [&](const matrix& result) {
    return singular_residual(a.data(), result.data(), u.data(), vt.data(), n);
  });
}

TEST(LapackChecks, TellEigenvectorsOfGeneralMatrices) {
  // A = Q D Q^T, where D has blocks [p, q; -q, p] for the first values, and Q's columns are parts
  // of the vectors.
  const matrix q = orthogonal(INPUT_A), reals = ascending(1);
  matrix d(q.size()), imaginary(static_cast<std::size_t>(n)), pairs = reals, vectors = q;
  for (std::int64_t j = 0; j < n; ++j) at(d, n, j, j) = reals[static_cast<std::size_t>(j)];
  for (std::int64_t j = 0; j < 10; j += 2) {
    const auto first = static_cast<std::size_t>(j), second = first + 1;
    pairs[second] = pairs[first];
    at(d, n, j + 1, j + 1) = pairs[first];
    imaginary[first] = 3;
    imaginary[second] = -3;
    at(d, n, j, j + 1) = 3;
    at(d, n, j + 1, j) = -3;
    for (std::int64_t i = 0; i < 2 * n; ++i) at(vectors, n, i, j) *= std::sqrt(0.5);
  }
  const matrix a = product_by_transposed(product_by_transposed(q, transposed(d)), q);
  for (const std::int64_t column : {1, 30}) {
    expect_told_apart(vectors, n, 7, column, [&](const matrix& result) {
      return eigen_residual(a.data(), pairs.data(), imaginary.data(), result.data(), n);
    });
  }
  expect_told_apart(pairs, n, 3, 0, [&](const matrix& result) {
    return eigen_residual(a.data(), result.data(), imaginary.data(), vectors.data(), n);
  });
  expect_told_apart(imaginary, n, 3, 0, [&](const matrix& result) {
    return eigen_residual(a.data(), pairs.data(), result.data(), vectors.data(), n);
  });
}

}  // namespace
