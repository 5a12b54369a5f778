// SPDX-License-Identifier: Apache-2.0
// Batches: each matrix gets what the routine for one matrix gives it, on any number of workers.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/batch.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Batch : public ::testing::Test {
 protected:
  std::mt19937 random{99};

  static void everywhere(const std::function<void()>& body) {
    body();
    runtime rt{host(3)};
    rt.run(body);
  }
};
TYPED_TEST_SUITE(Batch, scalars);

/// Matrices of one shape, `stride` elements apart, and their addresses.
template <class T>
struct many {
  index_t rows, cols, count, leading = rows + 1, stride = leading * cols + 5;
  std::vector<T> data = std::vector<T>(static_cast<std::size_t>(stride * count));
  std::vector<T*> addresses;

  many(index_t m, index_t n, index_t matrices, std::mt19937& random, T diagonal = {})
      : rows(m), cols(n), count(matrices) {
    for (T& each : data) each = random_scalar<T>(random);
    for (index_t i = 0; i < count; ++i) {
      addresses.push_back(data.data() + i * stride);
      for (index_t j = 0; j < std::min(m, n); ++j) addresses.back()[j * leading + j] += diagonal;
    }
  }
  many(const many& other)
      : rows(other.rows), cols(other.cols), count(other.count), data(other.data) {
    for (index_t i = 0; i < count; ++i) addresses.push_back(data.data() + i * stride);
  }
  many& operator=(const many&) = delete;
  matrix_batch<T> by_stride() { return {data.data(), stride, count, rows, cols, leading}; }
  matrix_batch<T> by_address() { return {addresses.data(), count, rows, cols, leading}; }
  matrix_batch<const T> to_read() const {
    return {data.data(), stride, count, rows, cols, leading};
  }
  matrix_view<T> operator[](index_t i) { return by_stride()[i]; }
};

TYPED_TEST(Batch, Products) {
  using T = TypeParam;
  for (const index_t n : {1, 4, 16, 33}) {
    this->everywhere([&] {
      const many<T> a(n, n + 1, 40, this->random), b(n + 1, n, 40, this->random);
      many<T> wanted(n, n, 40, this->random);
      many<T> c = wanted, d = wanted;
      gemm_batch<T>(op::none, op::none, T{2}, a.to_read(), b.to_read(), T{1}, c.by_stride());
      gemm_batch<T>(op::none, op::none, T{2}, a.to_read(), b.to_read(), T{1}, d.by_address());
      for (index_t i = 0; i < 40; ++i) {
        gemm<T>(op::none, op::none, T{2}, a.to_read()[i], b.to_read()[i], T{1}, wanted[i]);
      }
      EXPECT_EQ(c.data, wanted.data);
      EXPECT_EQ(d.data, wanted.data);
    });
  }
}

TYPED_TEST(Batch, OneMatrixTimesMany) {
  using T = TypeParam;
  const many<T> a(5, 5, 1, this->random), b(5, 3, 7, this->random);
  many<T> c(5, 3, 7, this->random), wanted = c;
  const matrix_batch<const T> repeated(a.data.data(), 0, 7, 5, 5, a.leading);
  gemm_batch<T>(op::transpose, op::none, T{1}, repeated, b.to_read(), T{0}, c.by_stride());
  for (index_t i = 0; i < 7; ++i) {
    gemm<T>(op::transpose, op::none, T{1}, a.to_read()[0], b.to_read()[i], T{0}, wanted[i]);
  }
  EXPECT_EQ(c.data, wanted.data);
}

