// SPDX-License-Identifier: Apache-2.0
// Condition numbers, refinement and solvers in two precisions: results against definitions, and
// what is written beside the workspaces.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <creek/linalg/residual.hpp>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::diagonal;
using linalg::norm;
using linalg::norm_of;
using linalg::op;
using linalg::triangle;

template <class T>
class accuracy : public ::testing::Test {
 protected:
  std::mt19937 random{17};
};
TYPED_TEST_SUITE(accuracy, scalars);

template <class R>
constexpr R nan_of = std::numeric_limits<R>::quiet_NaN();

/// Workspace with an element after its end, which must stay.
template <class T>
class guarded {
 public:
  explicit guarded(index_t length) : data_(static_cast<std::size_t>(length) + 1, T(7)) {}
  ~guarded() { EXPECT_EQ(data_.back(), T(7)) << "the workspace is shorter"; }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  T* data() { return data_.data(); }

 private:
  std::vector<T> data_;
};

/// WORK and IWORK or RWORK of a routine.
template <scalar T>
struct spaces {
  guarded<T> work;
  guarded<std::conditional_t<is_complex<T>, real<T>, blas_int>> spare;
  spaces(index_t real_length, index_t complex_length, index_t spare_length)
      : work(is_complex<T> ? complex_length : real_length), spare(spare_length) {}
};

template <scalar T>
matrix<T> inverse(matrix<T> a) {
  const index_t n = a.rows();
  std::vector<blas_int> ipiv(static_cast<std::size_t>(n));
  std::vector<T> work(static_cast<std::size_t>(n));
  EXPECT_EQ(lapack<T>("getrf", n, n, a.data(), ld(a), ipiv.data()), 0);
  EXPECT_EQ(lapack<T>("getri", n, a.data(), ld(a), ipiv.data(), work.data(), n), 0);
  return a;
}

/// Returns 1 / (|a| |inverse of a|).
template <scalar T>
double exact_condition(norm which, const matrix<T>& a) {
  return 1 / norm_of<T>(which, a) / norm_of<T>(which, inverse(a));
}

/// An estimate of the norm of the inverse from below; the computed inverse has errors, too.
void expect_near_from_above(double estimate, double exact) {
  EXPECT_GE(estimate, exact * 0.8);
  EXPECT_LE(estimate, exact * 3);
}

template <scalar T>
real<T> gecon(char which, const matrix<T>& factors, double anorm) {
  const index_t n = factors.rows();
  spaces<T> space(4 * n, 2 * n, is_complex<T> ? 2 * n : n);
  real<T> size = static_cast<real<T>>(anorm), rcond = 77;
  EXPECT_EQ(lapack<T>("gecon", which, n, factors.data(), ld(factors), &size, &rcond,
                      space.work.data(), space.spare.data()),
            0);
  return rcond;
}
template <scalar T>
real<T> pocon(char uplo, const matrix<T>& factor, double anorm) {
  const index_t n = factor.rows();
  spaces<T> space(3 * n, 2 * n, n);
  real<T> size = static_cast<real<T>>(anorm), rcond = 77;
  EXPECT_EQ(lapack<T>("pocon", uplo, n, factor.data(), ld(factor), &size, &rcond, space.work.data(),
                      space.spare.data()),
            0);
  return rcond;
}
template <scalar T>
real<T> trcon(char which, char uplo, char diag, const matrix<T>& a) {
  const index_t n = a.rows();
  spaces<T> space(3 * n, 2 * n, n);
  real<T> rcond = 77;
  EXPECT_EQ(lapack<T>("trcon", which, uplo, diag, n, a.data(), ld(a), &rcond, space.work.data(),
                      space.spare.data()),
            0);
  return rcond;
}

