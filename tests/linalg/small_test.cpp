// SPDX-License-Identifier: Apache-2.0
// Routines on small matrices, which are computed in place: every order up to beyond the limit,
// inside a larger matrix whose other elements must stay.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

constexpr index_t max_order = 35;  // the limit is 32

template <class T>
class Small : public ::testing::Test {
 protected:
  std::mt19937 random{4711};
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }
  /// Returns the largest error of sums of n products.
  static double tolerance(index_t n) { return 20 * eps<T> * static_cast<double>(n + 1); }

  /// A matrix in the midst of one whose other elements are NaN.
  class framed {
   public:
    explicit framed(const matrix<T>& inside) : all_(inside.rows() + 3, inside.cols() + 2) {
      for (index_t j = 0; j < all_.cols(); ++j) std::fill_n(&all_(0, j), all_.rows(), nan);
      for (index_t j = 0; j < inside.cols(); ++j) {
        std::copy_n(&inside(0, j), inside.rows(), &all_(1, j + 1));
      }
    }
    matrix_view<T> view() { return all_.view().block(1, 1, all_.rows() - 3, all_.cols() - 2); }
    matrix<T> inside() {
      matrix<T> copy(view().rows(), view().cols());
      for (index_t j = 0; j < copy.cols(); ++j) {
        std::copy_n(view().column(j), copy.rows(), &copy(0, j));
      }
      return copy;
    }
    bool frame_is_intact() const {
      for (index_t j = 0; j < all_.cols(); ++j) {
        for (index_t i = 0; i < all_.rows(); ++i) {
          const bool inside = i >= 1 && i < all_.rows() - 2 && j >= 1 && j + 1 < all_.cols();
          if (!inside && !std::isnan(all_(i, j))) return false;
        }
      }
      return true;
    }

   private:
    matrix<T> all_;
  };

  /// Returns the triangle of a factored matrix, with ones on the diagonal if `unit`.
  static matrix<T> triangle_of(const matrix<T>& a, triangle stored, bool unit) {
    const index_t n = std::min(a.rows(), a.cols());
    const bool lower = stored == triangle::lower;
    matrix<T> t(lower ? a.rows() : n, lower ? n : a.cols());
    for (index_t j = 0; j < t.cols(); ++j) {
      for (index_t i = 0; i < t.rows(); ++i) {
        if (lower ? i >= j : i <= j) t(i, j) = unit && i == j ? T{1} : a(i, j);
      }
    }
    return t;
  }
};

using reals_tested = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Small, reals_tested);

TYPED_TEST(Small, Products) {
  using T = TypeParam;
  for (index_t n = 1; n <= max_order; ++n) {
    const index_t m = max_order + 1 - n, k = 1 + n * 7 % max_order;
    for (const op how_a : {op::none, op::transpose}) {
      for (const op how_b : {op::none, op::conjugate_transpose}) {
        for (const T beta : {T{0}, T{1}, T{-2}}) {
          const matrix<T> a = this->any(m, k), b = this->any(k, n), c = this->any(m, n);
          typename TestFixture::framed A(applied(how_a, a)), B(applied(how_b, b)), C(c);
          if (beta == 0) C.view()(m - 1, n - 1) = this->nan;
          gemm<T>(how_a, how_b, T{3}, A.view(), B.view(), beta, C.view());
          const matrix<T> wanted = sum(T{3}, product(a, b), beta, c);
          EXPECT_LE(distance<T>(C.inside().view(), wanted.view()), 3 * this->tolerance(k))
              << m << ' ' << n << ' ' << k;
          EXPECT_TRUE(C.frame_is_intact());
        }
      }
    }
  }
}

