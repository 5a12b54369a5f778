// SPDX-License-Identifier: Apache-2.0
// LAPACK routines by their Fortran names and through LAPACKE in both layouts give correct results.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::diagonal;
using linalg::op;
using linalg::triangle;

template <class T>
class routines : public ::testing::Test {
 protected:
  std::mt19937 random{7};
};
TYPED_TEST_SUITE(routines, scalars);

/// Sizes that are empty, tiny, odd, and large enough for the workers.
constexpr index_t sizes[] = {0, 1, 2, 17, 60, 350};

template <scalar T>
void expect_solved(const matrix<T>& a, const matrix<T>& x, const matrix<T>& b) {
  EXPECT_LT(distance(product(a, x), b), tolerance<T>(a.rows()) * static_cast<double>(a.rows() + 1));
}

/// Returns P L U from the results of getrf.
template <scalar T>
matrix<T> multiplied_out(const matrix<T>& f, const std::vector<blas_int>& ipiv) {
  const index_t n = std::min(f.rows(), f.cols());
  matrix<T> l(f.rows(), n), u(n, f.cols());
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = j; i < f.rows(); ++i) l(i, j) = i == j ? T{1} : f(i, j);
  }
  for (index_t j = 0; j < f.cols(); ++j) {
    for (index_t i = 0; i <= std::min(j, n - 1); ++i) u(i, j) = f(i, j);
  }
  matrix<T> a = product(l, u);
  for (index_t i = n; i-- > 0;) {
    const index_t p = ipiv[static_cast<std::size_t>(i)] - 1;
    for (index_t j = 0; j < a.cols(); ++j) std::swap(a(i, j), a(p, j));
  }
  return a;
}

TYPED_TEST(routines, getrf_factors_every_shape) {
  using T = TypeParam;
  for (const index_t m : {1, 5, 40, 300}) {
    for (const index_t n : {1, 9, 40, 320}) {
      const matrix<T> a = random_matrix<T>(m, n, this->random);
      matrix<T> f = a;
      std::vector<blas_int> ipiv(static_cast<std::size_t>(std::min(m, n)) + 1, 99);
      ASSERT_EQ(lapack<T>("getrf", m, n, f.data(), ld(f), ipiv.data()), 0);
      EXPECT_EQ(ipiv.back(), 99) << "one place too many was written";
      EXPECT_LT(distance(multiplied_out(f, ipiv), a), tolerance<T>(m + n));

      matrix<T> rows = turned(a);
      std::vector<blas_int> same(ipiv.size(), 99);
      ASSERT_EQ(lapacke<T>("getrf", row_major, m, n, rows.data(), ld(rows), same.data()), 0);
      EXPECT_EQ(same, ipiv);
      EXPECT_EQ(distance(turned(rows), f), 0);
    }
  }
}

TYPED_TEST(routines, getrs_solves_with_all_of_the_transposes) {
  using T = TypeParam;
  const index_t n = 45;
  const matrix<T> a = random_regular<T>(n, this->random);
  const matrix<T> b = random_matrix<T>(n, 3, this->random);
  matrix<T> f = a;
  std::vector<blas_int> ipiv(n);
  ASSERT_EQ(lapack<T>("getrf", n, n, f.data(), ld(f), ipiv.data()), 0);
  const matrix<T> f_rows = turned(f);
  for (const char how : {'N', 'T', 'C', 'n', 't', 'c'}) {
    matrix<T> x = b;
    ASSERT_EQ(lapack<T>("getrs", how, n, 3, f.data(), ld(f), ipiv.data(), x.data(), ld(x)), 0);
    expect_solved(applied(static_cast<op>(std::toupper(how)), a), x, b);
    matrix<T> rows = turned(b);
    ASSERT_EQ(lapacke<T>("getrs", row_major, how, n, 3, f_rows.data(), ld(f_rows), ipiv.data(),
                         rows.data(), ld(rows)),
              0);
    EXPECT_EQ(distance(turned(rows), x), 0);
  }
}