TYPED_TEST(accuracy, condition_numbers_of_general_matrices) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 2, 7, 40}) {
    const matrix<T> a = random_matrix<T>(n, n, this->random);
    matrix<T> f = a;
    std::vector<blas_int> ipiv(static_cast<std::size_t>(n) + 1);
    ASSERT_EQ(lapack<T>("getrf", n, n, f.data(), ld(f), ipiv.data()), 0);
    const matrix<T> rows = turned(f);
    for (const char letter : {'1', 'O', 'i', 'I'}) {
      const norm which = letter == 'i' || letter == 'I' ? norm::inf : norm::one;
      const auto anorm = static_cast<real<T>>(norm_of<T>(which, a));
      const real<T> rcond = gecon(letter, f, anorm);
      if (n == 0) {
        EXPECT_EQ(rcond, 1);
        continue;
      }
      expect_near_from_above(rcond, exact_condition(which, a));
      real<T> by_c = 77, by_rows = 77;
      EXPECT_EQ(lapacke<T>("gecon", col_major, letter, n, f.data(), ld(f), anorm, &by_c), 0);
      EXPECT_EQ(lapacke<T>("gecon", row_major, letter, n, rows.data(), ld(rows), anorm, &by_rows),
                0);
      EXPECT_EQ(by_c, rcond);
      EXPECT_EQ(by_rows, rcond);
    }
  }
}

TYPED_TEST(accuracy, condition_numbers_of_definite_matrices_and_triangles) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 3, 40}) {
    const matrix<T> a = random_definite<T>(n, this->random);
    const auto anorm = static_cast<real<T>>(norm_of<T>(norm::one, a));
    for (const char uplo : {'L', 'u'}) {
      const triangle stored = uplo == 'L' ? triangle::lower : triangle::upper;
      matrix<T> f = a;
      ASSERT_EQ(lapack<T>("potrf", uplo, n, f.data(), ld(f)), 0);
      const real<T> rcond = pocon(uplo, f, anorm);
      if (n > 0) expect_near_from_above(rcond, exact_condition(norm::one, a));
      const matrix<T> rows = turned(f);
      real<T> by_rows = 77;
      EXPECT_EQ(lapacke<T>("pocon", row_major, uplo, n, rows.data(), ld(rows), anorm, &by_rows), 0);
      EXPECT_EQ(by_rows, rcond);
      for (const char diag : {'N', 'U'}) {
        matrix<T> t = f;  // with small elements outside the diagonal
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) t(i, j) /= static_cast<real<T>>(i == j ? 1 : n);
        }
        const auto whole = only(stored, diag == 'U' ? diagonal::unit : diagonal::stored, t);
        for (const char letter : {'o', 'I'}) {
          const real<T> found = trcon(letter, uplo, diag, t);
          const norm which = letter == 'o' ? norm::one : norm::inf;
          if (n > 0) expect_near_from_above(found, exact_condition(which, whole));
          const matrix<T> t_rows = turned(t);
          EXPECT_EQ(lapacke<T>("trcon", row_major, letter, uplo, diag, n, t_rows.data(), ld(t_rows),
                               &by_rows),
                    0);
          EXPECT_EQ(by_rows, found);
        }
      }
    }
  }
}

TYPED_TEST(accuracy, condition_numbers_of_matrices_that_are_singular_or_not_finite) {
  using T = TypeParam;
  using R = real<T>;
  const index_t n = 9;
  matrix<T> a = random_matrix<T>(n, n, this->random);
  for (index_t i = 0; i < n; ++i) a(i, i) = T{2};
  EXPECT_TRUE(std::isnan(gecon('1', a, nan_of<R>)));
  EXPECT_TRUE(std::isnan(pocon('L', a, nan_of<R>)));
  EXPECT_EQ(gecon('1', a, std::numeric_limits<R>::infinity()), 0);
  EXPECT_EQ(gecon('I', a, 0), 0);
  R rcond = 77;
  EXPECT_EQ(lapacke<T>("gecon", col_major, '1', n, a.data(), ld(a), nan_of<R>, &rcond), -6);
  EXPECT_EQ(lapacke<T>("pocon", row_major, 'L', n, a.data(), ld(a), nan_of<R>, &rcond), -6);
  matrix<T> odd = a;
  odd(2, 7) = nan_of<R>;
  EXPECT_TRUE(std::isnan(gecon('1', odd, 1)));
  EXPECT_TRUE(std::isnan(trcon('I', 'U', 'N', odd)));
  EXPECT_EQ(trcon('I', 'L', 'N', odd), trcon('I', 'L', 'N', a));
  EXPECT_EQ(lapacke<T>("gecon", row_major, '1', n, odd.data(), ld(odd), R{1}, &rcond), -4);
  EXPECT_EQ(lapacke<T>("pocon", col_major, 'U', n, odd.data(), ld(odd), R{1}, &rcond), -4);
  EXPECT_EQ(lapacke<T>("trcon", col_major, '1', 'U', 'U', n, odd.data(), ld(odd), &rcond), -6);
  EXPECT_EQ(rcond, 77);
  a(4, 4) = T{};
  EXPECT_EQ(gecon('O', a, 1), 0);
  EXPECT_EQ(pocon('U', a, 1), 0);
  EXPECT_EQ(trcon('1', 'L', 'N', a), 0);
  EXPECT_GT(trcon('1', 'L', 'U', a), 0);
}

