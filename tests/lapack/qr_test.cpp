// SPDX-License-Identifier: Apache-2.0
// QR and least squares by their Fortran names and through LAPACKE in both layouts: correct results,
// and the same as those of this machine's LAPACK, with which they may be mixed.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lapack/names.hpp"
#include "support/process_facts.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::copy;
using linalg::op;

struct shape {
  index_t m, n;
};
/// Shapes: empty, tiny, odd, wide and high, and large enough for the workers.
constexpr shape shapes[] = {{0, 0}, {0, 3},   {3, 0},   {1, 1},   {1, 5},
                            {5, 1}, {17, 17}, {40, 23}, {23, 40}, {300, 190}};

/// A matrix and its QR factors.
template <scalar T>
struct factored {
  matrix<T> a;
  matrix<T> f;
  std::vector<T> tau;

  factored(index_t m, index_t n, std::mt19937& random)
      : a(random_matrix<T>(m, n, random)), f(a), tau(static_cast<std::size_t>(std::min(m, n))) {
    const index_t least = m == 0 ? 1 : n;
    EXPECT_EQ(lapack_with_work<T>("geqrf", least, m, n, f.data(), ld(f), tau.data()), 0);
  }
  index_t k() const { return static_cast<index_t>(tau.size()); }
  matrix<T> r() const {
    matrix<T> upper(k(), a.cols());
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i <= std::min(j, k() - 1); ++i) upper(i, j) = f(i, j);
    }
    return upper;
  }
  /// Returns the first `columns` columns of Q.
  matrix<T> q(index_t columns) const {
    matrix<T> made(a.rows(), columns);
    copy<T>(f.view().columns(0, k()), made.view().columns(0, k()));
    EXPECT_EQ(lapack_with_work<T>(of_q<T>("gqr"), columns, a.rows(), columns, k(), made.data(),
                                  ld(made), tau.data()),
              0);
    return made;
  }
};

template <scalar T>
matrix<T> identity(index_t n) {
  matrix<T> one(n, n);
  for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
  return one;
}

template <scalar T>
matrix<T> conjugate_transpose(const matrix<T>& a) {
  return applied(op::conjugate_transpose, a);
}

template <class T>
class qr_routines : public ::testing::Test {
 protected:
  std::mt19937 random{11};
};
TYPED_TEST_SUITE(qr_routines, scalars);

TYPED_TEST(qr_routines, geqrf_and_orgqr_give_q_and_r) {
  using T = TypeParam;
  std::vector<shape> all(std::begin(shapes), std::end(shapes));
  all.push_back({9000, 20});  // by pieces of rows
  for (const auto& [m, n] : all) {
    const factored<T> by(m, n, this->random);
    for (index_t i = 0; i < by.k(); ++i) EXPECT_EQ(std::imag(by.f(i, i)), 0);
    const matrix<T> q = by.q(by.k());
    EXPECT_LT(distance(product(q, by.r()), by.a), tolerance<T>(m)) << m << " x " << n;
    EXPECT_LT(distance(product(conjugate_transpose(q), q), identity<T>(by.k())), tolerance<T>(m));

    matrix<T> rows = turned(by.a);
    std::vector<T> tau(by.tau.size());
    ASSERT_EQ(lapacke<T>("geqrf", row_major, m, n, rows.data(), ld(rows), tau.data()), 0);
    EXPECT_EQ(distance(turned(rows), by.f), 0);
    EXPECT_EQ(tau, by.tau);
    if (m < n) continue;
    ASSERT_EQ(lapacke<T>(of_q<T>("gqr"), row_major, m, n, n, rows.data(), ld(rows), tau.data()), 0);
    EXPECT_EQ(distance(turned(rows), q), 0);
  }
}

TYPED_TEST(qr_routines, orgqr_completes_q_to_more_columns) {
  using T = TypeParam;
  const factored<T> by(30, 12, this->random);
  const matrix<T> q = by.q(30);
  EXPECT_LT(distance(product(conjugate_transpose(q), q), identity<T>(30)), tolerance<T>(30));
  EXPECT_LT(distance<T>(q.view().columns(0, 12), by.q(12).view()), tolerance<T>(30));
  const factored<T> none(4, 0, this->random);
  EXPECT_EQ(distance<T>(none.q(3), identity<T>(4).view().columns(0, 3)), 0);
}

