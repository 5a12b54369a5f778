// SPDX-License-Identifier: Apache-2.0
// The level 3 of the BLAS by its Fortran names and through CBLAS in both layouts.
#include <gtest/gtest.h>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::diagonal;
using linalg::op;
using linalg::triangle;

template <class T>
class products : public ::testing::Test {
 protected:
  std::mt19937 random{11};
  T alpha = random_scalar<T>(random);
  T beta = random_scalar<T>(random);
};
TYPED_TEST_SUITE(products, scalars);

int c_op(char how) {
  return how == 'N' ? 111 : how == 'T' ? 112 : 113;
}
int c_triangle(char uplo) {
  return uplo == 'U' ? 121 : 122;
}
int c_side(char where) {
  return where == 'L' ? 141 : 142;
}

/// Returns the Hermitian or symmetric matrix of which one triangle is stored.
template <scalar T>
matrix<T> whole(char uplo, bool hermitian, const matrix<T>& a) {
  matrix<T> w(a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      const bool stored = uplo == 'L' ? i >= j : i <= j;
      const T x = stored ? a(i, j) : a(j, i);
      w(i, j) = hermitian && i == j ? T{std::real(x)} : hermitian && !stored ? conjugated(x) : x;
    }
  }
  return w;
}

/// Returns the triangle of one matrix with the rest of the other.
template <scalar T>
matrix<T> merged(char uplo, const matrix<T>& inside, const matrix<T>& outside) {
  matrix<T> m = outside;
  for (index_t j = 0; j < m.cols(); ++j) {
    for (index_t i = 0; i < m.rows(); ++i) {
      if (uplo == 'L' ? i >= j : i <= j) m(i, j) = inside(i, j);
    }
  }
  return m;
}

TYPED_TEST(products, gemm) {
  using T = TypeParam;
  for (const index_t n : {1, 33, 250}) {
    const index_t m = 41, k = 27;
    for (const char how_a : {'N', 'T', 'C'}) {
      for (const char how_b : {'N', 'T', 'C'}) {
        const bool plain_a = how_a == 'N', plain_b = how_b == 'N';
        const auto a = random_matrix<T>(plain_a ? m : k, plain_a ? k : m, this->random);
        const auto b = random_matrix<T>(plain_b ? k : n, plain_b ? n : k, this->random);
        const auto c = random_matrix<T>(m, n, this->random);
        const auto expected =
            sum(this->alpha,
                product(applied(static_cast<op>(how_a), a), applied(static_cast<op>(how_b), b)),
                this->beta, c);
        matrix<T> got = c;
        fortran<T>("gemm", how_a, how_b, m, n, k, this->alpha, a.data(), ld(a), b.data(), ld(b),
                   this->beta, got.data(), ld(got));
        EXPECT_LT(distance(got, expected), tolerance<T>(k));
        const auto a_rows = turned(a), b_rows = turned(b);
        matrix<T> rows = turned(c);
        cblas<T>("gemm", row_major, c_op(how_a), c_op(how_b), m, n, k, c_value(this->alpha),
                 a_rows.data(), ld(a_rows), b_rows.data(), ld(b_rows), c_value(this->beta),
                 rows.data(), ld(rows));
        EXPECT_LT(distance(turned(rows), expected), tolerance<T>(k));
        matrix<T> cols = c;
        cblas<T>("gemm", col_major, c_op(how_a), c_op(how_b), m, n, k, c_value(this->alpha),
                 a.data(), ld(a), b.data(), ld(b), c_value(this->beta), cols.data(), ld(cols));
        EXPECT_EQ(distance(cols, got), 0);
      }
    }
  }
}