TYPED_TEST(routines, gesv_solves) {
  using T = TypeParam;
  for (const index_t n : sizes) {
    const matrix<T> a = random_regular<T>(n, this->random);
    const matrix<T> b = random_matrix<T>(n, 2, this->random);
    matrix<T> f = a, x = b;
    std::vector<blas_int> ipiv(static_cast<std::size_t>(n) + 1, 99);
    ASSERT_EQ(lapack<T>("gesv", n, 2, f.data(), ld(f), ipiv.data(), x.data(), ld(x)), 0);
    EXPECT_EQ(ipiv.back(), 99);
    expect_solved(a, x, b);
    for (const int layout : {row_major, col_major}) {
      const bool by_rows = layout == row_major;
      matrix<T> g = by_rows ? turned(a) : a, y = by_rows ? turned(b) : b;
      ASSERT_EQ(
          lapacke<T>("gesv_work", layout, n, 2, g.data(), ld(g), ipiv.data(), y.data(), ld(y)), 0);
      expect_solved(a, by_rows ? turned(y) : y, b);
    }
  }
}

TYPED_TEST(routines, potrf_potrs_and_posv_touch_one_triangle) {
  using T = TypeParam;
  for (const index_t n : sizes) {
    const matrix<T> a = random_definite<T>(n, this->random);
    const matrix<T> b = random_matrix<T>(n, 2, this->random);
    for (const char uplo : {'L', 'u'}) {
      const bool lower = uplo == 'L';
      const triangle stored = lower ? triangle::lower : triangle::upper;
      const real<T> nan = std::numeric_limits<real<T>>::quiet_NaN();
      matrix<T> half = a;  // elements that must not be read are NaN
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (i != j && (i > j) != lower) half(i, j) = nan;
        }
      }
      matrix<T> f = half, x = b;
      ASSERT_EQ(lapack<T>("potrf", uplo, n, f.data(), ld(f)), 0);
      const matrix<T> factor = only(stored, diagonal::stored, f);
      const matrix<T> other = applied(op::conjugate_transpose, factor);
      EXPECT_LT(distance(lower ? product(factor, other) : product(other, factor), a),
                tolerance<T>(n) * static_cast<double>(n + 1));
      ASSERT_EQ(lapack<T>("potrs", uplo, n, 2, f.data(), ld(f), x.data(), ld(x)), 0);
      expect_solved(a, x, b);
      if (n > 1) {
        EXPECT_TRUE(std::isnan(std::real(lower ? f(0, 1) : f(1, 0))));
      }

      matrix<T> rows = turned(half), y = turned(b);
      ASSERT_EQ(lapacke<T>("posv", row_major, uplo, n, 2, rows.data(), ld(rows), y.data(), ld(y)),
                0);
      EXPECT_EQ(distance(only(stored, diagonal::stored, turned(rows)), factor), 0);
      expect_solved(a, turned(y), b);
      if (n > 1) {
        EXPECT_TRUE(std::isnan(std::real(lower ? rows(1, 0) : rows(0, 1))));
      }
      matrix<T> again = turned(b);
      ASSERT_EQ(lapacke<T>("potrs", row_major, uplo, n, 2, rows.data(), ld(rows), again.data(),
                           ld(again)),
                0);
      EXPECT_EQ(distance(again, y), 0);
    }
  }
}

TYPED_TEST(routines, trtrs_solves_with_every_triangle) {
  using T = TypeParam;
  const index_t n = 50;
  const matrix<T> a = random_regular<T>(n, this->random);
  const matrix<T> b = random_matrix<T>(n, 4, this->random);
  const matrix<T> a_rows = turned(a);
  for (const char uplo : {'L', 'U'}) {
    for (const char how : {'N', 'T', 'C'}) {
      for (const char ones : {'N', 'U'}) {
        // Random triangles are nearly singular without their own diagonal.
        matrix<T> small = a;
        if (ones == 'U') small = sum<T>(T{1} / static_cast<real<T>>(n), a, T{}, a);
        const matrix<T> small_rows = turned(small);
        const auto whole = only(static_cast<triangle>(uplo), static_cast<diagonal>(ones), small);
        matrix<T> x = b, rows = turned(b);
        ASSERT_EQ(
            lapack<T>("trtrs", uplo, how, ones, n, 4, small.data(), ld(small), x.data(), ld(x)), 0);
        expect_solved(applied(static_cast<op>(how), whole), x, b);
        ASSERT_EQ(lapacke<T>("trtrs", row_major, uplo, how, ones, n, 4, small_rows.data(),
                             ld(small_rows), rows.data(), ld(rows)),
                  0);
        EXPECT_EQ(distance(turned(rows), x), 0);
      }
    }
  }
}

/// Returns the matrix with its other triangle filled in.
template <scalar T>
matrix<T> hermitian(triangle stored, matrix<T> a) {
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < j; ++i) {
      if (stored == triangle::lower) {
        a(i, j) = conjugated(a(j, i));
      } else {
        a(j, i) = conjugated(a(i, j));
      }
    }
  }
  return a;
}

