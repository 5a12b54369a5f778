// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors: the vectors are orthonormal, A V is V D, the values ascend and are
// those of matrices whose spectrum is known.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/eigen.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"
#include "support/few_cases.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class R>
struct tridiagonal_case {
  std::string name;
  std::vector<R> d, e;
};

/// Calls f outside of a runtime, and in one with one, two and three workers.
template <class F>
void with_workers(F f) {
  for (const unsigned workers : {0U, 1U, 2U, 3U}) {
    if (workers == 0) {
      f();
    } else {
      runtime rt{host(workers)};
      rt.run(f);
    }
  }
}

template <class T>
class Eigen : public ::testing::Test {
 protected:
  using R = real<T>;
  std::mt19937 random{4711};

  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  static double bound(index_t n) { return 20 * eps<T> * static_cast<double>(n + 8); }

  matrix<T> any(index_t n) {
    auto a = random_matrix<T>(n, n, random);
    for (index_t j = 0; j < n; ++j) {
      a(j, j) = std::real(a(j, j));
      for (index_t i = 0; i < j; ++i) a(j, i) = conjugated(a(i, j));
    }
    return a;
  }
  /// Returns Q diag(values) Q^H for a random unitary Q.
  matrix<T> with_spectrum(const std::vector<R>& values) {
    const auto n = static_cast<index_t>(values.size());
    auto q = any(n);
    std::vector<R> w(values.size());
    EXPECT_EQ(heevd(eigen_job::vectors, triangle::lower, q.view(), std::span<R>(w)), 0);
    auto scaled = q;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) scaled(i, j) *= values[at(j)];
    }
    auto a = product(scaled, applied(op::conjugate_transpose, q));
    for (index_t j = 0; j < n; ++j) a(j, j) = std::real(a(j, j));
    return a;
  }
  /// Returns the triangle of A; in the other one and in what counts as 0 there are NaN.
  static matrix<T> only_stored(triangle stored, const matrix<T>& a) {
    auto b = a;
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i < a.rows(); ++i) {
        if (i != j && (i > j) != (stored == triangle::lower)) {
          b(i, j) = std::numeric_limits<R>::quiet_NaN();
        }
      }
      if constexpr (is_complex<T>) b(j, j).imag(std::numeric_limits<R>::quiet_NaN());
    }
    return b;
  }
  static matrix<T> identity(index_t n) {
    matrix<T> one(n, n);
    for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
    return one;
  }

  /// Checks w and the columns of V for a matrix with norms around `size`.
  static void check_vectors(const matrix<T>& a, const std::vector<R>& w, const matrix<T>& v,
                            double size, const std::string& name) {
    const index_t n = a.rows();
    auto turned = applied(op::conjugate_transpose, v);
    EXPECT_LE(distance(product(turned, v), identity(v.cols())), bound(n)) << name;
    auto left = product(a, v);
    auto right = v;
    for (index_t j = 0; j < v.cols(); ++j) {
      for (index_t i = 0; i < n; ++i) right(i, j) *= w[at(j)];
    }
    EXPECT_LE(distance(left, right), bound(n) * size) << name << ' ' << n;
    EXPECT_TRUE(std::is_sorted(w.begin(), w.begin() + v.cols())) << name;
  }

  /// Solves A by all routines and returns its eigenvalues.
  std::vector<R> check(const matrix<T>& a, double size, const std::string& name) {
    const index_t n = a.rows();
    std::vector<R> first;
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      auto v = only_stored(stored, a);
      std::vector<R> w(at(n)), values(at(n));
      EXPECT_EQ(heevd(eigen_job::vectors, stored, v.view(), std::span<R>(w)), 0) << name;
      check_vectors(a, w, v, size, name);
      auto destroyed = only_stored(stored, a);
      EXPECT_EQ(heevd(eigen_job::values, stored, destroyed.view(), std::span<R>(values)), 0);
      for (index_t i = 0; i < n; ++i) EXPECT_NEAR(w[at(i)], values[at(i)], bound(n) * size) << name;
      if (first.empty()) first = w;
      for (index_t i = 0; i < n; ++i) EXPECT_NEAR(w[at(i)], first[at(i)], bound(n) * size) << name;
    }
    return first;
  }
};
TYPED_TEST_SUITE(Eigen, scalars);

