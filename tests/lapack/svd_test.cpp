// SPDX-License-Identifier: Apache-2.0
// Singular values and least squares by their Fortran names and through LAPACKE in both layouts, in
// every form that the letters of a call select.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::copy;
using linalg::op;

struct shape {
  index_t m, n;
};
constexpr shape shapes[] = {{1, 1},   {1, 4},   {4, 1},    {3, 3},    {9, 4},    {4, 9},
                            {60, 45}, {45, 60}, {150, 40}, {40, 150}, {280, 250}};

/// Calls one of the routines with vectors, by Fortran's name or through LAPACKE.
template <scalar T>
class call {
 public:
  call(const matrix<T>& A, index_t u_cols, index_t vt_rows)
      : m(A.rows()),
        n(A.cols()),
        a(A),
        u(A.rows(), std::max<index_t>(1, u_cols)),
        vt(std::max<index_t>(1, vt_rows), A.cols()),
        s(static_cast<std::size_t>(std::min(m, n))) {}

  blas_int gesdd(char job) { return fortran("gesdd", true, job); }
  blas_int gesvd(char left, char right) { return fortran("gesvd", false, left, right); }

  index_t m, n;
  matrix<T> a, u, vt;
  std::vector<real<T>> s;

 private:
  template <class... Jobs>
  blas_int fortran(const char* name, bool integers, Jobs... jobs) {
    std::vector<real<T>> rwork(static_cast<std::size_t>(1 + 8 * (m + n) * (m + n)));
    std::vector<blas_int> iwork(static_cast<std::size_t>(8 * std::min(m, n)));
    const auto with_rest = [&](T* work, blas_int length) {
      const auto go = [&](auto... rest) {
        return lapack<T>(name, jobs..., m, n, a.data(), ld(a), s.data(), u.data(), ld(u), vt.data(),
                         ld(vt), work, length, rest...);
      };
      if constexpr (is_complex<T>) {
        return integers ? go(rwork.data(), iwork.data()) : go(rwork.data());
      } else {
        return integers ? go(iwork.data()) : go();
      }
    };
    T best{};
    EXPECT_EQ(with_rest(&best, -1), 0);
    EXPECT_GE(std::real(best), std::min(m, n));
    std::vector<T> work(static_cast<std::size_t>(std::real(best)));
    return with_rest(work.data(), static_cast<blas_int>(work.size()));
  }
};

template <class T>
class svd_routines : public ::testing::Test {
 protected:
  std::mt19937 random{11};

  static void expect_orthonormal(const matrix<T>& q) {
    const matrix<T> square = product(applied(op::conjugate_transpose, q), q);
    matrix<T> one(q.cols(), q.cols());
    for (index_t i = 0; i < q.cols(); ++i) one(i, i) = T{1};
    EXPECT_LT(distance(square, one), tolerance<T>(q.rows()));
  }
  /// Checks U diag(s) V^H = A for the first columns of U and rows of V^H.
  static void expect_product(const matrix<T>& A, const matrix<T>& u, const std::vector<real<T>>& s,
                             const matrix<T>& vt) {
    const auto k = static_cast<index_t>(s.size());
    matrix<T> us(u.view().columns(0, k));
    for (index_t j = 0; j < k; ++j) {
      for (index_t i = 0; i < u.rows(); ++i) us(i, j) *= s[static_cast<std::size_t>(j)];
    }
    EXPECT_LT(distance(product(us, matrix<T>(vt.view().block(0, 0, k, vt.cols()))), A),
              10 * tolerance<T>(std::max(A.rows(), A.cols())));
    EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
  }
};
TYPED_TEST_SUITE(svd_routines, scalars);

TYPED_TEST(svd_routines, gesdd_decomposes_for_every_letter) {
  using T = TypeParam;
  for (const shape& each : shapes) {
    const index_t m = each.m, n = each.n;
    const index_t k = std::min(m, n);
    const matrix<T> A = random_matrix<T>(m, n, this->random);
    call<T> none(A, 0, 0), first(A, k, k), all(A, m, n), in_place(A, m, n);
    EXPECT_EQ(none.gesdd('N'), 0);
    EXPECT_EQ(first.gesdd('s'), 0);
    EXPECT_EQ(all.gesdd('A'), 0);
    EXPECT_EQ(in_place.gesdd('O'), 0);
    this->expect_product(A, first.u, first.s, first.vt);
    this->expect_product(A, all.u, all.s, all.vt);
    this->expect_orthonormal(all.u);
    this->expect_orthonormal(applied(op::conjugate_transpose, all.vt));
    if (m >= n) {
      this->expect_product(A, in_place.a, in_place.s, in_place.vt);
    } else {
      this->expect_product(A, in_place.u, in_place.s, in_place.a);
    }
    for (std::size_t i = 0; i < none.s.size(); ++i) {
      EXPECT_NEAR(none.s[i], all.s[i], tolerance<T>(m + n));
    }
  }
}

