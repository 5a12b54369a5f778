// SPDX-License-Identifier: Apache-2.0
#include "reflectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "row_piece.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
constexpr index_t single_columns = 8;

}  // namespace

template <scalar T>
real<T> euclidean_norm(index_t n, const T* x) {
  using R = real<T>;
  if (n == 0) return 0;
  const R plain = std::real(dot(n, x, x));
  constexpr R small = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (std::isnan(plain) || (plain > small && plain <= std::numeric_limits<R>::max())) {
    return std::sqrt(plain);
  }
  R most = 0;
  for (index_t i = 0; i < n; ++i) {
    most = std::max({most, std::abs(std::real(x[i])), std::abs(std::imag(x[i]))});
  }
  if (most == 0 || std::isinf(most)) return most;
  R sum = 0;
  for (index_t i = 0; i < n; ++i) sum += std::norm(x[i] / most);
  return most * std::sqrt(sum);
}

template <scalar T>
T make_reflector(T& alpha, index_t n, T* x) {
  using R = real<T>;
  const R rest = euclidean_norm(n, x);
  if (rest == 0 && std::imag(alpha) == 0) return T{};
  const R length = std::hypot(std::abs(alpha), rest);
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (length < least) {
    // Numbers with few digits left would give a v and a tau that do not fit each other.
    alpha /= least;
    for (index_t i = 0; i < n; ++i) x[i] /= least;
    const T tau = make_reflector(alpha, n, x);
    alpha *= least;
    return tau;
  }
  const R beta = std::signbit(std::real(alpha)) ? length : -length;
  const T tau = (T{beta} - alpha) / beta;
  const T divisor = alpha - T{beta};
  if (std::abs(divisor) >= least) {
    const T factor = T{1} / divisor;
    for (index_t i = 0; i < n; ++i) x[i] *= factor;
  } else {
    for (index_t i = 0; i < n; ++i) x[i] /= divisor;
  }
  alpha = T{beta};
  return tau;
}

namespace {

/// Returns the rows of V that contain the unit triangle, and lower_rows() those below.
template <scalar T>
strided<T> upper_rows(const_view<T> V) {
  strided<T> v{V.data(), 1, V.leading()};
  v.shape = structure::unit_triangular;
  v.stored_low = true;
  return v;
}
template <scalar T>
strided<T> lower_rows(const_view<T> V) {
  return {V.data() + V.cols(), 1, V.leading()};
}

template <scalar T>
strided<T> conjugate_transposed(strided<T> a) {
  a = a.transposed();
  a.conjugate = !a.conjugate;
  return a;
}

/// Fewer columns than this are projected one by one: packing them would take longer.
constexpr index_t few_projections = 24;

/// Returns V1^H V2, where V1 are the first `half` reflectors of V and V2 the others, which begin
/// `half` rows lower.
template <scalar T>
matrix<T> overlap(const_view<T> V, index_t half) {
  const index_t rest = V.cols() - half;
  matrix<T> dots(half, rest);
  if (half <= few_projections) {
    for (index_t c = 0; c < rest; ++c) {
      // Column half + c begins with a one that is not stored.
      const index_t one = half + c;
      T* const to = dots.view().column(c);
      project(V.rows() - one - 1, half, &V(0, 0) + one + 1, V.leading(), &V(0, one) + one + 1, to);
      for (index_t i = 0; i < half; ++i) to[i] += conjugated(V(one, i));
    }
    return dots;
  }
  const const_view<T> second = V.block(half, half, V.rows() - half, rest);
  const strided<T> first{&V(half, 0), 1, V.leading()};
  multiply_add_here(T{1}, conjugate_transposed(first), upper_rows<T>(second), rest, dots.view());
  const strided<T> further = first.block(rest, 0);
  multiply_add_here(T{1}, conjugate_transposed(further), lower_rows<T>(second),
                    V.rows() - half - rest, dots.view());
  return dots;
}

/// Computes T of a few reflectors, column by column.
template <scalar T>
void form_narrow_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle) {
  for (index_t j = 0; j < V.cols(); ++j) {
    T* const column = triangle.column(j);
    project(V.rows() - j - 1, j, V.data() + j + 1, V.leading(), &V(0, j) + j + 1, column);
    for (index_t i = 0; i < j; ++i) column[i] += conjugated(V(j, i));
    add_to_triangle(triangle, j, tau[j]);
  }
}

}  // namespace

template <scalar T>
void apply_reflector(index_t below, const T* v, T tau, matrix_view<T> C) {
  constexpr index_t group = 32;
  T products[group];
  for (index_t first = 0; first < C.cols(); first += group) {
    const index_t columns = std::min(group, C.cols() - first);
    project(below, columns, C.column(first) + 1, C.leading(), v, products);
    for (index_t j = 0; j < columns; ++j) {
      T* const column = C.column(first + j);
      const T weight = tau * (conjugated(products[j]) + column[0]);
      column[0] -= weight;
      subtract(below, 1, v, 0, &weight, column + 1);
    }
  }
}