TYPED_TEST(Eigen, RandomMatrices) {
  const auto all = [&] {
    for (const index_t n : {0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 34, 64, 65, 97, 130, 200}) {
      this->check(this->any(n), static_cast<double>(n + 1), "random");
    }
  };
  all();
  runtime rt{host(3)};
  rt.run(all);
}

TYPED_TEST(Eigen, KnownSpectra) {
  using R = typename TestFixture::R;
  for (const index_t n : {2, 7, 32, 40, 100}) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      std::vector<R> values(this->at(n));
      for (index_t i = 0; i < n; ++i) {
        const R part = static_cast<R>(i + 1) / static_cast<R>(n);
        values[this->at(i)] = kind == 0   ? part
                              : kind == 1 ? R{1}
                              : kind == 2 ? (i < n / 2 ? R{-1} : R{1})
                              : kind == 3
                                  ? std::pow(R{10}, -static_cast<R>(i % 12))
                                  : (i == 0 ? R{1} : 1000 * std::numeric_limits<R>::epsilon());
      }
      const auto w = this->check(this->with_spectrum(values), 1, "kind " + std::to_string(kind));
      std::sort(values.begin(), values.end());
      for (index_t i = 0; i < n; ++i) {
        EXPECT_NEAR(w[this->at(i)], values[this->at(i)], 3 * this->bound(n));
      }
    }
  }
}

TYPED_TEST(Eigen, ZeroDiagonalAndPermutedMatrices) {
  using T = TypeParam;
  for (const index_t n : {2, 20, 50, 100}) {
    const auto w = this->check(matrix<T>(n, n), 1, "zero");
    for (const auto x : w) EXPECT_EQ(x, 0);
    matrix<T> diagonal(n, n);
    for (index_t i = 0; i < n; ++i) diagonal(i, i) = static_cast<real<T>>((i * 7) % 13);
    this->check(diagonal, 13, "diagonal");
    matrix<T> antidiagonal(n, n);
    for (index_t i = 0; i < n; ++i) antidiagonal(i, n - 1 - i) = T{1};
    this->check(antidiagonal, 1, "antidiagonal");
    matrix<T> ones(n, n);
    for (index_t j = 0; j < n; ++j) std::fill_n(&ones(0, j), n, T{1});
    this->check(ones, static_cast<double>(n), "ones");
  }
}

TYPED_TEST(Eigen, TinyAndHugeMatrices) {
  using T = TypeParam;
  using limits = std::numeric_limits<real<T>>;
  for (const index_t n : {4, 40, 70}) {
    const auto a = this->any(n);
    const auto plain = this->check(a, static_cast<double>(n), "plain");
    for (const real<T> size : {limits::min() * 64, limits::max() / 1024}) {
      auto scaled = a;
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) scaled(i, j) *= size;
      }
      std::vector<real<T>> w(this->at(n));
      ASSERT_EQ(heevd(eigen_job::vectors, triangle::upper, scaled.view(), std::span<real<T>>(w)),
                0);
      for (index_t i = 0; i < n; ++i) {
        EXPECT_NEAR(w[this->at(i)] / size, plain[this->at(i)],
                    this->bound(n) * static_cast<double>(n));
      }
      this->check_vectors(a, plain, scaled, static_cast<double>(n), "scaled");
    }
  }
}

