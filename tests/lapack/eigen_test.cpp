// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors by their Fortran names and through LAPACKE in both layouts.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::const_view;
using linalg::op;

/// Returns "syevd" for real, "heevd" for complex numbers; similarly for the others.
template <scalar T>
std::string of_hermitian(const char* what) {
  return (is_complex<T> ? "he" : "sy") + std::string(what);
}

/// WORK, for complex numbers RWORK, and IWORK, by a query.
template <scalar T>
struct eigen_work {
  T best{};
  real<T> best_real{};
  blas_int best_integer = 0;
  std::vector<T> work;
  std::vector<real<T>> rwork;
  std::vector<blas_int> iwork;

  /// Calls the routine with these arguments and room for everything.
  template <class... A>
  blas_int call(const std::string& name, A... given) {
    if constexpr (is_complex<T>) {
      EXPECT_EQ(lapack<T>(name, given..., &best, -1, &best_real, -1, &best_integer, -1), 0);
      make_room();
      return lapack<T>(name, given..., work.data(), work.size(), rwork.data(), rwork.size(),
                       iwork.data(), iwork.size());
    } else {
      EXPECT_EQ(lapack<T>(name, given..., &best, -1, &best_integer, -1), 0);
      make_room();
      return lapack<T>(name, given..., work.data(), work.size(), iwork.data(), iwork.size());
    }
  }

 private:
  void make_room() {
    work.resize(static_cast<std::size_t>(std::real(best)));
    rwork.resize(static_cast<std::size_t>(best_real));
    iwork.resize(static_cast<std::size_t>(best_integer));
  }
};

template <class T>
class eigen_routines : public ::testing::Test {
 protected:
  using R = real<T>;
  std::mt19937 random{11};

  matrix<T> hermitian(index_t n) {
    auto a = random_matrix<T>(n, n, random);
    for (index_t j = 0; j < n; ++j) {
      a(j, j) = std::real(a(j, j));
      for (index_t i = 0; i < j; ++i) a(j, i) = conjugated(a(i, j));
    }
    return a;
  }
  static std::vector<R> room(index_t n) {
    return std::vector<R>(static_cast<std::size_t>(std::max<index_t>(1, n)));
  }
  /// Returns the largest element of A V - V diag(w) and V^H V - 1.
  static double residual(const matrix<T>& a, const std::vector<R>& w, const matrix<T>& v) {
    matrix<T> scaled = v, one(v.cols(), v.cols());
    for (index_t j = 0; j < v.cols(); ++j) {
      one(j, j) = T{1};
      for (index_t i = 0; i < v.rows(); ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
    }
    return std::max(distance(product(a, v), scaled),
                    distance(product(applied(op::conjugate_transpose, v), v), one));
  }
  static double tolerance_of(index_t n) { return tolerance<T>(n) / 4; }
};
TYPED_TEST_SUITE(eigen_routines, scalars);

TYPED_TEST(eigen_routines, drivers_in_both_layouts) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 2, 3, 30, 170}) {
    const auto a = this->hermitian(n);
    for (const char uplo : {'L', 'U'}) {
      auto v = a;
      auto w = this->room(n), values = this->room(n);
      ASSERT_EQ(
          eigen_work<T>().call(of_hermitian<T>("evd"), 'V', uplo, n, v.data(), ld(v), w.data()), 0);
      EXPECT_LT(this->residual(a, w, v), this->tolerance_of(n)) << n;
      v = a;
      ASSERT_EQ(eigen_work<T>().call(of_hermitian<T>("evd"), 'N', uplo, n, v.data(), ld(v),
                                     values.data()),
                0);
      for (index_t i = 0; i < n; ++i) {
        EXPECT_NEAR(values[static_cast<std::size_t>(i)], w[static_cast<std::size_t>(i)],
                    this->tolerance_of(n));
      }
      for (const char* name : {"ev", "evd"}) {
        for (const int layout : {col_major, row_major}) {
          v = layout == row_major ? turned(a) : a;
          ASSERT_EQ(
              lapacke<T>(of_hermitian<T>(name), layout, 'V', uplo, n, v.data(), ld(v), w.data()),
              0);
          EXPECT_LT(this->residual(a, w, layout == row_major ? turned(v) : v),
                    this->tolerance_of(n));
        }
      }
    }
  }
}