template <scalar T>
void factor_columns(matrix_view<T> A, T* tau) {
  const index_t steps = std::min(A.rows(), A.cols());
  for (index_t j = 0; j < steps; ++j) {
    T* const column = &A(j, j);
    const index_t below = A.rows() - j - 1;
    tau[j] = make_reflector(column[0], below, column + 1);
    const index_t right = A.cols() - j - 1;
    if (right == 0 || tau[j] == T{}) continue;
    apply_reflector(below, column + 1, conjugated(tau[j]), A.block(j, j + 1, below + 1, right));
  }
}

template <scalar T>
void join_triangles(const matrix<T>& overlap, matrix_view<T> triangle) {
  const index_t half = overlap.rows();
  const index_t rest = overlap.cols();
  matrix<T> inner(half, rest);
  strided<T> t{triangle.data(), 1, triangle.leading()};
  t.shape = structure::triangular;
  multiply_add_here(T{-1}, t, strided_of<T>(overlap.view(), op::none), half, inner.view());
  const matrix_view<T> across = triangle.block(0, half, half, rest);
  scale(T{}, across);
  multiply_add_here(T{1}, strided_of<T>(inner.view(), op::none), t.block(half, half), rest, across);
}

template <scalar T>
void form_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle) {
  const index_t n = V.cols();
  // Packing short reflectors would take longer than the products.
  const bool is_small = n <= single_columns || (n <= 32 && V.rows() <= 400);
  if (is_small) return form_narrow_triangle(V, tau, triangle);
  const index_t half = round_up(n / 2, 8);
  form_triangle<T>(V.columns(0, half), tau, triangle.block(0, 0, half, half));
  form_triangle<T>(V.block(half, half, V.rows() - half, n - half), tau + half,
                   triangle.block(half, half, n - half, n - half));
  join_triangles(overlap(V, half), triangle);
}

template <scalar T>
void factor_reflectors(matrix_view<T> A, T* tau, matrix_view<T> triangle) {
  const index_t n = A.cols();
  if (n <= single_columns) {
    factor_columns(A, tau);
    return form_triangle<T>(A, tau, triangle);
  }
  if constexpr (!is_complex<T>) return factor_copied(A, tau, triangle);
  const index_t half = round_up(n / 2, 8);
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> first = triangle.block(0, 0, half, half);
  factor_reflectors(left, tau, first);
  packed_reflectors<T>(left, first, true).apply(A.columns(half, n - half));
  factor_reflectors(A.block(half, half, A.rows() - half, n - half), tau + half,
                    triangle.block(half, half, n - half, n - half));
  join_triangles(overlap<T>(A, half), triangle);
}

template <scalar T>
packed_reflectors<T>::packed_reflectors(const_view<T> V, const_view<T> triangle, bool transposed)
    : order_(V.cols()), vectors_(V, true), t_(packed_left_size<T>(order_, order_)) {
  strided<T> t{triangle.data(), 1, triangle.leading()};
  t.shape = structure::triangular;
  pack_left(transposed ? conjugate_transposed(t) : t, order_, order_, t_.data());
}

template <scalar T>
void packed_reflectors<T>::apply(matrix_view<T> C) const {
  if (C.cols() == 0) return;
  matrix<T> dots(round_up(order_, micro_kernels_of<real<T>>().rows), C.cols()),
      weights(order_, C.cols());
  vectors_.project(C, dots.view());
  const pack_array<real<T>> right(packed_right_size<T>(order_, C.cols()));
  pack_right(strided<T>{dots.data(), 1, dots.leading()}, order_, C.cols(), T{1}, right.data());
  multiply_packed(order_, C.cols(), order_, t_.data(), right.data(), weights.data(),
                  weights.leading());
  vectors_.subtract(weights.view(), C);
}

#define CREEK_INSTANTIATE(letter, T)                                       \
  template real<T> euclidean_norm<T>(index_t, const T*);                   \
  template T make_reflector<T>(T&, index_t, T*);                           \
  template void apply_reflector<T>(index_t, const T*, T, matrix_view<T>);  \
  template void factor_columns<T>(matrix_view<T>, T*);                     \
  template void factor_reflectors<T>(matrix_view<T>, T*, matrix_view<T>);  \
  template void form_triangle<T>(const_view<T>, const T*, matrix_view<T>); \
  template void join_triangles<T>(const matrix<T>&, matrix_view<T>);       \
  template class packed_reflectors<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