TYPED_TEST(Eigen, NanAndInfinityEndWithInfo) {
  using T = TypeParam;
  using limits = std::numeric_limits<real<T>>;
  for (const index_t n : {2, 10, 50, 120}) {
    for (const real<T> odd : {limits::quiet_NaN(), limits::infinity()}) {
      for (const index_t row : {index_t{0}, n - 1}) {
        for (const auto job : {eigen_job::values, eigen_job::vectors}) {
          auto a = this->any(n);
          a(row, n / 2) = a(n / 2, row) = odd;
          std::vector<real<T>> w(this->at(n));
          EXPECT_GT(heevd(job, triangle::lower, a.view(), std::span<real<T>>(w)), 0);
        }
      }
    }
  }
}

TYPED_TEST(Eigen, RangesGiveTheSameAsAll) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {1, 2, 20, 33, 150}) {
    const auto a = this->any(n);
    const auto all = this->check(a, static_cast<double>(n), "all");
    const auto solve = [&](const eigen_range& range, index_t first, index_t count) {
      for (const triangle stored : {triangle::lower, triangle::upper}) {
        auto b = this->only_stored(stored, a), c = b;
        std::vector<R> w(this->at(n)), values(this->at(n));
        matrix<T> z(n, range.by == eigen_range::kind::indices ? count : n);
        const auto got =
            heevr(eigen_job::vectors, range, stored, b.view(), std::span<R>(w), z.view());
        ASSERT_EQ(got.info, 0);
        ASSERT_EQ(got.count, count);
        const auto again = heevr(eigen_job::values, range, stored, c.view(), std::span<R>(values),
                                 matrix_view<T>());
        ASSERT_EQ(again.count, count);
        for (index_t i = 0; i < count; ++i) {
          EXPECT_NEAR(w[this->at(i)], all[this->at(first + i)], 4 * this->bound(n));
          EXPECT_NEAR(values[this->at(i)], all[this->at(first + i)], 4 * this->bound(n));
        }
        const matrix<T> found(const_view<T>(z.view().columns(0, count)));
        this->check_vectors(a, w, found, static_cast<double>(n), "range");
      }
    };
    solve({}, 0, n);
    using kind = eigen_range::kind;
    for (const index_t first : {index_t{0}, n / 3, n - 1}) {
      for (const index_t count : {index_t{1}, (n - first + 1) / 2, n - first}) {
        solve({.by = kind::indices, .first = first, .last = first + count}, first, count);
        const double low =
            first == 0 ? -1e3 : (all[this->at(first - 1)] + all[this->at(first)]) / 2;
        const index_t last = first + count;
        const double high = last == n ? 1e3 : (all[this->at(last - 1)] + all[this->at(last)]) / 2;
        solve({.by = kind::values, .low = low, .high = high}, first, count);
      }
    }
    solve({.by = kind::values, .low = 1e3, .high = 2e3}, n, 0);
  }
}

TYPED_TEST(Eigen, ReductionIsASimilarity) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {1, 2, 3, 31, 33, 64, 65, 100}) {
    const auto a = this->any(n);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      auto f = this->only_stored(stored, a);
      std::vector<R> d(this->at(n)), e(this->at(n));
      std::vector<T> tau(this->at(n));
      hetrd(stored, f.view(), std::span<R>(d), std::span<R>(e), std::span<T>(tau));
      matrix<T> t(n, n);
      for (index_t i = 0; i < n; ++i) {
        t(i, i) = d[this->at(i)];
        if (i + 1 < n) t(i, i + 1) = t(i + 1, i) = e[this->at(i)];
      }
      auto q = f;
      orgtr(stored, q.view(), std::span<const T>(tau));
      const auto turned = applied(op::conjugate_transpose, q);
      EXPECT_LE(distance(product(turned, q), this->identity(n)), this->bound(n));
      EXPECT_LE(distance(product(product(q, t), turned), a),
                this->bound(n) * static_cast<double>(n))
          << n;
      const auto c = random_matrix<T>(n, 9, this->random), r = random_matrix<T>(9, n, this->random);
      for (const op how : {op::none, op::conjugate_transpose}) {
        auto left = c, right = r;
        ormtr(side::left, stored, how, f.view(), std::span<const T>(tau), left.view());
        ormtr(side::right, stored, how, f.view(), std::span<const T>(tau), right.view());
        const auto& by = how == op::none ? q : turned;
        EXPECT_LE(distance(left, product(by, c)), this->bound(n));
        EXPECT_LE(distance(right, product(r, by)), this->bound(n));
      }
    }
  }
}