TYPED_TEST(qr_routines, ormqr_applies_q_from_either_side) {
  using T = TypeParam;
  for (const auto& [m, n] : shapes) {
    const factored<T> by(m, n, this->random);
    const matrix<T> whole = by.q(m);
    const std::string name = of_q<T>("mqr");
    const matrix<T> rows = turned(by.f);
    for (const char how : {'N', adjoint<T>}) {
      const matrix<T> q = how == 'N' ? whole : conjugate_transpose(whole);
      for (const char where : {'L', 'R'}) {
        const bool left = where == 'L';
        const matrix<T> c =
            left ? random_matrix<T>(m, 7, this->random) : random_matrix<T>(7, m, this->random);
        matrix<T> got = c, got_rows = turned(c);
        ASSERT_EQ(lapack_with_work<T>(name, 7, where, how, c.rows(), c.cols(), by.k(), by.f.data(),
                                      ld(by.f), by.tau.data(), got.data(), ld(got)),
                  0);
        EXPECT_LT(distance(got, left ? product(q, c) : product(c, q)), tolerance<T>(m));
        ASSERT_EQ(lapacke<T>(name, row_major, where, how, c.rows(), c.cols(), by.k(), rows.data(),
                             ld(rows), by.tau.data(), got_rows.data(), ld(got_rows)),
                  0);
        EXPECT_EQ(distance(turned(got_rows), got), 0);
      }
    }
  }
}

/// A system op(A) X = B.
template <scalar T>
struct system {
  char how;
  matrix<T> a;
  matrix<T> b;  ///< has as many rows as op(A) or X, whichever has more

  system(char given, index_t m, index_t n, std::mt19937& random)
      : how(given), a(random_matrix<T>(m, n, random)), b(std::max(m, n), 3) {
    copy<T>(random_matrix<T>(rows(), 3, random).view(), b.view().block(0, 0, rows(), 3));
  }
  index_t rows() const { return how == 'N' ? a.rows() : a.cols(); }
  index_t cols() const { return how == 'N' ? a.cols() : a.rows(); }
  matrix<T> op_a() const { return how == 'N' ? a : conjugate_transpose(a); }
  matrix<T> first(index_t count, const matrix<T>& of) const {
    return matrix<T>(of.view().block(0, 0, count, 3));
  }
  matrix<T> left_over(const matrix<T>& x) const {
    return sum<T>(T{1}, first(rows(), b), T{-1}, product(op_a(), first(cols(), x)));
  }
};

double square(const auto& a, index_t from, index_t column) {
  double total = 0;
  for (index_t i = from; i < a.rows(); ++i) total += std::norm(a(i, column));
  return total;
}

template <scalar T>
blas_int solve(const system<T>& of, matrix<T>& a, matrix<T>& b) {
  const index_t k = std::min(a.rows(), a.cols());
  return lapack_with_work<T>("gels", k + std::max<index_t>(k, b.cols()), of.how, a.rows(), a.cols(),
                             b.cols(), a.data(), ld(a), b.data(), ld(b));
}

TYPED_TEST(qr_routines, gels_gives_least_squares_and_least_norms) {
  using T = TypeParam;
  for (const auto& [m, n] : shapes) {
    for (const char how : {'N', adjoint<T>}) {
      const system<T> of(how, m, n, this->random);
      matrix<T> a = of.a, x = of.b, a_rows = turned(of.a), x_rows = turned(of.b);
      ASSERT_EQ(solve(of, a, x), 0);
      const auto error = of.left_over(x);
      const double bound = 10 * tolerance<T>(m + n);
      EXPECT_LT(distance(product(conjugate_transpose(of.op_a()), error), matrix<T>(of.cols(), 3)),
                bound * static_cast<double>(1 + std::max(m, n)));
      if (of.rows() > of.cols() && of.cols() > 0) {
        EXPECT_NEAR(square(x, of.cols(), 1), square(error, 0, 1),
                    bound * static_cast<double>(m + n));
      }
      ASSERT_EQ(lapacke<T>("gels", row_major, how, m, n, 3, a_rows.data(), ld(a_rows),
                           x_rows.data(), ld(x_rows)),
                0);
      EXPECT_EQ(distance(turned(x_rows), x), 0);
      EXPECT_EQ(distance(turned(a_rows), a), 0);
    }
  }
}

/// Elements may be as small or as large as the number type allows: they are scaled on the way.
TYPED_TEST(qr_routines, gels_solves_tiny_and_huge_systems) {
  using T = TypeParam;
  using R = real<T>;
  using limits = std::numeric_limits<R>;
  const R tiny = limits::min() * 4, huge = limits::max() / 512;
  for (const R size_a : {tiny, R{1}, huge}) {
    for (const R size_b : {tiny, huge}) {
      if (size_a != 1 && size_a != size_b) continue;  // X itself would overflow or underflow
      for (const auto& [m, n] : {shape{20, 8}, shape{8, 20}}) {
        const system<T> of('N', m, n, this->random);
        matrix<T> a = of.a, x = of.b;
        ASSERT_EQ(solve(of, a, x), 0);
        matrix<T> scaled_a = sum<T>(size_a, of.a, T{}, of.a), y = sum<T>(size_b, of.b, T{}, of.b);
        ASSERT_EQ(solve(of, scaled_a, y), 0);
        const matrix<T> unscaled = sum<T>(size_a / size_b, y, T{}, y);
        EXPECT_LT(distance(of.first(of.cols(), unscaled), of.first(of.cols(), x)),
                  100 * tolerance<T>(m))
            << size_a << ' ' << size_b;
      }
    }
  }
}

