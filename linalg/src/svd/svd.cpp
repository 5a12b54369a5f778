// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition: reduction to bidiagonal form, divide and conquer, and the products
// with the factors of the reduction. A wide matrix is transposed.
#include <creek/linalg/svd.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bidiagonal.hpp"
#include "bidiagonal_divide.hpp"
#include "bidiagonal_qr.hpp"
#include "bidiagonalization.hpp"
#include "blas3/workers.hpp"
#include "checks.hpp"
#include "conjugate_transpose.hpp"
#include "kernels/pack_memory.hpp"
#include "matrix_scale.hpp"

namespace creek::linalg {
namespace detail {
namespace {
namespace svd {

/// Order up to which rotations are applied to the vectors of the matrix itself.
constexpr index_t small_order = 48;

/// The columns of A become those of X and zeros below, and then those of the identity.
template <scalar T>
void extend(const_view<real<T>> X, matrix_view<T> A) {
  const index_t n = X.rows();
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const column = A.column(j);
    index_t filled = 0;
    if (j < n) {
      std::copy_n(X.column(j), n, column);
      filled = n;
    }
    std::fill_n(column + filled, A.rows() - filled, T{});
    if (j >= n) column[j] = T{1};
  }
}

/// The decomposition of a matrix with m >= n and elements in a safe range.
template <scalar T>
index_t decompose_tall(matrix_view<T> A, real<T>* s, matrix_view<T> U, matrix_view<T> VT) {
  using R = real<T>;
  const index_t n = A.cols();
  const bool left = U.cols() > 0, right = VT.rows() > 0;
  const bidiagonalization<T> reduced(A);
  std::copy_n(reduced.diagonal(), n, s);
  if (!left && !right) return bidiagonal_values(n, s, reduced.above());
  const pack_array<T> memory(n * n);
  const matrix_view<T> V(memory.data(), n, n, n);
  index_t unconverged = 0;
  if (n <= small_order) {
    set_identity(V);
    set_identity(U);
    reduced.apply_left(op::none, U);
    if (right) reduced.apply_right(op::none, V);
    const rotated_columns<R> none;
    const auto u = left ? columns_of(U) : none, v = right ? columns_of(V) : none;
    unconverged = bidiagonal_qr(n, s, reduced.above(), u, v);
    sort_values(n, s, u, v);
  } else {
    const pack_array<R> vectors(is_complex<T> || !left ? 2 * n * n : n * n);
    const matrix_view<R> u(vectors.data(), n, n, n);
    const auto v = [&] {
      if constexpr (is_complex<T>) {
        return matrix_view<R>(vectors.data() + n * n, n, n, n);
      } else {
        return V;
      }
    }();
    unconverged = bidiagonal_svd(n, s, reduced.above(), u, v);
    if (left) {
      extend<T>(u, U);
      reduced.apply_left(op::none, U);
    }
    if (right) {
      if constexpr (is_complex<T>) extend<T>(v, V);
      reduced.apply_right(op::none, V);
    }
  }
  if (right) conjugate_transpose_to<T>(V, VT);
  return unconverged;
}

}  // namespace svd
}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void gebrd(matrix_view<T> A, std::span<real<T>> d, std::span<real<T>> e, std::span<T> tau_q,
           std::span<T> tau_p) {
  const index_t k = std::min(A.rows(), A.cols());
  const auto holds = [](const auto& span, index_t count) {
    return static_cast<index_t>(span.size()) >= count;
  };
  require(holds(d, k) && holds(e, k - 1) && holds(tau_q, k) && holds(tau_p, k), "gebrd",
          "d, tau_q and tau_p must have min(m, n) elements, e one less");
  if (k == 0) return;
  const auto scaling = matrix_scale<real<T>>::of_gesdd(largest_part<T>(A));
  scaling.apply(A);
  if (A.rows() >= A.cols()) {
    reduce_to_bidiagonal(A, d.data(), e.data(), tau_q.data(), tau_p.data());
  } else {
    matrix<T> turned = conjugate_transposed_copy<T>(A);
    reduce_to_bidiagonal(turned.view(), d.data(), e.data(), tau_p.data(), tau_q.data());
    conjugate_transpose_to<T>(turned.view(), A);
  }
  if (!scaling.is_needed()) return;
  scaling.undo(k, d.data());
  scaling.undo(k - 1, e.data());
  const bool upper = A.rows() >= A.cols();
  for (index_t i = 0; i < k; ++i) {
    A(i, i) = d[static_cast<std::size_t>(i)];
    if (i + 1 < k) (upper ? A(i, i + 1) : A(i + 1, i)) = e[static_cast<std::size_t>(i)];
  }
}

template <scalar T>
index_t gesdd(matrix_view<T> A, std::span<real<T>> s, matrix_view<T> U, matrix_view<T> VT) {
  const index_t m = A.rows(), n = A.cols(), k = std::min(m, n);
  const auto is_count = [k](index_t given, index_t all) {
    return given == 0 || given == k || given == all;
  };
  require(static_cast<index_t>(s.size()) >= k, "gesdd", "s must have min(m, n) elements");
  require(is_count(U.cols(), m) && (U.cols() == 0 || U.rows() == m), "gesdd",
          "U must have m rows and no, min(m, n) or m columns");
  require(is_count(VT.rows(), n) && (VT.rows() == 0 || VT.cols() == n), "gesdd",
          "VT must have n columns and no, min(m, n) or n rows");
  if (k == 0) {
    set_identity(U);
    set_identity(VT);
    return 0;
  }
  const real<T> most = largest_part<T>(A);
  if (std::isnan(most)) return matrix_has_nan;
  const auto scaling = matrix_scale<real<T>>::of_gesdd(most);
  scaling.apply(A);
  index_t unconverged = 0;
  if (m >= n) {
    unconverged = svd::decompose_tall(A, s.data(), U, VT);
  } else {
    const index_t left = U.cols(), right = VT.rows();
    const pack_array<T> memory(m * n + n * right + m * left);
    const matrix_view<T> turned(memory.data(), n, m, n);
    const matrix_view<T> V(memory.data() + m * n, n, right, n);
    const matrix_view<T> UT(V.data() + n * right, left, m, std::max<index_t>(1, left));
    conjugate_transpose_to<T>(A, turned);
    unconverged = svd::decompose_tall(turned, s.data(), V, UT);
    conjugate_transpose_to<T>(V, VT);
    conjugate_transpose_to<T>(UT, U);
  }
  scaling.undo(k, s.data());
  const bool failed = std::any_of(s.data(), s.data() + k, [](real<T> x) { return std::isnan(x); });
  return failed ? std::max<index_t>(1, unconverged) : unconverged;
}

#define CREEK_INSTANTIATE(letter, T)                                                           \
  template void gebrd<T>(matrix_view<T>, std::span<real<T>>, std::span<real<T>>, std::span<T>, \
                         std::span<T>);                                                        \
  template index_t gesdd<T>(matrix_view<T>, std::span<real<T>>, matrix_view<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