TYPED_TEST(Eigen, WorkersDoNotChangeTheResult) {
  using T = TypeParam;
  using R = real<T>;
  const index_t n = support::few_cases ? 200 : 450;
  const auto a = this->any(n);
  matrix<T> first;
  std::vector<R> values;
  with_workers([&] {
    auto v = a;
    std::vector<R> w(this->at(n));
    ASSERT_EQ(heevd(eigen_job::vectors, triangle::lower, v.view(), std::span<R>(w)), 0);
    if (values.empty()) {
      values = w;
      first = v;
      this->check_vectors(a, w, v, static_cast<double>(n), "wide");
    }
    EXPECT_EQ(w, values);
    EXPECT_EQ(distance(first, v), 0);
  });
}

TYPED_TEST(Eigen, ShapesAreChecked) {
  using T = TypeParam;
  matrix<T> a(3, 4), b(3, 3);
  std::vector<real<T>> w(3), few(2);
  EXPECT_THROW((void)heevd(eigen_job::values, triangle::lower, a.view(), std::span(w)),
               usage_error);
  EXPECT_THROW((void)heevd(eigen_job::values, triangle::lower, b.view(), std::span(few)),
               usage_error);
  EXPECT_THROW((void)heevr(eigen_job::vectors, {}, triangle::lower, b.view(), std::span(w),
                           a.view().block(0, 0, 2, 4)),
               usage_error);
}

template <class R>
class Tridiagonal : public ::testing::Test {
 protected:
  std::mt19937 random{17};

  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

  std::vector<tridiagonal_case<R>> cases() {
    std::vector<tridiagonal_case<R>> all;
    const auto add = [&](std::string name, index_t n, auto d, auto e) {
      tridiagonal_case<R> made{std::move(name), {}, {}};
      for (index_t i = 0; i < n; ++i) made.d.push_back(static_cast<R>(d(i)));
      for (index_t i = 0; i + 1 < n; ++i) made.e.push_back(static_cast<R>(e(i)));
      all.push_back(made);
    };
    const auto constant = [](double x) { return [x](index_t) { return x; }; };
    std::uniform_real_distribution<double> one(-1, 1);
    for (const index_t n : {1, 2, 3, 32, 33, 65, 100, 161, 300}) {
      add("1-2-1", n, constant(2), constant(-1));
      add(
          "random", n, [&](index_t) { return one(random); }, [&](index_t) { return one(random); });
      add(
          "Wilkinson", n,
          [n](index_t i) { return std::abs(static_cast<double>(2 * i - n + 1)) / 2; }, constant(1));
      add(
          "graded", n, [](index_t i) { return std::pow(0.7, i); },
          [](index_t i) { return std::pow(0.7, i) / 3; });
      add(
          "graded up", n, [n](index_t i) { return std::pow(0.7, n - i); },
          [n](index_t i) { return std::pow(0.7, n - i) / 3; });
      add("zero diagonal", n, constant(0), constant(1));
      add(
          "split", n, [](index_t i) { return i % 3; },
          [](index_t i) { return i % 5 == 0   ? 0
                                 : i % 7 == 0 ? 1e-30
                                              : 0.5; });
      add("Clement", n, constant(0),
          [n](index_t i) { return std::sqrt(static_cast<double>((i + 1) * (n - 1 - i))); });
      add(
          "nearly diagonal", n, [](index_t i) { return i; }, constant(1e-9));
      add("all zero", n, constant(0), constant(0));
      add(
          "huge", n, [&](index_t) { return one(random) * (std::numeric_limits<R>::max() / 8); },
          [&](index_t) { return one(random) * (std::numeric_limits<R>::max() / 8); });
      add(
          "tiny", n, [&](index_t) { return one(random) * (std::numeric_limits<R>::min() * 99); },
          [&](index_t) { return one(random) * (std::numeric_limits<R>::min() * 99); });
    }
    // Copies of W21+, coupled weakly: clusters of eigenvalues that agree in all digits.
    for (const double glue : {1e-4, 1e-8, 1e-14}) {
      add(
          "glued Wilkinson", 21 * 12, [](index_t i) { return std::abs(i % 21 - 10); },
          [glue](index_t i) { return i % 21 == 20 ? glue : 1.0; });
    }
    return all;
  }

