// SPDX-License-Identifier: Apache-2.0
// Reduction to upper Hessenberg form by blocks of reflectors, and products with its Q.
//
// A panel needs A v for each of its columns, which reads the rest of the matrix from memory: it
// takes most of the time, and all workers share it.
// Source: [Quintana-Orti 2006], as in LAPACK's gehrd and lahr2.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <creek/linalg/qr.hpp>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "kernels/packing.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "qr/reflectors.hpp"
#include "reflector_right.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr index_t hessenberg_panel = 32;
/// Blocks of this order at most are reduced column by column.
constexpr index_t unblocked_hessenberg = 96;
/// Minimum elements of a matrix whose product with a vector is worth a second worker.
constexpr index_t shared_elements = 40000;

/// Reduces columns [at, end - 1) one by one; `dots` has room for A.rows() elements.
template <scalar T>
void reduce_columns(matrix_view<T> A, index_t at, index_t end, T* tau, T* dots) {
  for (index_t i = at; i < end - 1; ++i) {
    T* const v = &A(i + 1, i) + 1;
    const index_t below = end - i - 2;
    tau[i] = make_reflector(A(i + 1, i), below, v);
    if (tau[i] == T{}) continue;
    apply_reflector_right(v, tau[i], A.block(0, i + 1, end, end - i - 1), dots);
    apply_reflector(below, v, conjugated(tau[i]),
                    A.block(i + 1, i + 1, end - i - 1, A.cols() - i - 1));
  }
}

/// y = A v on all workers, where `negative` is -v. A row's sum does not depend on the cuts, which
/// are at multiples of every vector's length.
template <scalar T>
void multiply_vector(const_view<T> A, const T* negative, T* y) {
  std::fill_n(y, A.rows(), T{});
  if (A.rows() * A.cols() < shared_elements) {
    return subtract(A.rows(), A.cols(), A.data(), A.leading(), negative, y);
  }
  const index_t workers = all_workers::count();
  const index_t step = round_up((A.rows() + workers - 1) / workers, 16);
  all_workers::for_each((A.rows() + step - 1) / step, [&](index_t piece) {
    const index_t i = piece * step;
    subtract(std::min(step, A.rows() - i), A.cols(), A.data() + i, A.leading(), negative, y + i);
  });
}

/// Panel of a reduction: reflectors I - V T V^H of columns [at, at + V.cols()), and Y = A V T.
template <scalar T>
class panel_reduction {
 public:
  panel_reduction(matrix_view<T> A, index_t end, index_t at, index_t width)
      : A_(A), at_(at), end_(end), V_(end - at - 1, width), Y_(end, width), T_(width, width) {}

  void run(T* tau) {
    reduce(tau);
    finish_product();
    update();
  }

 private:
  index_t rows() const noexcept { return end_ - at_ - 1; }
  index_t width() const noexcept { return V_.cols(); }

  /// Applies the earlier reflectors of the panel to its column j.
  void update_column(index_t j, T* column) {
    std::array<T, hessenberg_panel> weights;
    T* const w = weights.data();
    for (index_t p = 0; p < j; ++p) w[p] = conjugated(V_(j - 1, p));
    subtract(rows(), j, &Y_(at_ + 1, 0), Y_.leading(), w, column);
    project(rows(), j, V_.data(), V_.leading(), column, w);
    for (index_t i = j - 1; i >= 0; --i) {
      T sum{};
      for (index_t p = 0; p <= i; ++p) sum += conjugated(T_(p, i)) * w[p];
      w[i] = sum;
    }
    subtract(rows(), j, V_.data(), V_.leading(), w, column);
  }

  void reduce(T* tau) {
    std::vector<T> negative(static_cast<std::size_t>(rows()));
    for (index_t j = 0; j < width(); ++j) {
      T* const column = &A_(at_ + 1, at_ + j);
      if (j > 0) update_column(j, column);
      const index_t below = rows() - j - 1;
      tau[j] = make_reflector(column[j], below, column + j + 1);
      V_(j, j) = T{1};
      std::copy_n(column + j + 1, below, V_.view().column(j) + j + 1);
      for (index_t i = j; i < rows(); ++i) negative[static_cast<std::size_t>(i)] = -V_(i, j);

      T* const y = &Y_(at_ + 1, j);
      multiply_vector<T>(A_.block(at_ + 1, at_ + 1 + j, rows(), rows() - j), negative.data() + j,
                         y);
      T* const dots = T_.view().column(j);
      project(rows() - j, j, V_.data() + j, V_.leading(), &V_(j, j), dots);
      subtract(rows(), j, &Y_(at_ + 1, 0), Y_.leading(), dots, y);
      for (index_t i = 0; i < rows(); ++i) y[i] *= tau[j];
      add_to_triangle(T_.view(), j, tau[j]);
    }
  }

