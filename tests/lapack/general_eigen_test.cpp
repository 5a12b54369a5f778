// SPDX-License-Identifier: Apache-2.0
// Schur forms and eigenvectors by their Fortran names and through LAPACKE in both layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::op;

/// Eigenvalues as the routines return them.
template <scalar T>
struct spectrum {
  std::vector<T> first, second;

  explicit spectrum(index_t n)
      : first(static_cast<std::size_t>(n)), second(static_cast<std::size_t>(n)) {}
  std::complex<real<T>> operator[](index_t j) const {
    const auto at = static_cast<std::size_t>(j);
    if constexpr (is_complex<T>) {
      return first[at];
    } else {
      return {first[at], second[at]};
    }
  }
  bool operator==(const spectrum&) const = default;
};

template <class T>
class eigen_routines : public ::testing::Test {
 protected:
  using R = real<T>;
  std::mt19937 random{9};

  static index_t min_geev_length(index_t n) { return (is_complex<T> ? 2 : 4) * n; }

  static blas_int geev(char left, char right, matrix<T>& a, spectrum<T>& w, matrix<T>& vl,
                       matrix<T>& vr) {
    const index_t n = a.rows();
    std::vector<R> reals(static_cast<std::size_t>(2 * n + 1));
    std::vector<T> work(static_cast<std::size_t>(min_geev_length(n) + 1));
    const index_t length = std::max<index_t>(1, min_geev_length(n));
    if constexpr (is_complex<T>) {
      return lapack<T>("geev", left, right, n, a.data(), ld(a), w.first.data(), vl.data(), ld(vl),
                       vr.data(), ld(vr), work.data(), length, reals.data());
    } else {
      return lapack<T>("geev", left, right, n, a.data(), ld(a), w.first.data(), w.second.data(),
                       vl.data(), ld(vl), vr.data(), ld(vr), work.data(), length);
    }
  }
  static blas_int c_geev(int layout, char left, char right, matrix<T>& a, spectrum<T>& w,
                         matrix<T>& vl, matrix<T>& vr) {
    const index_t n = a.rows();
    if constexpr (is_complex<T>) {
      return lapacke<T>("geev", layout, left, right, n, a.data(), ld(a), w.first.data(), vl.data(),
                        ld(vl), vr.data(), ld(vr));
    } else {
      return lapacke<T>("geev", layout, left, right, n, a.data(), ld(a), w.first.data(),
                        w.second.data(), vl.data(), ld(vl), vr.data(), ld(vr));
    }
  }
  static blas_int hseqr(char job, char vectors, matrix<T>& h, spectrum<T>& w, matrix<T>& z) {
    const index_t n = h.rows();
    if constexpr (is_complex<T>) {
      return lapack_with_work<T>("hseqr", n, job, vectors, n, 1, n, h.data(), ld(h), w.first.data(),
                                 z.data(), ld(z));
    } else {
      return lapack_with_work<T>("hseqr", n, job, vectors, n, 1, n, h.data(), ld(h), w.first.data(),
                                 w.second.data(), z.data(), ld(z));
    }
  }
  static blas_int c_hseqr(int layout, char job, char vectors, matrix<T>& h, spectrum<T>& w,
                          matrix<T>& z) {
    const index_t n = h.rows();
    if constexpr (is_complex<T>) {
      return lapacke<T>("hseqr", layout, job, vectors, n, 1, n, h.data(), ld(h), w.first.data(),
                        z.data(), ld(z));
    } else {
      return lapacke<T>("hseqr", layout, job, vectors, n, 1, n, h.data(), ld(h), w.first.data(),
                        w.second.data(), z.data(), ld(z));
    }
  }