TYPED_TEST(eigen_routines, parts_of_a_spectrum) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {2, 20, 90}) {
    const auto a = this->hermitian(n);
    auto all = this->room(n);
    auto destroyed = a;
    ASSERT_EQ(lapacke<T>(of_hermitian<T>("evd"), col_major, 'N', 'L', n, destroyed.data(), ld(a),
                         all.data()),
              0);
    const blas_int il = static_cast<blas_int>(n / 2), iu = static_cast<blas_int>(n);
    const auto first = static_cast<std::size_t>(il - 1);
    const R vl = il == 1 ? R{-100} : (all[first] + all[first - 1]) / 2;
    for (const char range : {'A', 'V', 'I'}) {
      const index_t count = range == 'A' ? n : iu - il + 1;
      blas_int m = 0;
      auto w = this->room(n);
      std::vector<blas_int> support(static_cast<std::size_t>(2 * n));
      const R high = 100, abstol = 0;
      auto b = a;
      matrix<T> z(n, n);
      ASSERT_EQ(
          eigen_work<T>().call(of_hermitian<T>("evr"), 'V', range, 'U', n, b.data(), ld(b), vl,
                               high, il, iu, abstol, &m, w.data(), z.data(), ld(z), support.data()),
          0);
      ASSERT_EQ(m, count) << range;
      // LAPACK tells supports of the whole spectrum only; SciPy gives no room for others.
      const bool is_whole = range == 'A' || (range == 'I' && il == 1);
      EXPECT_EQ(support[0], is_whole ? 1 : 0);
      EXPECT_EQ(support[1], is_whole ? n : 0);
      EXPECT_NEAR(w[0], range == 'A' ? all[0] : all[first], this->tolerance_of(n));
      EXPECT_LT(this->residual(a, w, matrix<T>(const_view<T>(z.view().columns(0, count)))),
                this->tolerance_of(n));
      b = turned(a);
      matrix<T> rows(n, n);
      ASSERT_EQ(
          lapacke<T>(of_hermitian<T>("evr"), row_major, 'V', range, 'U', n, b.data(), ld(b), vl,
                     high, il, iu, abstol, &m, w.data(), rows.data(), ld(rows), support.data()),
          0);
      ASSERT_EQ(m, count) << range;
      rows = turned(rows);
      EXPECT_LT(this->residual(a, w, matrix<T>(const_view<T>(rows.view().columns(0, count)))),
                this->tolerance_of(n));
    }
  }
}

TYPED_TEST(eigen_routines, reduction_vectors_of_t_and_back) {
  using T = TypeParam;
  const char* const names[] = {"stedc", "steqr"};
  for (const index_t n : {1, 3, 40, 110}) {
    const auto a = this->hermitian(n);
    for (const char uplo : {'L', 'U'}) {
      for (const int layout : {col_major, row_major}) {
        matrix<T> f = layout == row_major ? turned(a) : a;
        auto d = this->room(n), e = this->room(n);
        std::vector<T> tau(static_cast<std::size_t>(n));
        ASSERT_EQ(lapacke<T>(of_hermitian<T>("trd"), layout, uplo, n, f.data(), ld(f), d.data(),
                             e.data(), tau.data()),
                  0);
        matrix<T> q = f;
        ASSERT_EQ(lapacke<T>(of_q<T>("gtr"), layout, uplo, n, q.data(), ld(q), tau.data()), 0);
        for (const char* name : names) {
          // By the vectors of the reduction, and by its reflectors applied to those of T.
          auto w = d, off = e;
          auto v = q;
          ASSERT_EQ(lapacke<T>(name, layout, 'V', n, w.data(), off.data(), v.data(), ld(v)), 0);
          EXPECT_LT(this->residual(a, w, layout == row_major ? turned(v) : v),
                    this->tolerance_of(n))
              << name << n;
          matrix<T> z(n, n);
          w = d, off = e;
          ASSERT_EQ(lapacke<T>(name, layout, 'I', n, w.data(), off.data(), z.data(), ld(z)), 0);
          ASSERT_EQ(lapacke<T>(of_q<T>("mtr"), layout, 'L', uplo, 'N', n, n, f.data(), ld(f),
                               tau.data(), z.data(), ld(z)),
                    0);
          EXPECT_LT(this->residual(a, w, layout == row_major ? turned(z) : z),
                    this->tolerance_of(n));
          auto values = d;
          off = e;
          ASSERT_EQ(lapacke<T>(name, layout, 'N', n, values.data(), off.data(), z.data(), ld(z)),
                    0);
          EXPECT_NEAR(values[0], w[0], this->tolerance_of(n));
        }
      }
    }
  }
}