/// Intermediate results exceed the largest number, but the norm of the inverse does not.
TYPED_TEST(accuracy, condition_numbers_without_overflow) {
  using T = TypeParam;
  using R = real<T>;
  const R largest = std::numeric_limits<R>::max();
  const R big = std::pow(largest, R(0.65)), huge = std::pow(largest, R(0.97));
  matrix<T> f(3, 3);
  f(0, 0) = T{1};
  f(1, 1) = f(2, 2) = huge;
  f(1, 0) = f(2, 1) = -big;
  const double expected = 1 / (static_cast<double>(big) / huge * big);
  EXPECT_NEAR(gecon('1', f, 1) / expected, 1, 1e-3);
  EXPECT_NEAR(gecon('I', f, 1) / expected, 1, 1e-3);
  // The inverse itself overflows.
  f(1, 1) = f(2, 2) = T{1};
  EXPECT_EQ(gecon('1', f, 1), 0);
  EXPECT_EQ(trcon('1', 'L', 'N', f), 0);
  matrix<T> tiny(3, 3);
  for (index_t i = 0; i < 3; ++i) tiny(i, i) = std::numeric_limits<R>::denorm_min();
  EXPECT_EQ(pocon('L', tiny, 1), 0);
}

/// A system, its factors, and a solution with errors.
template <scalar T>
struct refinement {
  matrix<T> a, f, b, x, exact;
  std::vector<blas_int> ipiv;
  std::vector<real<T>> ferr, berr;

  refinement(const matrix<T>& of, op how, index_t cols, std::mt19937& random)
      : a(of),
        f(of),
        b(of.rows(), cols),
        x(of.rows(), cols),
        exact(random_matrix<T>(of.rows(), cols, random)),
        ipiv(static_cast<std::size_t>(of.rows())),
        ferr(static_cast<std::size_t>(cols), 77),
        berr(ferr) {
    b = product(applied(how, a), exact);
    x = exact;
    for (index_t j = 0; j < cols; ++j) {
      for (index_t i = 0; i < x.rows(); ++i)
        x(i, j) *= static_cast<real<T>>(i % 3 == 0 ? 1 : 1.001);
    }
  }
  void expect_refined(const matrix<T>& found) const {
    for (index_t j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_LE(berr[at], 8 * eps<T>);
      double error = 0, size = 0;
      for (index_t i = 0; i < x.rows(); ++i) {
        error = std::max<double>(error, std::abs(found(i, j) - exact(i, j)));
        size = std::max<double>(size, std::abs(found(i, j)));
      }
      EXPECT_LE(error, 1.1 * ferr[at] * size);
      EXPECT_LE(ferr[at], 1e5 * eps<T>);
    }
  }
};