TYPED_TEST(qr_routines, gels_says_where_there_is_no_full_rank) {
  using T = TypeParam;
  for (const bool wide : {false, true}) {
    system<T> of('N', wide ? 5 : 9, wide ? 9 : 5, this->random);
    for (index_t i = 0; i < 9; ++i) (wide ? of.a(3, i) : of.a(i, 3)) = T{};
    matrix<T> a = of.a, x = of.b;
    EXPECT_EQ(solve(of, a, x), 4);
    a = matrix<T>(of.a.rows(), of.a.cols());
    EXPECT_EQ(solve(of, a, x), 0) << "zero has the solution zero";
    EXPECT_EQ(distance(x, matrix<T>(9, 3)), 0);
    EXPECT_EQ(lapack_with_work<T>("gels", 6, 'N', 0, 3, 3, a.data(), 1, of.b.data(), ld(of.b)), 0);
    EXPECT_EQ(square(of.first(3, of.b), 0, 2), 0) << "no equation is solved by zero";
  }
}

TYPED_TEST(qr_routines, tell_how_much_workspace_is_best) {
  using T = TypeParam;
  const std::string mqr = of_q<T>("mqr"), gqr = of_q<T>("gqr");
  T* const nothing = nullptr;
  blas_int* const no_pivots = nullptr;
  T best{};
  const auto expect = [&](double wanted, blas_int info) {
    EXPECT_EQ(info, 0);
    EXPECT_EQ(std::real(best), static_cast<real<T>>(wanted));
  };
  // The matrices may be absent.
  expect(400 * 32, lapack<T>("geqrf", 500, 400, nothing, 500, nothing, &best, -1));
  expect(400 * 64, lapack<T>("getri", 400, nothing, 400, no_pivots, &best, -1));
  expect(400 * 32, lapack<T>(gqr, 500, 400, 10, nothing, 500, nothing, &best, -1));
  for (const char where : {'L', 'R'}) {
    expect((where == 'L' ? 60 : 50) * 32 + 65 * 64,
           lapack<T>(mqr, where, 'N', 50, 60, 40, nothing, 60, nothing, nothing, 50, &best, -1));
  }
  expect(20 + 30 * 32, lapack<T>("gels", 'N', 20, 50, 30, nothing, 20, nothing, 50, &best, -1));
  expect(1, lapack<T>("geqrf", 0, 400, nothing, 1, nothing, &best, -1));
  for (const int layout : {row_major, col_major}) {
    const auto c_query = [&](const std::string& name, auto... given) {
      best = T{};
      return lapacke<T>(name + "_work", layout, given..., &best, -1);
    };
    expect(30 * 32, c_query("geqrf", 40, 30, nothing, 40, nothing));
    expect(30 * 64, c_query("getri", 30, nothing, 30, no_pivots));
    expect(30 * 32, c_query(gqr, 40, 30, 10, nothing, 40, nothing));
    expect(8 * 32 + 65 * 64, c_query(mqr, 'L', 'N', 40, 8, 30, nothing, 40, nothing, nothing, 40));
    expect(20 + 30 * 32, c_query("gels", 'N', 20, 50, 30, nothing, 50, nothing, 50));
  }
  // The length exceeds what T or an integer can hold.
  ASSERT_EQ(lapack<T>("geqrf", 1, 1048577, nothing, 1, nothing, &best, -1), 0);
  EXPECT_GE(static_cast<double>(std::real(best)), 1048577.0 * 32);
  ASSERT_EQ(lapack<T>("geqrf", 1, 100000001, nothing, 1, nothing, &best, -1), 0);
  EXPECT_GE(static_cast<double>(std::real(best)), 100000001.0);
  EXPECT_LT(static_cast<double>(std::real(best)),
            static_cast<double>(std::numeric_limits<blas_int>::max()));
}

#ifndef CREEK_LAPACK_ILP64  // machines have an LP64 LAPACK
/// Returns a function of this machine's LAPACK; null if there is none, and under ThreadSanitizer,
/// which does not see how the threads of its BLAS wait for each other.
void* of_the_system(const std::string& name) {
  if (support::under_tsan) return nullptr;
  static void* const library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name.c_str());
}