  /// Returns A V - V W for right vectors, A^H V - V W^H for left ones.
  static double error(const matrix<T>& a, const matrix<T>& v, const spectrum<T>& w, bool left) {
    const index_t n = a.rows();
    const matrix<T> av = product(left ? applied(op::conjugate_transpose, a) : a, v);
    double most = 0;
    for (index_t j = 0; j < n; ++j) {
      const std::complex<R> lambda = left ? std::conj(w[j]) : w[j];
      const bool pair = !is_complex<T> && w[j].imag() > 0;
      for (index_t i = 0; i < n; ++i) {
        using complex = std::complex<R>;
        complex x(v(i, j)), ax(av(i, j));
        if constexpr (!is_complex<T>) {
          if (pair) {
            x = {v(i, j), v(i, j + 1)};
            ax = {av(i, j), av(i, j + 1)};
          }
        }
        most = std::max<double>(most, std::abs(ax - lambda * x));
      }
      if (pair) ++j;
    }
    return most;
  }
};
TYPED_TEST_SUITE(eigen_routines, scalars);

TYPED_TEST(eigen_routines, geev_gives_both_kinds_of_vectors_in_both_layouts) {
  using T = TypeParam;
  for (const index_t n : {1, 3, 40, 120}) {
    const matrix<T> a = random_matrix<T>(n, n, this->random);
    matrix<T> work = a, vl(n, n), vr(n, n);
    spectrum<T> w(n), other(n);
    ASSERT_EQ(this->geev('V', 'V', work, w, vl, vr), 0);
    EXPECT_LT(this->error(a, vr, w, false), tolerance<T>(n)) << n;
    EXPECT_LT(this->error(a, vl, w, true), tolerance<T>(n)) << n;

    matrix<T> rows = turned(a), l(n, n), r(n, n);
    // Results only: what is in them does not matter.
    for (matrix<T>* each : {&l, &r}) {
      std::fill_n(each->data(), n * n, T{std::numeric_limits<real<T>>::quiet_NaN()});
    }
    ASSERT_EQ(this->c_geev(row_major, 'v', 'v', rows, other, l, r), 0);
    EXPECT_EQ(other, w);
    EXPECT_EQ(distance(turned(l), vl), 0);
    EXPECT_EQ(distance(turned(r), vr), 0);

    // Without vectors their arrays are not touched, and may be short.
    matrix<T> none(1, 1);
    rows = turned(a);
    ASSERT_EQ(this->c_geev(row_major, 'N', 'V', rows, other, none, r), 0);
    EXPECT_EQ(distance(turned(r), vr), 0);
    work = a;
    ASSERT_EQ(this->geev('N', 'N', work, other, none, none), 0);
    EXPECT_EQ(none(0, 0), T{});
    std::complex<real<T>> sum{}, trace{};
    for (index_t i = 0; i < n; ++i) {
      sum += other[i];
      trace += a(i, i);
    }
    EXPECT_LT(std::abs(sum - trace), tolerance<T>(n) * static_cast<double>(n));
  }
}

TYPED_TEST(eigen_routines, hseqr_gives_the_schur_form_in_both_layouts) {
  using T = TypeParam;
  for (const index_t n : {1, 2, 30, 110}) {
    matrix<T> h = random_matrix<T>(n, n, this->random);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 2; i < n; ++i) h(i, j) = T{};
    }
    matrix<T> t = h, z = random_matrix<T>(n, n, this->random);
    spectrum<T> w(n), other(n);
    ASSERT_EQ(this->hseqr('S', 'I', t, w, z), 0);
    EXPECT_LT(distance(product(z, t), product(h, z)), tolerance<T>(n));
    matrix<T> again = h, twice = z;
    ASSERT_EQ(this->hseqr('S', 'V', again, other, twice), 0);
    EXPECT_EQ(distance(again, t), 0);
    EXPECT_LT(distance(twice, product(z, z)), tolerance<T>(n)) << "Z was multiplied";

    matrix<T> rows = turned(h), z_rows(n, n), absent(1, 1);
    ASSERT_EQ(this->c_hseqr(row_major, 'S', 'I', rows, other, z_rows), 0);
    EXPECT_EQ(distance(turned(rows), t), 0);
    EXPECT_EQ(distance(turned(z_rows), z), 0);
    EXPECT_EQ(other, w);
    rows = turned(h);
    ASSERT_EQ(this->c_hseqr(row_major, 'E', 'N', rows, other, absent), 0);
  }
}