TYPED_TEST(svd_routines, gesvd_decomposes_for_every_pair_of_letters) {
  using T = TypeParam;
  for (const shape& each : {shape{5, 3}, shape{3, 5}, shape{70, 50}, shape{50, 120}}) {
    const index_t m = each.m, n = each.n;
    const index_t k = std::min(m, n);
    const matrix<T> A = random_matrix<T>(m, n, this->random);
    call<T> whole(A, m, n);
    ASSERT_EQ(whole.gesvd('A', 'A'), 0);
    this->expect_product(A, whole.u, whole.s, whole.vt);
    for (const char left : {'N', 'S', 'A', 'O'}) {
      for (const char right : {'N', 'S', 'A', 'O'}) {
        if (left == 'O' && right == 'O') continue;
        call<T> by(A, m, n);
        ASSERT_EQ(by.gesvd(left, right), 0) << left << right;
        for (std::size_t i = 0; i < by.s.size(); ++i) {
          EXPECT_NEAR(by.s[i], whole.s[i], tolerance<T>(m + n));
        }
        const matrix<T>& u = left == 'O' ? by.a : by.u;
        const matrix<T>& vt = right == 'O' ? by.a : by.vt;
        if (left != 'N' && right != 'N') this->expect_product(A, u, by.s, vt);
        // One side alone: its vectors span those of the whole.
        if (left != 'N') this->expect_orthonormal(matrix<T>(u.view().block(0, 0, m, k)));
      }
    }
  }
}

TYPED_TEST(svd_routines, of_lapacke_take_both_layouts) {
  using T = TypeParam;
  using R = real<T>;
  for (const shape& each : {shape{6, 4}, shape{4, 6}, shape{40, 33}}) {
    const index_t m = each.m, n = each.n;
    const index_t k = std::min(m, n);
    const matrix<T> A = random_matrix<T>(m, n, this->random);
    for (const char job : {'S', 'A', 'N', 'O'}) {
      const auto run = [&](int layout, matrix<T>& a, matrix<T>& u, matrix<T>& vt,
                           std::vector<R>& s) {
        return lapacke<T>("gesdd", layout, job, m, n, a.data(), ld(a), s.data(), u.data(), ld(u),
                          vt.data(), ld(vt));
      };
      const T nan = std::numeric_limits<R>::quiet_NaN();
      const index_t cols = job == 'S' ? k : m, rows = job == 'S' ? k : n;
      matrix<T> a = A, u(m, cols), vt(rows, n), a_rows = turned(A), u_rows(cols, m),
                vt_rows(n, rows);
      u(0, 0) = vt(0, 0) = u_rows(0, 0) = vt_rows(0, 0) = nan;  // only results
      std::vector<R> s(static_cast<std::size_t>(k)), s_rows(s);
      ASSERT_EQ(run(col_major, a, u, vt, s), 0);
      ASSERT_EQ(run(row_major, a_rows, u_rows, vt_rows, s_rows), 0);
      EXPECT_EQ(s, s_rows);
      if (job == 'N') continue;
      const bool has_u = job != 'O' || m < n, has_vt = job != 'O' || m >= n;
      if (has_u) {
        EXPECT_EQ(distance(u, turned(u_rows)), 0);
      }
      if (has_vt) {
        EXPECT_EQ(distance(vt, turned(vt_rows)), 0);
      }
      if (job == 'O') {
        EXPECT_EQ(distance(a, turned(a_rows)), 0);
      }
    }
    matrix<T> a = turned(A), u(m, m), vt(n, n), none(1, 1);
    std::vector<R> s(static_cast<std::size_t>(k)), superb(s);
    ASSERT_EQ(lapacke<T>("gesvd", row_major, 'A', 'A', m, n, a.data(), ld(a), s.data(), u.data(),
                         ld(u), vt.data(), ld(vt), superb.data()),
              0);
    this->expect_product(A, turned(u), s, turned(vt));
    a(0, 0) = std::numeric_limits<R>::quiet_NaN();
    EXPECT_EQ(lapacke<T>("gesvd", row_major, 'N', 'N', m, n, a.data(), ld(a), s.data(), none.data(),
                         1, none.data(), 1, superb.data()),
              -6);
  }
}