/// Checks on a few vectors: whole products take longer than the tested routine.
template <scalar T>
void expect_inverse(const matrix<T>& a, const matrix<T>& inverse, std::mt19937& random) {
  const matrix<T> x = random_matrix<T>(a.rows(), 2, random);
  EXPECT_LT(distance(product(a, product(inverse, x)), x), tolerance<T>(a.rows()));
}

TYPED_TEST(routines, getri_inverts) {
  using T = TypeParam;
  for (const index_t n : sizes) {
    const matrix<T> a = random_regular<T>(n, this->random);
    matrix<T> f = a;
    std::vector<blas_int> ipiv(static_cast<std::size_t>(n));
    ASSERT_EQ(lapack<T>("getrf", n, n, f.data(), ld(f), ipiv.data()), 0);
    matrix<T> rows = turned(f);
    ASSERT_EQ(lapack_with_work<T>("getri", n, n, f.data(), ld(f), ipiv.data()), 0);
    expect_inverse(a, f, this->random);
    ASSERT_EQ(lapacke<T>("getri", row_major, n, rows.data(), ld(rows), ipiv.data()), 0);
    EXPECT_EQ(distance(turned(rows), f), 0);
  }
}

TYPED_TEST(routines, potri_and_trtri_invert_in_one_triangle) {
  using T = TypeParam;
  const T mark = T{77};
  for (const index_t n : sizes) {
    const matrix<T> a = random_definite<T>(n, this->random);
    for (const char uplo : {'L', 'U'}) {
      const auto stored = static_cast<triangle>(uplo);
      matrix<T> f = a;
      ASSERT_EQ(lapack<T>("potrf", uplo, n, f.data(), ld(f)), 0);
      if (n > 1) (uplo == 'L' ? f(0, n - 1) : f(n - 1, 0)) = mark;
      const matrix<T> factor = f;
      matrix<T> rows = turned(f);
      ASSERT_EQ(lapack<T>("potri", uplo, n, f.data(), ld(f)), 0);
      expect_inverse(a, hermitian(stored, f), this->random);
      ASSERT_EQ(lapacke<T>("potri_work", row_major, uplo, n, rows.data(), ld(rows)), 0);
      EXPECT_EQ(distance(turned(rows), f), 0) << "with the mark in the other triangle";
      for (const char ones : {'N', 'U'}) {
        matrix<T> t = factor;
        if (ones == 'U') {  // small compared with its ones, so that the inverse does not grow
          t = sum<T>(T{1} / static_cast<real<T>>(n + 1), factor, T{}, factor);
          for (index_t i = 0; i < n; ++i) t(i, i) = mark;
        }
        const auto whole = only(stored, static_cast<diagonal>(ones), t);
        rows = turned(t);
        ASSERT_EQ(lapack<T>("trtri", uplo, ones, n, t.data(), ld(t)), 0);
        const auto inverse = only(stored, static_cast<diagonal>(ones), t);
        expect_inverse(whole, inverse, this->random);
        ASSERT_EQ(lapacke<T>("trtri", row_major, uplo, ones, n, rows.data(), ld(rows)), 0);
        EXPECT_EQ(distance(turned(rows), t), 0);
      }
    }
  }
}

TYPED_TEST(routines, laswp_exchanges_a_range_in_either_direction) {
  using T = TypeParam;
  const matrix<T> a = random_matrix<T>(9, 40, this->random);
  // Rows 3 to 6 use every second element of the list from its third: rows 9, 3, 5, 8.
  const blas_int ipiv[] = {-1, -1, 9, -1, 3, -1, 5, -1, 8};
  const index_t targets[] = {9, 3, 5, 8};
  for (const blas_int step : {2, -2}) {
    matrix<T> expected = a, got = a, rows = turned(a);
    for (index_t s = 0; s < 4; ++s) {
      const index_t i = step > 0 ? s : 3 - s;
      for (index_t j = 0; j < 40; ++j) std::swap(expected(i + 2, j), expected(targets[i] - 1, j));
    }
    fortran<T>("laswp", 40, got.data(), ld(got), 3, 6, ipiv, step);
    EXPECT_EQ(distance(got, expected), 0);
    EXPECT_EQ(lapacke<T>("laswp", row_major, 40, rows.data(), ld(rows), 3, 6, ipiv, step), 0);
    EXPECT_EQ(distance(turned(rows), expected), 0);
  }
  matrix<T> same = a;
  fortran<T>("laswp", 40, same.data(), ld(same), 3, 6, ipiv, 0);
  EXPECT_EQ(distance(same, a), 0);
}