/// Calls the system's routine as lapack<T>() would, with enough workspace for all calls here.
template <scalar T, class... A>
blas_int system_lapack(const std::string& name, A... given) {
  std::vector<T> work(10000);
  blas_int info = 77;
  by_fortran(of_the_system(letter<T> + name + '_'), given..., work.data(), work.size(), &info);
  return info;
}

TYPED_TEST(qr_routines, mix_with_those_of_the_system) {
  using T = TypeParam;
  if (of_the_system("dgeqrf_") == nullptr) GTEST_SKIP() << "no liblapack.so.3 to be used here";
  for (const auto& [m, n] : {shape{1, 1}, shape{6, 1}, shape{1, 6}, shape{80, 70}, shape{70, 80}}) {
    const factored<T> by(m, n, this->random);
    factored<T> theirs = by;
    theirs.f = by.a;
    ASSERT_EQ(system_lapack<T>("geqrf", m, n, theirs.f.data(), ld(theirs.f), theirs.tau.data()), 0);
    const double bound = 10 * tolerance<T>(m + n);
    EXPECT_LT(distance(by.f, theirs.f), bound)
        << "reflectors and signs of the diagonal are LAPACK's";
    for (std::size_t i = 0; i < by.tau.size(); ++i)
      EXPECT_LT(std::abs(by.tau[i] - theirs.tau[i]), bound);

    // Q of one library, applied by the other.
    for (const char how : {'N', adjoint<T>}) {
      const matrix<T> c = random_matrix<T>(m, 5, this->random);
      matrix<T> x = c, y = c;
      ASSERT_EQ(lapack_with_work<T>(of_q<T>("mqr"), 5, 'L', how, m, 5, by.k(), theirs.f.data(),
                                    ld(theirs.f), theirs.tau.data(), x.data(), ld(x)),
                0);
      ASSERT_EQ(system_lapack<T>(of_q<T>("mqr"), 'L', how, m, 5, by.k(), by.f.data(), ld(by.f),
                                 by.tau.data(), y.data(), ld(y)),
                0);
      EXPECT_LT(distance(x, y), bound);
      const system<T> of(how, m, n, this->random);
      matrix<T> a = of.a, b = of.b, their_a = of.a, their_b = of.b;
      ASSERT_EQ(solve(of, a, b), 0);
      ASSERT_EQ(
          system_lapack<T>("gels", how, m, n, 3, their_a.data(), ld(a), their_b.data(), ld(b)), 0);
      EXPECT_LT(distance(a, their_a), bound);
      EXPECT_LT(distance(b, their_b), 100 * bound) << "and what is left over below";
    }
    matrix<T> q = by.q(by.k());
    matrix<T> their_q(by.f.view().columns(0, by.k()));
    ASSERT_EQ(system_lapack<T>(of_q<T>("gqr"), m, by.k(), by.k(), their_q.data(), ld(their_q),
                               by.tau.data()),
              0);
    EXPECT_LT(distance(q, their_q), bound);
  }
}

#endif

TYPED_TEST(qr_routines, of_lapacke_refuse_nan_in_their_upper_form) {
  using T = TypeParam;
  const T nan = std::numeric_limits<real<T>>::quiet_NaN();
  const std::string mqr = of_q<T>("mqr"), gqr = of_q<T>("gqr");
  for (const int layout : {row_major, col_major}) {
    matrix<T> a = random_matrix<T>(6, 6, this->random), b = a, bad = a;
    bad(4, 2) = nan;
    std::vector<T> tau(6), bad_tau(6);
    bad_tau[5] = nan;
    EXPECT_EQ(lapacke<T>("geqrf", layout, 6, 6, bad.data(), ld(bad), tau.data()), -4);
    EXPECT_EQ(lapacke<T>("gels", layout, 'N', 6, 6, 6, bad.data(), ld(bad), b.data(), ld(b)), -6);
    EXPECT_EQ(lapacke<T>("gels", layout, 'N', 6, 6, 6, a.data(), ld(a), bad.data(), ld(bad)), -8);
    EXPECT_EQ(lapacke<T>(gqr, layout, 6, 6, 6, bad.data(), ld(bad), tau.data()), -5);
    EXPECT_EQ(lapacke<T>(gqr, layout, 6, 6, 6, a.data(), ld(a), bad_tau.data()), -7);
    const auto apply = [&](matrix<T>& q, std::vector<T>& of_q, matrix<T>& c) {
      return lapacke<T>(mqr, layout, 'L', 'N', 6, 6, 6, q.data(), ld(q), of_q.data(), c.data(),
                        ld(c));
    };
    EXPECT_EQ(apply(bad, bad_tau, bad), -7);
    EXPECT_EQ(apply(a, bad_tau, bad), -10);
    EXPECT_EQ(apply(a, bad_tau, b), -9);
    EXPECT_EQ(apply(a, tau, b), 0);
  }
}

}  // namespace
}  // namespace creek::lapack::testing