/// Without packing up to an order of some hundred; in pieces on the workers there.
TYPED_TEST(Small, ProductsOfMiddlingOrdersAreTheSameInARuntime) {
  using T = TypeParam;
  runtime rt{host(3)};
  for (const index_t n : {64, 65, 100, 191, 192, 193}) {
    const matrix<T> a = this->any(n, n - 1), b = this->any(n - 1, n + 2), c = this->any(n, n + 2);
    matrix<T> here = c, there = c;
    gemm<T>(op::none, op::none, T{-1}, a.view(), b.view(), T{2}, here.view());
    rt.run([&] { gemm<T>(op::none, op::none, T{-1}, a.view(), b.view(), T{2}, there.view()); });
    EXPECT_EQ(distance<T>(here.view(), there.view()), 0);
    EXPECT_LE(distance<T>(here.view(), sum(T{-1}, product(a, b), T{2}, c).view()),
              this->tolerance(n));
  }
}

TYPED_TEST(Small, FactorsOfLu) {
  using T = TypeParam;
  for (index_t n = 1; n <= max_order; ++n) {
    for (const index_t m : {n, std::max<index_t>(1, n / 2), std::min(max_order, 2 * n)}) {
      const matrix<T> a = this->any(m, n);
      typename TestFixture::framed A(a);
      std::vector<index_t> pivots(static_cast<std::size_t>(std::min(m, n)));
      ASSERT_EQ(getrf<T>(A.view(), pivots), 0);
      const matrix<T> lu = A.inside();
      matrix<T> exchanged = a;
      laswp<T>(exchanged.view(), std::span<const index_t>(pivots));
      const matrix<T> l = TestFixture::triangle_of(lu, triangle::lower, true);
      const matrix<T> u = TestFixture::triangle_of(lu, triangle::upper, false);
      EXPECT_LE(distance<T>(product(l, u).view(), exchanged.view()), 4 * this->tolerance(n));
      for (index_t j = 0; j < l.cols(); ++j) {
        for (index_t i = 0; i < l.rows(); ++i) EXPECT_LE(std::abs(l(i, j)), 1);
      }
      EXPECT_TRUE(A.frame_is_intact());
    }
  }
}

TYPED_TEST(Small, LuTakesTheFirstOfTheLargestPivots) {
  using T = TypeParam;
  for (index_t n = 2; n <= max_order; ++n) {
    for (index_t at = 0; at < n; ++at) {
      matrix<T> a(n, 1);
      for (index_t i = 0; i < n; ++i) a(i, 0) = i < at ? T{1} : T(i % 2 == 0 ? 5 : -5);
      index_t pivot = -1;
      ASSERT_EQ(getrf<T>(a.view(), std::span(&pivot, 1)), 0);
      EXPECT_EQ(pivot, at);
    }
  }
}

TYPED_TEST(Small, LuOfSingularMatrices) {
  using T = TypeParam;
  for (index_t n = 2; n <= max_order; ++n) {
    const index_t zero = (n - 1) / 2;
    matrix<T> a = this->any(n, n);
    for (index_t i = 0; i < n; ++i) a(i, zero) = 0;
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    EXPECT_EQ(getrf<T>(a.view(), pivots), zero + 1);
    EXPECT_NE(a(n - 1, n - 1), 0);  // the rest is factored
    a(n - 1, 0) = this->nan;
    (void)getrf<T>(a.view(), pivots);  // ends
    EXPECT_EQ(pivots[0], n - 1);
  }
}

/// The reciprocal of a subnormal pivot is infinite.
TYPED_TEST(Small, LuWithTinyPivots) {
  using T = TypeParam;
  const T tiny = std::numeric_limits<T>::denorm_min();
  for (const index_t n : {2, 9, 20}) {
    matrix<T> a(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) a(i, j) = i == j ? 8 * tiny : i > j ? 4 * tiny : T{0};
    }
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(getrf<T>(a.view(), pivots), 0);
    for (index_t i = 1; i < n; ++i) EXPECT_EQ(a(i, 0), T{0.5});
  }
}