TYPED_TEST(products, read_nothing_that_a_zero_cancels) {
  using T = TypeParam;
  matrix<T> c = random_matrix<T>(5, 5, this->random);
  const matrix<T> before = c;
  const T* const nothing = nullptr;
  fortran<T>("gemm", 'N', 'T', 5, 5, 9, T{0}, nothing, 5, nothing, 5, T{2}, c.data(), ld(c));
  EXPECT_EQ(distance(c, sum<T>(T{2}, before, T{}, before)), 0);
  c(1, 1) = std::numeric_limits<real<T>>::quiet_NaN();
  fortran<T>("syrk", 'U', 'N', 5, 0, T{1}, nothing, 5, T{0}, c.data(), ld(c));
  fortran<T>("syr2k", 'L', 'N', 5, 9, T{0}, nothing, 5, nothing, 5, T{0}, c.data(), ld(c));
  fortran<T>("symm", 'L', 'U', 5, 5, T{0}, nothing, 5, nothing, 5, T{1}, c.data(), ld(c));
  EXPECT_EQ(distance(c, matrix<T>(5, 5)), 0);
  for (const char* name : {"trmm", "trsm"}) {
    c = before;
    fortran<T>(name, 'L', 'U', 'N', 'N', 5, 5, T{0}, nothing, 5, c.data(), ld(c));
    EXPECT_EQ(distance(c, matrix<T>(5, 5)), 0) << name;
  }
}

TYPED_TEST(products, symm_and_hemm) {
  using T = TypeParam;
  const index_t m = 30, n = 19;
  for (const bool hermitian : {false, true}) {
    if (hermitian && !is_complex<T>) continue;
    const char* const name = hermitian ? "hemm" : "symm";
    for (const char where : {'L', 'R'}) {
      for (const char uplo : {'L', 'U'}) {
        const index_t order = where == 'L' ? m : n;
        const auto a = random_matrix<T>(order, order, this->random);
        const auto b = random_matrix<T>(m, n, this->random),
                   c = random_matrix<T>(m, n, this->random);
        const auto w = whole(uplo, hermitian, a);
        const auto expected =
            sum(this->alpha, where == 'L' ? product(w, b) : product(b, w), this->beta, c);
        matrix<T> got = c, rows = turned(c);
        fortran<T>(name, where, uplo, m, n, this->alpha, a.data(), ld(a), b.data(), ld(b),
                   this->beta, got.data(), ld(got));
        EXPECT_LT(distance(got, expected), tolerance<T>(order));
        const auto a_rows = turned(a), b_rows = turned(b);
        cblas<T>(name, row_major, c_side(where), c_triangle(uplo), m, n, c_value(this->alpha),
                 a_rows.data(), ld(a_rows), b_rows.data(), ld(b_rows), c_value(this->beta),
                 rows.data(), ld(rows));
        EXPECT_LT(distance(turned(rows), expected), tolerance<T>(order));
      }
    }
  }
}

/// Returns op(A) op'(B), where op' undoes op; both have n rows.
template <scalar T>
matrix<T> outer(char how, bool hermitian, const matrix<T>& a, const matrix<T>& b) {
  const op back = hermitian ? op::conjugate_transpose : op::transpose;
  return how == 'N' ? product(a, applied(back, b)) : product(applied(back, a), b);
}

template <class T>
class updates : public products<T> {
 protected:
  static constexpr index_t n = 34, k = 21;