TYPED_TEST(eigen_routines, two_matrices_in_both_layouts) {
  using T = TypeParam;
  const std::string gst = of_hermitian<T>("gst"), gv = of_hermitian<T>("gv"),
                    gvd = of_hermitian<T>("gvd");
  for (const index_t n : {0, 1, 3, 50}) {
    const auto a = this->hermitian(n);
    auto b = random_definite<T>(n, this->random);
    for (index_t i = 0; i < n * b.leading(); ++i) b.data()[i] /= static_cast<real<T>>(n);
    for (const char uplo : {'L', 'U'}) {
      for (const int itype : {1, 2, 3}) {
        auto v = a, factor = b;
        auto w = this->room(n), others = this->room(n);
        ASSERT_EQ(eigen_work<T>().call(gvd, itype, 'V', uplo, n, v.data(), ld(v), factor.data(),
                                       ld(factor), w.data()),
                  0);
        matrix<T> scaled = v;
        for (index_t j = 0; j < n; ++j) {
          for (index_t i = 0; i < n; ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
        }
        const auto left = itype == 1   ? product(a, v)
                          : itype == 2 ? product(a, product(b, v))
                                       : product(b, product(a, v));
        EXPECT_LT(distance(left, itype == 1 ? product(b, scaled) : scaled),
                  this->tolerance_of(n) * static_cast<double>(n + 8));
        for (const int layout : {col_major, row_major}) {
          const auto given = layout == row_major ? turned(a) : a;
          const auto second = layout == row_major ? turned(b) : b;
          for (const std::string& name : {gv, gvd}) {
            auto vectors = given, other = second;
            ASSERT_EQ(lapacke<T>(name, layout, itype, 'V', uplo, n, vectors.data(), ld(vectors),
                                 other.data(), ld(other), others.data()),
                      0);
            EXPECT_EQ(distance(layout == row_major ? turned(vectors) : vectors, v), 0) << name;
          }
          auto reduced = given, other = second;
          ASSERT_EQ(lapacke<T>("potrf", layout, uplo, n, other.data(), ld(other)), 0);
          ASSERT_EQ(lapacke<T>(gst, layout, itype, uplo, n, reduced.data(), ld(reduced),
                               other.data(), ld(other)),
                    0);
          ASSERT_EQ(lapacke<T>(of_hermitian<T>("ev"), layout, 'N', uplo, n, reduced.data(),
                               ld(reduced), others.data()),
                    0);
          for (index_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            EXPECT_NEAR(others[at], w[at], this->tolerance_of(n) * static_cast<double>(n + 8));
          }
        }
      }
    }
    if (n == 0) continue;
    b(n - 1, n - 1) = real<T>{-1};
    auto v = a;
    auto w = this->room(n);
    EXPECT_EQ(lapacke<T>(gv, col_major, 1, 'V', 'L', n, v.data(), ld(v), b.data(), ld(b), w.data()),
              2 * n)
        << "minor n of B";
  }
}

TYPED_TEST(eigen_routines, nan_is_found_or_ends_with_info) {
  using T = TypeParam;
  const index_t n = 40;
  auto a = this->hermitian(n);
  auto w = this->room(n);
  a(5, 3) = std::numeric_limits<real<T>>::quiet_NaN();
  auto b = a;
  EXPECT_EQ(lapacke<T>(of_hermitian<T>("evd"), col_major, 'V', 'L', n, b.data(), ld(b), w.data()),
            -5);
  EXPECT_EQ(lapacke<T>(of_hermitian<T>("evd"), col_major, 'V', 'U', n, b.data(), ld(b), w.data()),
            0)
      << "it is in the other triangle";
  EXPECT_GT(eigen_work<T>().call(of_hermitian<T>("evd"), 'V', 'L', n, a.data(), ld(a), w.data()),
            0);
}

}  // namespace
}  // namespace creek::lapack::testing