/// Functions that select eigenvalues on the right half of the plane.
template <scalar T>
struct on_the_right {
  static blas_int selects(const T* w) { return std::real(*w) > 0; }
};
template <scalar T>
requires(!is_complex<T>) struct on_the_right<T> {
  static blas_int selects(const T* re, const T*) { return *re > 0; }
};

TYPED_TEST(eigen_routines, gees_sorts_the_schur_form) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {1, 6, 100}) {
    const matrix<T> a = random_matrix<T>(n, n, this->random);
    matrix<T> t = a, v(n, n);
    spectrum<T> w(n), other(n);
    blas_int count = -1;
    std::vector<R> reals(static_cast<std::size_t>(n));
    std::vector<blas_int> flags(static_cast<std::size_t>(n));
    std::vector<T> work(static_cast<std::size_t>(3 * n));
    // A function is an argument like an array of results.
    blas_int info = 77;
    const auto order = static_cast<blas_int>(n), leading = ld(t),
               length = static_cast<blas_int>(3 * n);
    void* const called = symbol(std::string(1, letter<T>) + "gees_");
    if constexpr (is_complex<T>) {
      reinterpret_cast<void (*)(const char*, const char*, blas_int (*)(const T*), const blas_int*,
                                T*, const blas_int*, blas_int*, T*, T*, const blas_int*, T*,
                                const blas_int*, R*, blas_int*, blas_int*)>(called)(
          "V", "S", on_the_right<T>::selects, &order, t.data(), &leading, &count, w.first.data(),
          v.data(), &leading, work.data(), &length, reals.data(), flags.data(), &info);
    } else {
      reinterpret_cast<void (*)(const char*, const char*, blas_int (*)(const T*, const T*),
                                const blas_int*, T*, const blas_int*, blas_int*, T*, T*, T*,
                                const blas_int*, T*, const blas_int*, blas_int*, blas_int*)>(
          called)("V", "S", on_the_right<T>::selects, &order, t.data(), &leading, &count,
                  w.first.data(), w.second.data(), v.data(), &leading, work.data(), &length,
                  flags.data(), &info);
    }
    ASSERT_EQ(info, 0);
    EXPECT_LT(distance(product(v, t), product(a, v)), tolerance<T>(n));
    for (index_t i = 0; i < n; ++i) EXPECT_EQ(w[i].real() > 0, i < count) << i;

    matrix<T> rows = turned(a), u(n, n);
    blas_int again = -1;
    auto* const select = on_the_right<T>::selects;
    if constexpr (is_complex<T>) {
      info = lapacke<T>("gees", row_major, 'V', 'S', select, n, rows.data(), ld(rows), &again,
                        other.first.data(), u.data(), ld(u));
    } else {
      info = lapacke<T>("gees", row_major, 'V', 'S', select, n, rows.data(), ld(rows), &again,
                        other.first.data(), other.second.data(), u.data(), ld(u));
    }
    ASSERT_EQ(info, 0);
    EXPECT_EQ(again, count);
    EXPECT_EQ(other, w);
    EXPECT_EQ(distance(turned(rows), t), 0);
    EXPECT_EQ(distance(turned(u), v), 0);
  }
}

TYPED_TEST(eigen_routines, refuse_nan) {
  using T = TypeParam;
  using R = real<T>;
  matrix<T> a = random_matrix<T>(4, 4, this->random), vl(4, 4), vr(4, 4);
  a(1, 2) = std::numeric_limits<R>::quiet_NaN();
  spectrum<T> w(4);
  EXPECT_EQ(this->c_geev(col_major, 'N', 'V', a, w, vl, vr), -5);
  EXPECT_EQ(this->c_hseqr(row_major, 'S', 'V', a, w, vl), -7);
}

}  // namespace
}  // namespace creek::lapack::testing