TYPED_TEST(Small, Solutions) {
  using T = TypeParam;
  for (index_t n = 1; n <= max_order; ++n) {
    for (const index_t columns : {index_t{1}, index_t{7}, index_t{40}}) {
      matrix<T> a = this->any(n, n);
      for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<T>(n);
      const matrix<T> x = this->any(n, columns);
      for (const op how : {op::none, op::transpose}) {
        typename TestFixture::framed A(a), B(product(applied(how, a), x));
        std::vector<index_t> pivots(static_cast<std::size_t>(n));
        ASSERT_EQ(getrf<T>(A.view(), pivots), 0);
        getrs<T>(how, A.view(), pivots, B.view());
        EXPECT_LE(distance<T>(B.inside().view(), x.view()), this->tolerance(n));
        EXPECT_TRUE(B.frame_is_intact());
      }
    }
  }
}

/// A matrix that ends where the memory does.
template <class T>
class at_the_end {
 public:
  at_the_end(const matrix<T>& inside)
      : rows_(inside.rows()), cols_(inside.cols()), page_(sysconf(_SC_PAGESIZE)) {
    bytes_ = (static_cast<index_t>(sizeof(T)) * rows_ * cols_ / page_ + 2) * page_;
    memory_ =
        static_cast<std::byte*>(mmap(nullptr, static_cast<std::size_t>(bytes_),
                                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory_ + bytes_ - page_, static_cast<std::size_t>(page_), PROT_NONE), 0);
    for (index_t j = 0; j < cols_; ++j) std::copy_n(&inside(0, j), rows_, view().column(j));
  }
  ~at_the_end() { munmap(memory_, static_cast<std::size_t>(bytes_)); }
  at_the_end(const at_the_end&) = delete;
  at_the_end& operator=(const at_the_end&) = delete;
  matrix_view<T> view() const {
    return {reinterpret_cast<T*>(memory_ + bytes_ - page_) - rows_ * cols_, rows_, cols_, rows_};
  }

 private:
  index_t rows_, cols_, page_, bytes_ = 0;
  std::byte* memory_ = nullptr;
};

TYPED_TEST(Small, NothingIsReadBehindTheOperands) {
  using T = TypeParam;
  for (index_t n = 1; n <= max_order; ++n) {
    matrix<T> a = this->any(n, n);
    for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<T>(2 * n);
    const at_the_end<T> A(a), B(this->any(n, 3)), C(this->any(n, 3)), lower(a), upper(a);
    gemm<T>(op::none, op::none, T{1}, A.view(), B.view(), T{1}, C.view());
    gemm<T>(op::transpose, op::none, T{1}, A.view(), B.view(), T{0}, C.view());
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    EXPECT_EQ(getrf<T>(A.view(), pivots), 0);
    getrs<T>(op::none, A.view(), pivots, B.view());
    EXPECT_EQ(potrf<T>(triangle::lower, lower.view()), 0);
    EXPECT_EQ(potrf<T>(triangle::upper, upper.view()), 0);
  }
}

TYPED_TEST(Small, FactorsOfCholesky) {
  using T = TypeParam;
  for (index_t n = 1; n <= max_order; ++n) {
    const matrix<T> root = this->any(n, n);
    matrix<T> a = product(root, applied(op::transpose, root));
    for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<T>(n);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      const bool lower = stored == triangle::lower;
      matrix<T> half = a;  // the other triangle must stay
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (lower ? i < j : i > j) half(i, j) = this->nan;
        }
      }
      typename TestFixture::framed A(half);
      ASSERT_EQ(potrf<T>(stored, A.view()), 0);
      const matrix<T> f = TestFixture::triangle_of(A.inside(), stored, false);
      const matrix<T> other = applied(op::transpose, f);
      EXPECT_LE(distance<T>((lower ? product(f, other) : product(other, f)).view(), a.view()),
                2 * static_cast<double>(n) * this->tolerance(n));
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (lower ? i < j : i > j) {
            EXPECT_TRUE(std::isnan(A.view()(i, j)));
          }
        }
      }
      EXPECT_TRUE(A.frame_is_intact());

      matrix<T> bad = a;
      for (const T wrong : {T{-1}, T{0}, this->nan}) {
        const index_t at = n * 2 / 3;
        bad = a;
        bad(at, at) = wrong;
        EXPECT_EQ(potrf<T>(stored, bad.view()), at + 1);
      }
    }
  }
}

}  // namespace
}  // namespace creek::linalg