TYPED_TEST(routines, say_where_a_matrix_is_singular) {
  using T = TypeParam;
  const index_t n = 30;
  matrix<T> a(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) = i == 20 ? T{} : T{2};
  const matrix<T> b = random_matrix<T>(n, 2, this->random);
  std::vector<blas_int> ipiv(n);
  matrix<T> f = a, x = b;
  EXPECT_EQ(lapack<T>("getrf", n, n, f.data(), ld(f), ipiv.data()), 21);
  f = a;
  EXPECT_EQ(lapack<T>("gesv", n, 2, f.data(), ld(f), ipiv.data(), x.data(), ld(x)), 21);
  EXPECT_EQ(distance(x, b), 0) << "B is left where there is no solution";
  f = a;
  EXPECT_EQ(lapack<T>("potrf", 'L', n, f.data(), ld(f)), 21);
  f = a;
  EXPECT_EQ(lapacke<T>("potrf", row_major, 'U', n, f.data(), ld(f)), 21);
  f = a;
  EXPECT_EQ(lapack<T>("posv", 'U', n, 2, f.data(), ld(f), x.data(), ld(x)), 21);
  EXPECT_EQ(distance(x, b), 0);
  EXPECT_EQ(lapack<T>("trtrs", 'U', 'N', 'N', n, 2, a.data(), ld(a), x.data(), ld(x)), 21);
  EXPECT_EQ(distance(x, b), 0);
  EXPECT_EQ(lapack<T>("trtrs", 'U', 'N', 'U', n, 2, a.data(), ld(a), x.data(), ld(x)), 0);
  f = a;
  EXPECT_EQ(lapack_with_work<T>("getri", n, n, f.data(), ld(f), ipiv.data()), 21);
  EXPECT_EQ(lapack<T>("potri", 'U', n, f.data(), ld(f)), 21);
  EXPECT_EQ(lapack<T>("trtri", 'L', 'N', n, f.data(), ld(f)), 21);
  EXPECT_EQ(distance(f, a), 0) << "there is no inverse";
}

TYPED_TEST(routines, of_lapacke_refuse_nan_in_their_upper_form) {
  using T = TypeParam;
  const index_t n = 4;
  const T nan = std::numeric_limits<real<T>>::quiet_NaN();
  std::vector<blas_int> ipiv(n);
  for (const int layout : {row_major, col_major}) {
    matrix<T> a = random_definite<T>(n, this->random), b(n, n);
    a(3, 1) = nan;
    EXPECT_EQ(lapacke<T>("getrf", layout, n, n, a.data(), ld(a), ipiv.data()), -4);
    EXPECT_EQ(lapacke<T>("gesv", layout, n, n, a.data(), ld(a), ipiv.data(), b.data(), ld(b)), -4);
    // In row-major order a(3, 1) is in the upper triangle.
    const char with = layout == row_major ? 'U' : 'L';
    const char without = layout == row_major ? 'L' : 'U';
    EXPECT_EQ(lapacke<T>("potrf", layout, with, n, a.data(), ld(a)), -4);
    EXPECT_EQ(lapacke<T>("potrs", layout, with, n, n, a.data(), ld(a), b.data(), ld(b)), -5);
    EXPECT_EQ(lapacke<T>("trtrs", layout, with, 'N', 'N', n, n, a.data(), ld(a), b.data(), ld(b)),
              -7);
    b(2, 2) = nan;
    EXPECT_EQ(
        lapacke<T>("trtrs", layout, without, 'N', 'N', n, n, a.data(), ld(a), b.data(), ld(b)), -9);
    EXPECT_EQ(lapacke<T>("posv", layout, without, n, n, a.data(), ld(a), b.data(), ld(b)), -7);
    EXPECT_EQ(lapacke<T>("getri", layout, n, a.data(), ld(a), ipiv.data()), -3);
    EXPECT_EQ(lapacke<T>("potri", layout, with, n, a.data(), ld(a)), -4);
    EXPECT_EQ(lapacke<T>("trtri", layout, with, 'N', n, a.data(), ld(a)), -5);
    EXPECT_EQ(lapacke<T>("potrf", layout, without, n, a.data(), ld(a)), 0);
    EXPECT_EQ(lapacke<T>("getrf_work", layout, n, n, a.data(), ld(a), ipiv.data()), 0);
  }
}

}  // namespace
}  // namespace creek::lapack::testing
