// SPDX-License-Identifier: Apache-2.0
// LAPACK's routines around the tridiagonal form, for either triangle. The upper form is the lower
// one of the matrix with its rows and columns in reverse order.
#include <creek/linalg/eigen.hpp>

#include <algorithm>
#include <vector>

#include <creek/linalg/qr.hpp>

#include "checks.hpp"
#include "reduction.hpp"

namespace creek::linalg {
namespace detail {
namespace {

template <scalar T>
void reverse_rows(matrix_view<T> C) noexcept {
  for (index_t j = 0; j < C.cols(); ++j) std::reverse(C.column(j), C.column(j) + C.rows());
}

template <scalar T>
void reverse_columns(matrix_view<T> C) noexcept {
  for (index_t j = 0; j < C.cols() / 2; ++j) {
    std::swap_ranges(C.column(j), C.column(j) + C.rows(), C.column(C.cols() - 1 - j));
  }
}

/// Writes one triangle of A, reversed, to the other triangle of `to`.
template <scalar T>
void copy_reversed(triangle stored, const_view<T> A, matrix_view<T> to) noexcept {
  const index_t n = A.rows();
  for (index_t j = 0; j < n; ++j) {
    const index_t first = stored == triangle::lower ? j : 0;
    const index_t last = stored == triangle::lower ? n : j + 1;
    std::reverse_copy(A.column(j) + first, A.column(j) + last, to.column(n - 1 - j) + (n - last));
  }
}

template <scalar T>
std::vector<T> reversed(std::span<const T> x) {
  return {x.rbegin(), x.rend()};
}

template <scalar T>
void multiply_by_q(side where, op how, const_view<T> A, std::span<const T> tau, matrix_view<T> C) {
  const index_t n = A.rows() - 1;
  const matrix_view<T> changed =
      where == side::left ? C.block(1, 0, n, C.cols()) : C.block(0, 1, C.rows(), n);
  ormqr(where, how, A.block(1, 0, n, n), tau, changed);
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void hetrd(triangle stored, matrix_view<T> A, std::span<real<T>> d, std::span<real<T>> e,
           std::span<T> tau) {
  const index_t n = A.rows(), rest = std::max<index_t>(0, n - 1);
  require(A.cols() == n, "hetrd", "A must be square");
  require(static_cast<index_t>(d.size()) >= n && static_cast<index_t>(e.size()) >= rest &&
              static_cast<index_t>(tau.size()) >= rest,
          "hetrd", "d needs n elements, e and tau n - 1");
  if (n == 0) return;
  if (stored == triangle::lower) return reduce_lower(A, d.data(), e.data(), tau.data());
  matrix<T> lower(n, n);
  copy_reversed<T>(stored, A, lower.view());
  reduce_lower(lower.view(), d.data(), e.data(), tau.data());
  copy_reversed<T>(triangle::lower, lower.view(), A);
  std::reverse(d.begin(), d.begin() + n);
  std::reverse(e.begin(), e.begin() + rest);
  std::reverse(tau.begin(), tau.begin() + rest);
}

template <scalar T>
void orgtr(triangle stored, matrix_view<T> A, std::span<const T> tau) {
  const index_t n = A.rows(), count = std::max<index_t>(0, n - 1);
  require(A.cols() == n && static_cast<index_t>(tau.size()) >= count, "orgtr",
          "A must be square and tau have n - 1 elements");
  if (n == 0) return;
  const auto used = tau.first(static_cast<std::size_t>(count));
  matrix<T> lower;
  std::vector<T> turned;
  const bool is_lower = stored == triangle::lower;
  if (!is_lower) {
    lower = matrix<T>(n, n);
    copy_reversed<T>(stored, A, lower.view());
    turned = reversed(used);
  }
  const matrix_view<T> Q = is_lower ? A : lower.view();
  for (index_t j = n - 1; j > 0; --j) {
    std::copy_n(Q.column(j - 1) + 1, n - 1, Q.column(j) + 1);
    Q(0, j) = T{};
  }
  std::fill_n(Q.column(0), n, T{});
  Q(0, 0) = T{1};
  orgqr(Q.block(1, 1, count, count), is_lower ? used : std::span<const T>(turned));
  if (is_lower) return;
  reverse_rows(Q);
  reverse_columns(Q);
  copy<T>(Q, A);
}

template <scalar T>
void ormtr(side where, triangle stored, op how, input<T> A, std::span<const T> tau,
           matrix_view<T> C) {
  const index_t n = where == side::left ? C.rows() : C.cols(), count = std::max<index_t>(0, n - 1);
  require(A.rows() == n && A.cols() == n && static_cast<index_t>(tau.size()) >= count, "ormtr",
          "A must be of the order of the rows (left) or columns (right) of C");
  if (n <= 1 || C.empty()) return;
  const auto used = tau.first(static_cast<std::size_t>(count));
  if (stored == triangle::lower) return multiply_by_q(where, how, A, used, C);
  matrix<T> lower(n, n);
  copy_reversed<T>(stored, A, lower.view());
  const std::vector<T> turned = reversed(used);
  const auto reverse = [&] { where == side::left ? reverse_rows(C) : reverse_columns(C); };
  reverse();
  multiply_by_q<T>(where, how, lower.view(), turned, C);
  reverse();
}

#define CREEK_INSTANTIATE(letter, T)                                                       \
  template void hetrd<T>(triangle, matrix_view<T>, std::span<real<T>>, std::span<real<T>>, \
                         std::span<T>);                                                    \
  template void orgtr<T>(triangle, matrix_view<T>, std::span<const T>);                    \
  template void ormtr<T>(side, triangle, op, const_view<T>, std::span<const T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
