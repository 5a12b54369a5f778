// SPDX-License-Identifier: Apache-2.0
#include "row_piece.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflectors.hpp"

namespace creek::linalg::detail {
namespace {

/// Columns that are eliminated one by one, in the first-level cache.
constexpr index_t block_columns = 8;

/// Moves the upper triangle of V's first rows to R, and puts ones and zeros in its place.
template <scalar T>
void take_triangle(matrix_view<T> V, matrix_view<T> R) {
  for (index_t j = 0; j < V.cols(); ++j) {
    std::copy_n(V.column(j), j + 1, R.column(j));
    std::fill_n(V.column(j), j, T{});
    V(j, j) = T{1};
  }
}

/// Householder's elimination of at most block_columns columns. A has that many rows at its top,
/// and further ones. A pass over the rows below eliminates one column and sums the products that
/// the next one needs.
template <class R>
class narrow_elimination {
 public:
  narrow_elimination(matrix_view<R> A, R* tau) : A_(A), tau_(tau), below_(A.rows() - top) {}

  void run() {
    project<R>(below_, A_.cols(), &A_(0, 0) + top, A_.leading(), &A_(0, 0) + top, dots_);
    for (index_t j = 0; j < A_.cols(); ++j) {
      R* const v = A_.column(j);
      const R factor = add_top(j) ? reflect_by_dots(j) : reflect_exactly(j);
      for (index_t c = j + 1; c < A_.cols(); ++c) {
        R* const y = A_.column(c);
        const R weight = weights_[c - j - 1];
        y[j] -= weight;
        for (index_t i = j + 1; i < top; ++i) y[i] -= weight * v[i];
      }
      vector_kernels_of<R>().reflect(below_, A_.cols() - j - 1, factor, v + top, A_.leading(),
                                     weights_, dots_);
    }
  }

 private:
  static constexpr index_t top = block_columns;

  /// Completes the products of column j with itself and those to its right. Returns whether none
  /// of them overflowed or lost digits to underflow.
  bool add_top(index_t j) {
    constexpr R small = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    bool good = true;
    for (index_t c = j; c < A_.cols(); ++c) {
      R& sum = dots_[c - j];
      for (index_t i = j + 1; i < top; ++i) sum += A_(i, j) * A_(i, c);
      good = good && std::abs(sum) > small && std::abs(sum) <= std::numeric_limits<R>::max();
    }
    return good;
  }

  /// Makes the reflector of column j and the weights with which it changes those to its right.
  /// Returns the factor by which the rows below are still to be multiplied.
  R reflect_by_dots(index_t j) {
    R& alpha = A_(j, j);
    const R length = std::hypot(alpha, std::sqrt(dots_[0]));
    const R beta = std::signbit(alpha) ? length : -length;
    const R factor = 1 / (alpha - beta);
    tau_[j] = (beta - alpha) / beta;
    alpha = beta;
    for (index_t i = j + 1; i < top; ++i) A_(i, j) *= factor;
    for (index_t c = j + 1; c < A_.cols(); ++c) {
      weights_[c - j - 1] = tau_[j] * (dots_[c - j] * factor + A_(j, c));
    }
    return factor;
  }

  /// Same if products overflow or underflow: by those of the finished vector.
  R reflect_exactly(index_t j) {
    const index_t rest = A_.rows() - j - 1;
    R* const v = &A_(j, j) + 1;
    tau_[j] = make_reflector(A_(j, j), rest, v);
    for (index_t c = j + 1; c < A_.cols(); ++c) {
      const R* const y = &A_(j, c);
      weights_[c - j - 1] = tau_[j] == R{} ? R{} : tau_[j] * (dot(rest, v, y + 1) + y[0]);
    }
    return 1;
  }

  matrix_view<R> A_;
  R* tau_;
  index_t below_;
  R weights_[block_columns] = {};
  R dots_[block_columns] = {};
};

/// C -= V W, where V has whole tiles of rows. `packed` has room for W.
template <class R>
void subtract_tall(const_view<R> V, const_view<R> W, matrix_view<R> C, R* packed) {
  const auto& kernels = micro_kernels_of<R>();
  const index_t depth = V.cols();
  pack_right(strided_of<R>(W, op::none), depth, C.cols(), R{-1}, packed);
  const index_t strip = packed_right_size<R>(depth, kernels.cols);
  for (index_t i = 0; i < C.rows(); i += kernels.rows) {
    const R* right = packed;
    for (index_t j = 0; j < C.cols(); j += kernels.cols, right += strip) {
      const index_t cols = std::min(kernels.cols, C.cols() - j);
      if (cols == kernels.cols) {
        kernels.multiply(depth, &V(i, 0), V.leading(), right, &C(i, j), C.leading());
      } else {
        kernels.multiply_edge(depth, &V(i, 0), V.leading(), right, kernels.rows, cols, &C(i, j),
                              C.leading());
      }
    }
  }
}

/// factor_piece for real numbers, left-looking by blocks of columns: each is read from the second
/// level cache for all reflectors to its left at once.
template <class R>
class piece_elimination {
 public:
  piece_elimination(matrix_view<R> V, matrix_view<R> upper, matrix_view<R> triangle)
      : V_(V),
        upper_(upper),
        triangle_(triangle),
        dots_(V.cols(), block_columns),
        weights_(V.cols(), block_columns),
        packed_(packed_right_size<R>(V.cols(), block_columns)) {}