  /// Computes the rows of Y above the panel's reflectors.
  void finish_product() {
    const matrix_view<T> top = Y_.view().block(0, 0, at_ + 1, width());
    gemm(op::none, op::none, T{1}, A_.block(0, at_ + 1, at_ + 1, rows()), V_.view(), T{0}, top);
    trmm(side::right, triangle::upper, op::none, diagonal::stored, T{1}, T_.view(), top);
  }

  void update() {
    const index_t inside = width() - 1;
    const auto subtract_product = [this](index_t rows, index_t first, index_t cols) {
      gemm(op::none, op::conjugate_transpose, T{-1}, Y_.view().block(0, 0, rows, width()),
           V_.view().block(first, 0, cols, width()), T{1},
           A_.block(0, at_ + 1 + first, rows, cols));
    };
    subtract_product(at_ + 1, 0, inside);
    subtract_product(end_, inside, rows() - inside);

    const matrix_view<T> C = A_.block(at_ + 1, at_ + width(), rows(), A_.cols() - at_ - width());
    matrix<T> dots(width(), C.cols()), weights(width(), C.cols());
    gemm(op::conjugate_transpose, op::none, T{1}, V_.view(), C, T{0}, dots.view());
    gemm(op::conjugate_transpose, op::none, T{1}, T_.view(), dots.view(), T{0}, weights.view());
    gemm(op::none, op::none, T{-1}, V_.view(), weights.view(), T{1}, C);
  }

  matrix_view<T> A_;
  index_t at_;
  index_t end_;
  matrix<T> V_;
  matrix<T> Y_;
  matrix<T> T_;
};

template <scalar T>
void check_active(const char* routine, const_view<T> A, active_rows active,
                  std::size_t tau_elements) {
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(tau_elements) >= n - 1, routine,
          "A must be square, and tau have an element less than it has rows");
  require(active.first >= 0 && active.first <= active.end && active.end <= n, routine,
          "the active rows must be among those of A");
}

/// Returns the rows and columns of the reflectors, which begin one row below the active ones.
template <class View>
View hessenberg_reflectors(const View& A, active_rows active) {
  const index_t order = active.end - active.first - 1;
  return A.block(active.first + 1, active.first, order, order);
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void gehrd(matrix_view<T> A, active_rows active, std::span<T> tau) {
  check_active<T>("gehrd", A, active, tau.size());
  if (A.rows() == 0) return;
  std::fill(tau.begin(), tau.begin() + A.rows() - 1, T{});
  index_t at = active.first;
  while (active.end - at > unblocked_hessenberg) {
    panel_reduction<T>(A, active.end, at, hessenberg_panel).run(tau.data() + at);
    at += hessenberg_panel;
  }
  constexpr index_t small = 128;
  if (A.rows() <= small) {
    std::array<T, small> dots;
    return reduce_columns(A, at, active.end, tau.data(), dots.data());
  }
  std::vector<T> dots(static_cast<std::size_t>(A.rows()));
  reduce_columns(A, at, active.end, tau.data(), dots.data());
}

template <scalar T>
void orghr(matrix_view<T> A, active_rows active, std::span<const T> tau) {
  check_active<T>("orghr", A, active, tau.size());
  const auto [first, end] = active;
  const index_t n = A.rows();
  if (n == 0) return;
  for (index_t j = n - 1; j >= 0; --j) {
    T* const column = A.column(j);
    const bool reflects = j > first && j < end;
    // The vectors move one column to the right.
    std::fill_n(column, reflects ? j : n, T{});
    if (reflects) {
      std::copy_n(A.column(j - 1) + j + 1, end - j - 1, column + j + 1);
      std::fill(column + end, column + n, T{});
    } else {
      column[j] = T{1};
    }
  }
  const index_t order = end - first - 1;
  if (order <= 0) return;
  orgqr<T>(A.block(first + 1, first + 1, order, order),
           tau.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(order)));
}

template <scalar T>
void ormhr(side where, op how, active_rows active, input<T> A, std::span<const T> tau,
           matrix_view<T> C) {
  check_active<T>("ormhr", A, active, tau.size());
  require(A.rows() == (where == side::left ? C.rows() : C.cols()), "ormhr",
          "A must have the order of the rows (left) or columns (right) of C");
  const auto [first, end] = active;
  const index_t order = end - first - 1;
  if (order <= 0 || C.empty()) return;
  const matrix_view<T> part = where == side::left ? C.block(first + 1, 0, order, C.cols())
                                                  : C.block(0, first + 1, C.rows(), order);
  ormqr<T>(where, how, hessenberg_reflectors(A, active),
           tau.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(order)), part);
}

#define CREEK_INSTANTIATE(letter, T)                                       \
  template void gehrd<T>(matrix_view<T>, active_rows, std::span<T>);       \
  template void orghr<T>(matrix_view<T>, active_rows, std::span<const T>); \
  template void ormhr<T>(side, op, active_rows, const_view<T>, std::span<const T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
