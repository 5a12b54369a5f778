// SPDX-License-Identifier: Apache-2.0
// Batches by MKL's names: products in strides and in groups, in Fortran's form and CBLAS's, LU.
#include <gtest/gtest.h>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::op;

template <class T>
class batches : public ::testing::Test {
 protected:
  static constexpr int count = 9;
  std::mt19937 random{5};

  std::vector<matrix<T>> any(index_t rows, index_t cols) {
    std::vector<matrix<T>> all;
    for (int i = 0; i < count; ++i) all.push_back(random_matrix<T>(rows, cols, random));
    return all;
  }
  /// Returns the matrices one behind the other, without gaps.
  static std::vector<T> lined_up(const std::vector<matrix<T>>& all) {
    std::vector<T> data;
    for (const matrix<T>& each : all) {
      for (index_t j = 0; j < each.cols(); ++j) {
        data.insert(data.end(), &each(0, j), &each(0, j) + each.rows());
      }
    }
    return data;
  }
  static void expect_products(const std::vector<T>& data, const std::vector<matrix<T>>& a,
                              const std::vector<matrix<T>>& b) {
    const index_t m = a[0].rows(), n = b[0].cols();
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const linalg::const_view<T> found(data.data() + i * m * n, m, n, m);
      EXPECT_LE(distance<T>(found, product(a[at], b[at]).view()), tolerance<T>(a[0].cols()));
    }
  }
};
TYPED_TEST_SUITE(batches, scalars);

TYPED_TEST(batches, products_in_strides) {
  using T = TypeParam;
  const int m = 5, n = 4, k = 3, count = this->count;
  const T one{1}, zero{};
  const auto a = this->any(m, k), b = this->any(k, n);
  const std::vector<T> from_a = this->lined_up(a), from_b = this->lined_up(b);
  std::vector<T> c(static_cast<std::size_t>(m * n * count));
  fortran<T>("gemm_batch_strided", 'N', 'N', m, n, k, &one, from_a.data(), m, m * k, from_b.data(),
             k, k * n, &zero, c.data(), m, m * n, count);
  this->expect_products(c, a, b);
  c.assign(c.size(), T{});
  // By rows, these arrays hold the transposes.
  cblas<T>("gemm_batch_strided", row_major, 111, 111, n, m, k, c_value(one), from_b.data(), k,
           k * n, from_a.data(), m, m * k, c_value(zero), c.data(), m, m * n, count);
  this->expect_products(c, a, b);
}

TYPED_TEST(batches, products_in_groups) {
  using T = TypeParam;
  const auto a = this->any(6, 2), b = this->any(2, 3);
  std::vector<matrix<T>> c(static_cast<std::size_t>(this->count), matrix<T>(6, 3));
  std::vector<const T*> from_a, from_b;
  std::vector<T*> to;
  for (std::size_t i = 0; i < c.size(); ++i) {
    from_a.push_back(a[i].data());
    from_b.push_back(b[i].data());
    to.push_back(c[i].data());
  }
  // Two groups, one of them with a factor.
  const std::vector<blas_int> m{6, 6}, n{3, 3}, k{2, 2}, lda(2, ld(a[0])), ldb(2, ld(b[0])),
      ldc(2, ld(c[0])), sizes{4, 5};
  const std::vector<T> alpha{T{1}, T{2}}, beta{T{}, T{}};
  const auto expect_them = [&] {
    for (std::size_t i = 0; i < c.size(); ++i) {
      const matrix<T> wanted = sum(i < 4 ? T{1} : T{2}, product(a[i], b[i]), T{}, c[i]);
      EXPECT_LE(distance<T>(c[i].view(), wanted.view()), tolerance<T>(2));
      for (index_t j = 0; j < 3; ++j) std::fill_n(&c[i](0, j), 6, T{7});
    }
  };
  const char plain[] = "NN";
  fortran<T>("gemm_batch", +plain, +plain, m.data(), n.data(), k.data(), alpha.data(),
             from_a.data(), lda.data(), from_b.data(), ldb.data(), beta.data(), to.data(),
             ldc.data(), 2, sizes.data());
  expect_them();
  const int c_plain[] = {111, 111};
  cblas<T>("gemm_batch", col_major, +c_plain, +c_plain, m.data(), n.data(), k.data(), alpha.data(),
           from_a.data(), lda.data(), from_b.data(), ldb.data(), beta.data(), to.data(), ldc.data(),
           2, sizes.data());
  expect_them();
}

TYPED_TEST(batches, lu_and_solutions_in_strides) {
  using T = TypeParam;
  const int n = 7, rhs = 2, count = this->count;
  std::vector<matrix<T>> a, x, b;
  for (int i = 0; i < count; ++i) {
    a.push_back(random_regular<T>(n, this->random));
    x.push_back(random_matrix<T>(n, rhs, this->random));
    b.push_back(product(a.back(), x.back()));
  }
  for (int i = 0; i < n; ++i) a[4](i, 2) = T{};  // singular
  std::vector<T> lu = this->lined_up(a), solved = this->lined_up(b);
  std::vector<blas_int> pivots(static_cast<std::size_t>((n + 1) * count)),
      info(static_cast<std::size_t>(count), -7);
  fortran<T>("getrf_batch_strided", n, n, lu.data(), n, n * n, pivots.data(), n + 1, count,
             info.data());
  for (int i = 0; i < count; ++i) EXPECT_EQ(info[static_cast<std::size_t>(i)], i == 4 ? 3 : 0);
  fortran<T>("getrs_batch_strided", 'N', n, rhs, lu.data(), n, n * n, pivots.data(), n + 1,
             solved.data(), n, n * rhs, count, info.data());
  for (int i = 0; i < count; ++i) {
    if (i == 4) continue;
    const linalg::const_view<T> found(solved.data() + i * n * rhs, n, rhs, n);
    EXPECT_LE(distance<T>(found, x[static_cast<std::size_t>(i)].view()), 10 * tolerance<T>(n));
  }
}

}  // namespace
}  // namespace creek::lapack::testing
