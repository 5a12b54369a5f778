// SPDX-License-Identifier: Apache-2.0
// Matrices from seeds: the same everywhere, for any blocks, with the promised properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <creek/core/error.hpp>
#include <creek/linalg/generate.hpp>
#include <limits>
#include <set>
#include <thread>
#include <vector>

namespace creek::linalg {
namespace {

template <class T>
class generated : public testing::Test {};
using element_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(generated, element_types);

std::vector<matrix_recipe> recipes() {
  return {{matrix_kind::uniform, 7},
          {matrix_kind::dominant, 7},
          {matrix_kind::positive_definite, 7},
          {matrix_kind::uniform, 7, 100},
          {matrix_kind::positive_definite, 7, 100}};
}

template <class T>
bool same(const matrix<T>& a, const matrix<T>& b) {
  bool equal = a.rows() == b.rows() && a.cols() == b.cols();
  for (index_t j = 0; equal && j < a.cols(); ++j) {
    equal = std::equal(&a(0, j), &a(0, j) + a.rows(), &b(0, j));
  }
  return equal;
}

TYPED_TEST(generated, do_not_depend_on_blocks_nor_on_who_fills_them) {
  using T = TypeParam;
  constexpr index_t n = 37;
  for (const matrix_recipe& recipe : recipes()) {
    const matrix<T> whole = generate<T>(recipe, n, n);
    matrix<T> parts(n, n);
    const matrix_generator<T> generator(recipe, n, n);
    const auto fill = [&](index_t first, index_t last) {
      for (index_t j = first; j < last; j += 5) {
        for (index_t i = 0; i < n; i += 7) {
          generator.fill(
              parts.view().block(i, j, std::min<index_t>(7, n - i), std::min<index_t>(5, last - j)),
              i, j);
        }
      }
    };
    {
      std::jthread left(fill, 0, 19);
      std::jthread right(fill, 19, n);
    }
    EXPECT_TRUE(same(parts, whole)) << static_cast<int>(recipe.kind);
  }
}

TYPED_TEST(generated, depend_on_the_seed) {
  using T = TypeParam;
  for (matrix_recipe recipe : recipes()) {
    const matrix<T> a = generate<T>(recipe, 4, 4);
    EXPECT_TRUE(same(a, generate<T>(recipe, 4, 4)));
    recipe.seed += 1;
    EXPECT_FALSE(same(a, generate<T>(recipe, 4, 4)));
  }
}

TYPED_TEST(generated, are_uniform_from_minus_one_to_one) {
  using T = TypeParam;
  constexpr index_t n = 200;
  const matrix<T> a = generate<T>({}, n, n);
  double sum = 0;
  double squares = 0;
  std::set<real<T>> seen;
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) {
      const double part = is_complex<T> && (i + j) % 2 ? std::imag(a(i, j)) : std::real(a(i, j));
      ASSERT_TRUE(part >= -1 && part < 1) << part;
      sum += part;
      squares += part * part;
      seen.insert(static_cast<real<T>>(part));
    }
  }
  // The bound is six standard deviations.
  EXPECT_LT(std::abs(sum / (n * n)), 6 * std::sqrt(1. / 3) / n);
  EXPECT_LT(std::abs(squares / (n * n) - 1. / 3), 6 * std::sqrt(4. / 45) / n);
  EXPECT_GT(seen.size(), static_cast<std::size_t>(n * n * 99 / 100));
}

/// Returns whether each diagonal element exceeds the rest of its row and its column.
template <class T>
bool is_dominant(const matrix<T>& a) {
  for (index_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    double row = 0;
    double column = 0;
    for (index_t j = 0; j < a.cols(); ++j) row += j == k ? 0 : std::abs(a(k, j));
    for (index_t i = 0; i < a.rows(); ++i) column += i == k ? 0 : std::abs(a(i, k));
    if (std::abs(a(k, k)) <= std::max(row, column)) return false;
  }
  return true;
}

template <class T>
bool is_hermitian(const matrix<T>& a) {
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      if (std::real(a(i, j)) != std::real(a(j, i))) return false;
      if (std::imag(a(i, j)) != -std::imag(a(j, i))) return false;
    }
  }
  return true;
}

TYPED_TEST(generated, are_dominant_or_positive_definite_if_asked) {
  using T = TypeParam;
  for (const index_t n : {1, 2, 3, 50}) {
    const matrix<T> a = generate<T>({matrix_kind::positive_definite}, n, n);
    EXPECT_TRUE(is_dominant(a) && is_hermitian(a)) << n;
    for (index_t i = 0; i < n; ++i) EXPECT_GT(std::real(a(i, i)), 0);
    EXPECT_TRUE(is_dominant(generate<T>({matrix_kind::dominant}, n, n))) << n;
  }
  EXPECT_TRUE(is_dominant(generate<T>({matrix_kind::dominant}, 30, 40)));
  EXPECT_TRUE(is_dominant(generate<T>({matrix_kind::dominant}, 40, 30)));
}