  void run() {
    for (index_t j = 0; j < V_.cols(); j += block_columns) {
      const index_t cols = std::min(block_columns, V_.cols() - j);
      const matrix_view<R> C = V_.columns(j, cols);
      if (j > 0) apply(j, C);
      for (index_t c = 0; c < cols; ++c) {
        std::copy_n(C.column(c), j, upper_.column(j + c));
        std::fill_n(C.column(c), j, R{});
      }
      const matrix_view<R> rest = C.block(j, 0, C.rows() - j, cols);
      R tau[block_columns];
      narrow_elimination<R>(rest, tau).run();
      take_triangle(rest, upper_.block(j, j, cols, cols));
      extend_triangle(j, rest, tau);
    }
  }

 private:
  /// dots = A^T B.
  void project_all(const_view<R> A, const_view<R> B, matrix<R>& dots) {
    vector_kernels_of<R>().project_columns(A.rows(), A.cols(), A.data(), A.leading(), B.cols(),
                                           B.data(), B.leading(), dots.data(), dots.leading());
  }

  /// C = (I - V T^T V^T) C, where V are the first k reflectors.
  void apply(index_t k, matrix_view<R> C) {
    project_all(V_.columns(0, k), C, dots_);
    project_all(triangle_.block(0, 0, k, k), dots_.view().block(0, 0, k, C.cols()), weights_);
    subtract_tall<R>(V_.columns(0, k), weights_.view().block(0, 0, k, C.cols()), C, packed_.data());
  }

  /// Extends T by the reflectors `last` that begin in row and column k.
  void extend_triangle(index_t k, const_view<R> last, const R* tau) {
    const index_t cols = last.cols();
    const matrix_view<R> corner = triangle_.block(k, k, cols, cols);
    project_all(V_.block(k, 0, last.rows(), k + cols), last, dots_);
    for (index_t c = 0; c < cols; ++c) {
      std::copy_n(&dots_(k, c), c, corner.column(c));
      add_to_triangle(corner, c, tau[c]);
    }
    for (index_t c = 0; c < cols && k > 0; ++c) {
      R* const sum = weights_.view().column(c);
      std::fill_n(sum, k, R{});
      subtract(k, c + 1, dots_.data(), dots_.leading(), corner.column(c), sum);
      // The part of T right of its first k columns: T1 times the sum, which is negative.
      subtract(k, k, triangle_.data(), triangle_.leading(), sum, triangle_.column(k + c));
      R* const to = triangle_.column(k + c);
      for (index_t i = 0; i < k; ++i) to[i] = -to[i];
    }
  }

  matrix_view<R> V_, upper_, triangle_;
  matrix<R> dots_, weights_;
  pack_array<R> packed_;
};

}  // namespace

template <scalar T>
index_t piece_rows(index_t rows) noexcept {
  return round_up(rows, std::lcm(micro_kernels_of<real<T>>().rows, block_columns));
}

template <scalar T>
piece_copy<T>::piece_copy(const_view<T> A)
    : rows_(A.rows()),
      leading_([this] {
        constexpr index_t line = 64 / static_cast<index_t>(sizeof(T)), page = 64 * line;
        const index_t whole = piece_rows<T>(rows_);
        return whole % page == 0 ? whole + line : whole;
      }()),
      memory_(leading_ * A.cols()),
      V_(memory_.data(), piece_rows<T>(rows_), A.cols(), leading_) {
  for (index_t j = 0; j < A.cols(); ++j) {
    std::copy_n(A.column(j), rows_, V_.column(j));
    std::fill_n(V_.column(j) + rows_, V_.rows() - rows_, T{});
  }
}

template <scalar T>
void piece_copy<T>::copy_to(matrix_view<T> A) const {
  for (index_t j = 0; j < A.cols(); ++j) std::copy_n(V_.column(j), rows_, A.column(j));
}

template <scalar T>
void factor_copied(matrix_view<T> A, T* tau, matrix_view<T> triangle) {
  const index_t n = A.cols();
  const piece_copy<T> copied(A);
  matrix<T> upper(n, n);
  scale(T{}, triangle);
  factor_piece(copied.view(), upper.view(), triangle);
  copied.copy_to(A);
  for (index_t j = 0; j < n; ++j) {
    std::copy_n(upper.view().column(j), j + 1, A.column(j));
    tau[j] = triangle(j, j);
  }
}

template <scalar T>
void factor_piece(matrix_view<T> V, matrix_view<T> R, matrix_view<T> triangle) {
  if constexpr (is_complex<T>) {
    std::vector<T> tau(static_cast<std::size_t>(V.cols()));
    factor_reflectors(V, tau.data(), triangle);
    take_triangle(V, R);
  } else {
    piece_elimination<T>(V, R, triangle).run();
  }
}

#define CREEK_INSTANTIATE(letter, T)                                  \
  template class piece_copy<T>;                                       \
  template void factor_copied<T>(matrix_view<T>, T*, matrix_view<T>); \
  template index_t piece_rows<T>(index_t) noexcept;                   \
  template void factor_piece<T>(matrix_view<T>, matrix_view<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