  /// Checks one update of each kind; S is the type of beta, and of alpha if there is one factor.
  template <class S>
  void check(bool hermitian, char uplo, char how, S scale_a, S scale_c) {
    const bool plain = how == 'N';
    const auto a = random_matrix<T>(plain ? n : k, plain ? k : n, this->random);
    const auto b = random_matrix<T>(plain ? n : k, plain ? k : n, this->random);
    auto c = random_matrix<T>(n, n, this->random);
    if (hermitian) {
      for (index_t i = 0; i < n; ++i) c(i, i) = std::real(c(i, i));
    }
    const auto a_rows = turned(a), b_rows = turned(b);
    const char* const one = hermitian ? "herk" : "syrk";
    const char* const two = hermitian ? "her2k" : "syr2k";
    auto expected = merged(uplo, sum(T{scale_a}, outer(how, hermitian, a, a), T{scale_c}, c), c);
    matrix<T> got = c, rows = turned(c);
    fortran<T>(one, uplo, how, n, k, scale_a, a.data(), ld(a), scale_c, got.data(), ld(got));
    EXPECT_LT(distance(got, expected), tolerance<T>(k));
    cblas<T>(one, row_major, c_triangle(uplo), c_op(how), n, k, c_value(scale_a), a_rows.data(),
             ld(a_rows), c_value(scale_c), rows.data(), ld(rows));
    EXPECT_LT(distance(turned(rows), expected), tolerance<T>(k));

    const T other = hermitian ? conjugated(this->alpha) : this->alpha;
    const auto both =
        sum(this->alpha, outer(how, hermitian, a, b), other, outer(how, hermitian, b, a));
    expected = merged(uplo, sum(T{1}, both, T{scale_c}, c), c);
    got = c;
    rows = turned(c);
    fortran<T>(two, uplo, how, n, k, this->alpha, a.data(), ld(a), b.data(), ld(b), scale_c,
               got.data(), ld(got));
    EXPECT_LT(distance(got, expected), tolerance<T>(k));
    cblas<T>(two, row_major, c_triangle(uplo), c_op(how), n, k, c_value(this->alpha), a_rows.data(),
             ld(a_rows), b_rows.data(), ld(b_rows), c_value(scale_c), rows.data(), ld(rows));
    EXPECT_LT(distance(turned(rows), expected), tolerance<T>(k));
  }
};
TYPED_TEST_SUITE(updates, scalars);

TYPED_TEST(updates, touch_one_triangle) {
  for (const char uplo : {'L', 'U'}) {
    for (const char how : {'N', 'T'}) this->check(false, uplo, how, this->alpha, this->beta);
    if constexpr (is_complex<TypeParam>) {
      for (const char how : {'N', 'C'}) {
        this->check(true, uplo, how, this->alpha.real(), this->beta.imag());
      }
    } else {
      this->check(false, uplo, 'C', this->alpha, this->beta);
    }
  }
}

TYPED_TEST(products, trmm_and_trsm) {
  using T = TypeParam;
  const index_t m = 37, n = 22;
  for (const char where : {'L', 'R'}) {
    for (const char uplo : {'L', 'U'}) {
      for (const char how : {'N', 'T', 'C'}) {
        for (const char ones : {'N', 'U'}) {
          const index_t order = where == 'L' ? m : n;
          auto a = random_regular<T>(order, this->random);
          if (ones == 'U') a = sum<T>(T{1} / static_cast<real<T>>(order), a, T{}, a);
          const auto b = random_matrix<T>(m, n, this->random);
          const auto t = applied(static_cast<op>(how),
                                 only(static_cast<triangle>(uplo), static_cast<diagonal>(ones), a));
          const auto times = where == 'L' ? product(t, b) : product(b, t);
          const auto a_rows = turned(a);
          matrix<T> got = b, rows = turned(b);
          const auto both = [&](const char* name, T scale) {
            fortran<T>(name, where, uplo, how, ones, m, n, scale, a.data(), ld(a), got.data(),
                       ld(got));
            cblas<T>(name, row_major, c_side(where), c_triangle(uplo), c_op(how),
                     ones == 'N' ? 131 : 132, m, n, c_value(scale), a_rows.data(), ld(a_rows),
                     rows.data(), ld(rows));
          };
          both("trmm", this->alpha);
          const auto expected = sum<T>(this->alpha, times, T{}, times);
          EXPECT_LT(distance(got, expected), tolerance<T>(order) * 10);
          EXPECT_LT(distance(turned(rows), expected), tolerance<T>(order) * 10);
          both("trsm", T{2});  // and back, twice as large
          const auto back = sum<T>(T{2} * this->alpha, b, T{}, b);
          EXPECT_LT(distance(got, back), tolerance<T>(order) * 10);
          EXPECT_LT(distance(turned(rows), back), tolerance<T>(order) * 10);
        }
      }
    }
  }
}

}  // namespace
}  // namespace creek::lapack::testing