/// Returns singular values, the largest first, by Hestenes's one-sided Jacobi rotations, in double.
template <class T>
std::vector<double> singular_values(const matrix<T>& from) {
  using z = std::complex<double>;
  std::vector<std::vector<z>> columns(static_cast<std::size_t>(from.cols()));
  for (index_t j = 0; j < from.cols(); ++j) {
    for (index_t i = 0; i < from.rows(); ++i) {
      columns[static_cast<std::size_t>(j)].push_back(static_cast<z>(from(i, j)));
    }
  }
  const auto dot = [](const auto& a, const auto& b) {
    z sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
    return sum;
  };
  for (int sweep = 0; sweep < 20; ++sweep) {
    for (std::size_t p = 0; p < columns.size(); ++p) {
      for (std::size_t q = p + 1; q < columns.size(); ++q) {
        auto& a = columns[p];
        auto& b = columns[q];
        const z c = dot(a, b);
        if (std::abs(c) < 1e-300) continue;
        const double zeta = (dot(b, b).real() - dot(a, a).real()) / (2 * std::abs(c));
        const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1, zeta));
        const double cosine = 1 / std::hypot(1, t);
        const z phase = c / std::abs(c);
        for (std::size_t i = 0; i < a.size(); ++i) {
          const z x = a[i] * phase;
          const z y = b[i];
          a[i] = cosine * (x - t * y);
          b[i] = cosine * (t * x + y);
        }
      }
    }
  }
  std::vector<double> values;
  for (const auto& column : columns) values.push_back(std::sqrt(dot(column, column).real()));
  std::ranges::sort(values, std::greater{});
  return values;
}

TYPED_TEST(generated, have_the_condition_number_asked_for) {
  using T = TypeParam;
  const double tolerance = 50 * std::numeric_limits<real<T>>::epsilon();
  const auto expect_condition = [&](matrix_kind kind, index_t rows, index_t cols,
                                    double condition) {
    const matrix<T> a = generate<T>({kind, 3, condition}, rows, cols);
    const std::vector<double> values = singular_values(a);
    const auto least = static_cast<std::size_t>(std::min(rows, cols));
    for (std::size_t k = 0; k < least; ++k) {
      const double weight =
          least == 1 ? 0 : static_cast<double>(k) / static_cast<double>(least - 1);
      EXPECT_NEAR(values[k], 1 - weight + weight / condition, tolerance) << k;
    }
    if (kind == matrix_kind::positive_definite) {
      EXPECT_TRUE(is_hermitian(a));
    }
  };
  for (const double condition : {1., 10., 1e4}) {
    expect_condition(matrix_kind::uniform, 12, 12, condition);
    expect_condition(matrix_kind::uniform, 12, 7, condition);
    expect_condition(matrix_kind::uniform, 1, 1, condition);
    expect_condition(matrix_kind::positive_definite, 12, 12, condition);
  }
  EXPECT_EQ(generate<T>({matrix_kind::uniform, 1, 10}, 0, 3).cols(), 3);
}

// A positive definite matrix has a Cholesky factor, also with a given condition number.
TYPED_TEST(generated, are_positive_definite_with_a_condition_number) {
  using T = TypeParam;
  constexpr index_t n = 20;
  matrix<T> a = generate<T>({matrix_kind::positive_definite, 9, 1000}, n, n);
  for (index_t k = 0; k < n; ++k) {  // elimination without pivoting leaves positive pivots
    ASSERT_GT(std::real(a(k, k)), 0);
    for (index_t i = k + 1; i < n; ++i) {
      const T factor = a(i, k) / a(k, k);
      for (index_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
}

// Recorded once; other machines, compilers and versions must produce the same.
TEST(generated_values, stay_what_they_are) {
  const auto d = generate<double>({.seed = 42}, 3, 3);
  EXPECT_EQ(d(0, 0), -0x1.d2d40bf4687acp-2);
  EXPECT_EQ(d(2, 1), 0x1.5471cce98587p-3);
  const auto s = generate<float>({.seed = 42}, 3, 3);
  EXPECT_EQ(s(0, 0), -0x1.d2d41p-2f);
  const auto z = generate<std::complex<double>>({matrix_kind::positive_definite, 42}, 3, 3);
  EXPECT_EQ(z(0, 2), (std::complex<double>(0x1.23f188736e94p-5, 0x1.83fec55f7d438p-3)));
  EXPECT_EQ(z(1, 1), 6.);
  const auto c = generate<double>({matrix_kind::uniform, 42, 10}, 3, 3);
  EXPECT_EQ(c(1, 2), -0x1.6ff997ecd8b77p-4);
}

TEST(generated_values, refuse_recipes_that_have_no_matrix) {
  using kind = matrix_kind;
  EXPECT_THROW(generate<double>({kind::positive_definite}, 2, 3), usage_error);
  EXPECT_THROW(generate<double>({kind::uniform}, -1, 3), usage_error);
  EXPECT_THROW(generate<double>({kind::dominant, 1, 10}, 3, 3), usage_error);
  EXPECT_THROW(generate<double>({kind::uniform, 1, 0.5}, 3, 3), usage_error);
  EXPECT_THROW(generate<double>({kind::uniform, 1, std::nan("")}, 3, 3), usage_error);
}

}  // namespace
}  // namespace creek::linalg