TYPED_TEST(svd_routines, gelsd_solves_in_both_layouts) {
  using T = TypeParam;
  using R = real<T>;
  for (const shape& each : shapes) {
    const index_t m = each.m, n = each.n;
    const index_t k = std::min(m, n), r = std::max<index_t>(1, k / 2);
    const matrix<T> A =
        product(random_matrix<T>(m, r, this->random), random_matrix<T>(r, n, this->random));
    const matrix<T> B = random_matrix<T>(std::max(m, n), 2, this->random);
    matrix<T> a = A, x = B, a_rows = turned(A), x_rows = turned(B);
    std::vector<R> s(static_cast<std::size_t>(k)), s_rows(s);
    blas_int rank = -1, rank_rows = -1;
    const R rcond = static_cast<R>(tolerance<T>(m + n));
    T best{};
    R best_rwork = 0;
    blas_int best_iwork = 0;
    const auto go = [&](T* work, blas_int length, R* rwork, blas_int* iwork) {
      const auto with = [&](auto... rest) {
        return lapack<T>("gelsd", m, n, 2, a.data(), ld(a), x.data(), ld(x), s.data(), rcond, &rank,
                         work, length, rest..., iwork);
      };
      if constexpr (is_complex<T>) {
        return with(rwork);
      } else {
        return with();
      }
    };
    ASSERT_EQ(go(&best, -1, &best_rwork, &best_iwork), 0);
    EXPECT_GE(best_iwork, 11 * k);
    std::vector<T> work(static_cast<std::size_t>(std::real(best)));
    std::vector<R> rwork(static_cast<std::size_t>(best_rwork) + 1);
    std::vector<blas_int> iwork(static_cast<std::size_t>(best_iwork));
    ASSERT_EQ(go(work.data(), static_cast<blas_int>(work.size()), rwork.data(), iwork.data()), 0);
    EXPECT_EQ(rank, r) << m << " x " << n;
    const matrix<T> X(x.view().block(0, 0, n, 2)), b(B.view().block(0, 0, m, 2));
    const auto left_over = sum<T>(T{1}, product(A, X), T{-1}, b);
    EXPECT_LT(distance(product(applied(op::conjugate_transpose, A), left_over), matrix<T>(n, 2)),
              tolerance<T>(m + n) * static_cast<double>(s[0]) * 100);
    ASSERT_EQ(lapacke<T>("gelsd", row_major, m, n, 2, a_rows.data(), ld(a_rows), x_rows.data(),
                         ld(x_rows), s_rows.data(), rcond, &rank_rows),
              0);
    EXPECT_EQ(rank_rows, rank);
    EXPECT_EQ(s_rows, s);
    EXPECT_EQ(distance(matrix<T>(turned(x_rows).view().block(0, 0, n, 2)), X), 0);
  }
}

TYPED_TEST(svd_routines, gebrd_in_both_layouts) {
  using T = TypeParam;
  using R = real<T>;
  for (const shape& each : shapes) {
    const index_t m = each.m, n = each.n;
    const auto k = static_cast<std::size_t>(std::min(m, n));
    const matrix<T> A = random_matrix<T>(m, n, this->random);
    matrix<T> a = A, a_rows = turned(A);
    std::vector<R> d(k), e(k), d_rows(k), e_rows(k);
    std::vector<T> q(k), p(k), q_rows(k), p_rows(k);
    ASSERT_EQ(lapack_with_work<T>("gebrd", std::max(m, n), m, n, a.data(), ld(a), d.data(),
                                  e.data(), q.data(), p.data()),
              0);
    ASSERT_EQ(lapacke<T>("gebrd", row_major, m, n, a_rows.data(), ld(a_rows), d_rows.data(),
                         e_rows.data(), q_rows.data(), p_rows.data()),
              0);
    EXPECT_EQ(distance(turned(a_rows), a), 0);
    EXPECT_EQ(d, d_rows);
    EXPECT_EQ(q, q_rows);
    EXPECT_EQ(p, p_rows);
    // Both factors are unitary: the norm is that of A.
    double before = 0, after = 0;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < m; ++i) before += std::norm(A(i, j));
    }
    for (std::size_t i = 0; i < k; ++i) {
      after += static_cast<double>(d[i]) * d[i];
      if (i + 1 < k) after += static_cast<double>(e[i]) * e[i];
    }
    EXPECT_NEAR(after / before, 1, tolerance<T>(m + n));
  }
}

TYPED_TEST(svd_routines, say_that_there_is_a_nan) {
  using T = TypeParam;
  matrix<T> A = random_matrix<T>(5, 4, this->random);
  A(3, 2) = std::numeric_limits<real<T>>::quiet_NaN();
  call<T> dd(A, 4, 4), vd(A, 4, 4);
  EXPECT_EQ(dd.gesdd('S'), -4) << "as LAPACK's routine, without a call of xerbla";
  EXPECT_GT(vd.gesvd('S', 'S'), 0);
}

}  // namespace
}  // namespace creek::lapack::testing