TYPED_TEST(accuracy, refined_solutions_of_general_systems) {
  using T = TypeParam;
  for (const auto& [n, cols] : {std::pair<index_t, index_t>{1, 1}, {33, 3}, {150, 2}}) {
    const matrix<T> a = random_regular<T>(n, this->random);
    for (const char trans : {'N', 'T', 'c'}) {
      const op how = trans == 'N'   ? op::none
                     : trans == 'T' ? op::transpose
                                    : op::conjugate_transpose;
      refinement<T> s(a, how, cols, this->random);
      ASSERT_EQ(lapack<T>("getrf", n, n, s.f.data(), ld(s.f), s.ipiv.data()), 0);
      matrix<T> x = s.x, x_rows = turned(s.x);
      {
        spaces<T> space(3 * n, 2 * n, n);
        EXPECT_EQ(lapack<T>("gerfs", trans, n, cols, s.a.data(), ld(s.a), s.f.data(), ld(s.f),
                            s.ipiv.data(), s.b.data(), ld(s.b), x.data(), ld(x), s.ferr.data(),
                            s.berr.data(), space.work.data(), space.spare.data()),
                  0);
      }
      s.expect_refined(x);
      const matrix<T> a_rows = turned(s.a), f_rows = turned(s.f), b_rows = turned(s.b);
      EXPECT_EQ(lapacke<T>("gerfs", row_major, trans, n, cols, a_rows.data(), ld(a_rows),
                           f_rows.data(), ld(f_rows), s.ipiv.data(), b_rows.data(), ld(b_rows),
                           x_rows.data(), ld(x_rows), s.ferr.data(), s.berr.data()),
                0);
      EXPECT_EQ(distance(turned(x_rows), x), 0);
      s.x(0, 0) = nan_of<real<T>>;
      EXPECT_EQ(lapacke<T>("gerfs", col_major, trans, n, cols, s.a.data(), ld(s.a), s.f.data(),
                           ld(s.f), s.ipiv.data(), s.b.data(), ld(s.b), s.x.data(), ld(s.x),
                           s.ferr.data(), s.berr.data()),
                -12);
    }
  }
  std::vector<real<T>> ferr(2, 77), berr(2, 77);
  T none{};
  EXPECT_EQ(lapack<T>("gerfs", 'N', 0, 2, &none, 1, &none, 1, nullptr, &none, 1, &none, 1,
                      ferr.data(), berr.data(), &none, nullptr),
            0);
  EXPECT_EQ(ferr[1] + berr[1], 0);
}

TYPED_TEST(accuracy, refined_solutions_of_definite_systems) {
  using T = TypeParam;
  for (const index_t n : {1, 33}) {
    const matrix<T> a = random_definite<T>(n, this->random);
    for (const char uplo : {'U', 'L'}) {
      refinement<T> s(a, op::none, 2, this->random);
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (i != j && (i > j) == (uplo == 'U')) s.a(i, j) = s.f(i, j) = nan_of<real<T>>;
        }
      }
      ASSERT_EQ(lapack<T>("potrf", uplo, n, s.f.data(), ld(s.f)), 0);
      matrix<T> x = s.x, x_rows = turned(s.x);
      {
        spaces<T> space(3 * n, 2 * n, n);
        EXPECT_EQ(lapack<T>("porfs", uplo, n, 2, s.a.data(), ld(s.a), s.f.data(), ld(s.f),
                            s.b.data(), ld(s.b), x.data(), ld(x), s.ferr.data(), s.berr.data(),
                            space.work.data(), space.spare.data()),
                  0);
      }
      s.expect_refined(x);
      const matrix<T> a_rows = turned(s.a), f_rows = turned(s.f), b_rows = turned(s.b);
      EXPECT_EQ(lapacke<T>("porfs", row_major, uplo, n, 2, a_rows.data(), ld(a_rows), f_rows.data(),
                           ld(f_rows), b_rows.data(), ld(b_rows), x_rows.data(), ld(x_rows),
                           s.ferr.data(), s.berr.data()),
                0);
      EXPECT_EQ(distance(turned(x_rows), x), 0);
    }
  }
}

class two_precisions : public ::testing::Test {
 protected:
  using T = double;
  std::mt19937 random{19};
  blas_int iter = 77;