  static R norm_of(const tridiagonal_case<R>& t) {
    R most = 0;
    for (const R x : t.d) most = std::max(most, std::abs(x));
    for (const R x : t.e) most = std::max(most, std::abs(x));
    return most;
  }
};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Tridiagonal, reals);

TYPED_TEST(Tridiagonal, HardCases) {
  using R = TypeParam;
  for (const auto& t : this->cases()) {
    const auto n = static_cast<index_t>(t.d.size());
    const double size = this->norm_of(t), bound = 10 * eps<R> * static_cast<double>(n + 4);
    auto d = t.d, e = t.e, values = t.d, again = t.e;
    matrix<R> z(n, n);
    ASSERT_EQ(stedc(std::span<R>(d), std::span<R>(e), z.view(), true), 0) << t.name << n;
    ASSERT_EQ(sterf(std::span<R>(values), std::span<R>(again)), 0) << t.name << n;
    EXPECT_TRUE(std::is_sorted(d.begin(), d.end())) << t.name;
    double apart = 0, residual = 0, skew = 0;
    for (index_t i = 0; i < n; ++i) {
      apart = std::max<double>(apart, std::abs(d[this->at(i)] - values[this->at(i)]));
    }
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) {
        R sum = (t.d[this->at(i)] - d[this->at(j)]) * z(i, j);
        if (i > 0) sum += t.e[this->at(i - 1)] * z(i - 1, j);
        if (i + 1 < n) sum += t.e[this->at(i)] * z(i + 1, j);
        residual = std::max<double>(residual, std::abs(sum));
      }
      for (index_t k = 0; k <= j; ++k) {
        const double dot = std::inner_product(&z(0, j), &z(0, j) + n, &z(0, k), R{0});
        skew = std::max(skew, std::abs(dot - (j == k)));
      }
    }
    EXPECT_LE(apart, bound * size) << t.name << ' ' << n;
    EXPECT_LE(residual, bound * size) << t.name << ' ' << n;
    EXPECT_LE(skew, bound) << t.name << ' ' << n;
    if (t.name != "1-2-1") continue;
    for (index_t i = 0; i < n; ++i) {
      const double angle = 3.14159265358979323846 * static_cast<double>(i + 1) / (2.0 * (n + 1));
      EXPECT_NEAR(d[this->at(i)], 4 * std::sin(angle) * std::sin(angle), bound * 2);
    }
  }
}

TYPED_TEST(Tridiagonal, VectorsAreMultiplied) {
  using R = TypeParam;
  std::vector<R> d(50, R{2}), e(49, R{1});
  auto again = d, off = e;
  matrix<R> z(50, 50);
  const auto before = random_matrix<R>(20, 50, this->random);
  auto changed = before;
  ASSERT_EQ(stedc(std::span<R>(d), std::span<R>(e), z.view(), true), 0);
  ASSERT_EQ(stedc(std::span<R>(again), std::span<R>(off), changed.view(), false), 0);
  EXPECT_LE(distance(changed, product(before, z)), 100 * eps<R>);
}

}  // namespace
}  // namespace creek::linalg