TYPED_TEST(Batch, Solutions) {
  using T = TypeParam;
  for (const index_t n : {1, 8, 32, 40}) {
    this->everywhere([&] {
      const many<T> a(n, n, 30, this->random, static_cast<T>(2 * n));
      const many<T> b(n, 2, 30, this->random);
      many<T> factors = a, x = b, together = a, y = b;
      std::vector<index_t> pivots(static_cast<std::size_t>(30 * n)), infos(30, -1);
      factors[7](0, 0) = together[7](0, 0) = T{};
      for (index_t i = 0; i < n; ++i) factors[7](i, 0) = together[7](i, 0) = T{};
      getrf_batch<T>(factors.by_address(), pivots, infos);
      getrs_batch<T>(op::none, factors.to_read(), pivots, x.by_stride());
      std::vector<index_t> pivots_too = pivots, infos_too(30, -1);
      gesv_batch<T>(together.by_stride(), pivots_too, y.by_address(), infos_too);
      EXPECT_EQ(factors.data, together.data);
      EXPECT_EQ(pivots, pivots_too);
      EXPECT_EQ(infos, infos_too);
      for (index_t i = 0; i < 30; ++i) {
        EXPECT_EQ(infos[static_cast<std::size_t>(i)], i == 7 ? 1 : 0);
        if (i == 7) {  // left as it was
          EXPECT_EQ(y[i](0, 0), b.to_read()[i](0, 0));
          continue;
        }
        EXPECT_EQ(x[i](n - 1, 1), y[i](n - 1, 1));
        matrix<T> rest(b.to_read()[i]);
        gemm<T>(op::none, op::none, T{-1}, a.to_read()[i], y[i], T{1}, rest.view());
        EXPECT_LE(distance<T>(rest.view(), matrix<T>(n, 2).view()),
                  100 * eps<T> * static_cast<double>(n));
      }
    });
  }
}

TYPED_TEST(Batch, Cholesky) {
  using T = TypeParam;
  for (const index_t n : {1, 8, 32, 40}) {
    this->everywhere([&] {
      for (const triangle stored : {triangle::lower, triangle::upper}) {
        many<T> a(n, n, 30, this->random, static_cast<T>(3 * n));
        for (index_t i = 0; i < 30; ++i) {
          for (index_t j = 0; j < n; ++j) a[i](j, j) = std::real(a[i](j, j));
        }
        a[3](n - 1, n - 1) = T{-1000};
        many<T> wanted = a;
        std::vector<index_t> infos(30, -1);
        potrf_batch<T>(stored, a.by_address(), infos);
        for (index_t i = 0; i < 30; ++i) {
          const index_t info = potrf<T>(stored, wanted[i]);
          EXPECT_EQ(infos[static_cast<std::size_t>(i)], info);
          EXPECT_EQ(info, i == 3 ? n : 0);
          if (n <= 32) {
            EXPECT_EQ(distance<T>(a[i], wanted[i]), 0);
          }
        }
      }
    });
  }
}

TYPED_TEST(Batch, RefuseShapesThatDoNotFit) {
  using T = TypeParam;
  many<T> a(3, 3, 4, this->random), few(3, 3, 3, this->random), wide(3, 4, 4, this->random);
  std::vector<index_t> pivots(12), infos(4), too_few(3);
  EXPECT_THROW(getrf_batch<T>(a.by_stride(), pivots, too_few), usage_error);
  EXPECT_THROW(getrf_batch<T>(a.by_stride(), too_few, infos), usage_error);
  EXPECT_THROW(potrf_batch<T>(triangle::lower, wide.by_stride(), infos), usage_error);
  EXPECT_THROW(getrs_batch<T>(op::none, wide.to_read(), pivots, a.by_stride()), usage_error);
  EXPECT_THROW(gesv_batch<T>(a.by_stride(), pivots, few.by_stride(), infos), usage_error);
  EXPECT_THROW(
      gemm_batch<T>(op::none, op::none, T{1}, a.to_read(), wide.to_read(), T{0}, a.by_stride()),
      usage_error);
  EXPECT_THROW(
      gemm_batch<T>(op::none, op::none, T{1}, few.to_read(), a.to_read(), T{0}, a.by_stride()),
      usage_error);
}

}  // namespace
}  // namespace creek::linalg