  blas_int solve(matrix<T>& a, std::vector<blas_int>& ipiv, const matrix<T>& b, matrix<T>& x) {
    const index_t n = a.rows(), cols = b.cols();
    guarded<T> work(n * cols);
    guarded<float> swork(n * (n + cols));
    return lapack<T>("sgesv", n, cols, a.data(), ld(a), ipiv.data(), b.data(), ld(b), x.data(),
                     ld(x), work.data(), swork.data(), &iter);
  }
  blas_int solve(char uplo, matrix<T>& a, const matrix<T>& b, matrix<T>& x) {
    const index_t n = a.rows(), cols = b.cols();
    guarded<T> work(n * cols);
    guarded<float> swork(n * (n + cols));
    return lapack<T>("sposv", uplo, n, cols, a.data(), ld(a), b.data(), ld(b), x.data(), ld(x),
                     work.data(), swork.data(), &iter);
  }
  static void expect_solved(const matrix<T>& a, const matrix<T>& x, const matrix<T>& b) {
    if (a.rows() > 0) {
      EXPECT_LE(linalg::solve_residual<T>(a.view(), x.view(), b.view()), linalg::hpl_threshold);
    }
  }
};

TEST_F(two_precisions, solve_general_systems) {
  for (const index_t n : {0, 1, 2, 33, 120}) {
    const matrix<T> a = random_regular<T>(n, random), b = random_matrix<T>(n, 2, random);
    matrix<T> left = a, x(n, 2);
    std::vector<blas_int> ipiv(static_cast<std::size_t>(n) + 1, 99);
    EXPECT_EQ(solve(left, ipiv, b, x), 0);
    EXPECT_GE(iter, 0);
    EXPECT_EQ(ipiv.back(), 99);
    EXPECT_EQ(distance(left, a), 0);
    expect_solved(a, x, b);
    matrix<T> a_rows = turned(a), x_rows(2, n);
    const matrix<T> b_rows = turned(b);
    EXPECT_EQ(lapacke<T>("sgesv", row_major, n, 2, a_rows.data(), ld(a_rows), ipiv.data(),
                         b_rows.data(), ld(b_rows), x_rows.data(), ld(x_rows), &iter),
              0);
    EXPECT_EQ(distance(turned(x_rows), x), 0);
  }
}

TEST_F(two_precisions, solve_definite_systems) {
  for (const index_t n : {1, 40}) {
    const matrix<T> a = random_definite<T>(n, random), b = random_matrix<T>(n, 3, random);
    for (const char uplo : {'L', 'U'}) {
      matrix<T> left = a, x(n, 3);
      EXPECT_EQ(solve(uplo, left, b, x), 0);
      EXPECT_GE(iter, 0);
      EXPECT_EQ(distance(left, a), 0);
      expect_solved(a, x, b);
      matrix<T> a_rows = turned(a), x_rows(3, n);
      const matrix<T> b_rows = turned(b);
      EXPECT_EQ(lapacke<T>("sposv", row_major, uplo, n, 3, a_rows.data(), ld(a_rows), b_rows.data(),
                           ld(b_rows), x_rows.data(), ld(x_rows), &iter),
                0);
      EXPECT_EQ(distance(turned(x_rows), x), 0);
    }
  }
}

TEST_F(two_precisions, say_why_they_factor_in_full_precision) {
  const index_t n = 20;
  const matrix<T> b = random_matrix<T>(n, 1, random);
  matrix<T> x(n, 1);
  std::vector<blas_int> ipiv(20);
  matrix<T> huge = random_regular<T>(n, random);
  huge(3, 4) = 1e300;
  matrix<T> f = huge;
  EXPECT_EQ(solve(f, ipiv, b, x), 0);
  EXPECT_EQ(iter, -2);
  EXPECT_GT(distance(f, huge), 0) << "A becomes its factors";
  f = random_regular<T>(n, random);
  for (index_t i = 0; i < n; ++i) f(i, 6) = T{};
  EXPECT_EQ(solve(f, ipiv, b, x), 7);
  EXPECT_EQ(iter, -3);
  f = random_definite<T>(n, random);
  f(8, 8) = -1;
  EXPECT_EQ(solve('L', f, b, x), 9);
  EXPECT_EQ(iter, -3);
  // The condition number is about 1e12.
  f = random_regular<T>(n, random);
  for (index_t j = 0; j < n; ++j) f(1, j) = f(0, j) + 1e-12 * f(1, j);
  const matrix<T> ill = f;
  EXPECT_EQ(solve(f, ipiv, b, x), 0);
  EXPECT_LT(iter, 0);
  expect_solved(ill, x, b);
}

}  // namespace
}  // namespace creek::lapack::testing
