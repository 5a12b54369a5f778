// SPDX-License-Identifier: Apache-2.0
// Triangular solve and product. An upper triangle is a lower one read backwards, and a system from
// the right is that of the transposed matrix, so one kernel does all.
#include "triangular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <creek/linalg/blas3.hpp>

#include "blas3/level3.hpp"
#include "checks.hpp"
#include "pack_memory.hpp"
#include "product.hpp"
#include "vector_kernels.hpp"

namespace creek::linalg {
namespace detail {

template <scalar T>
void pack_triangle(const strided<T>& l, diagonal ones, index_t order, real<T>* to) noexcept {
  const index_t strip = solve_rows / reals<T>;
  const auto element = [&](index_t i, index_t p) -> T {
    if (p > i) return T{};
    if (i >= order) return p == i ? T{1} : T{};
    if (p == i) return ones == diagonal::unit ? T{1} : T{1} / l.at(i, i);
    return l.at(i, p);
  };
  for (index_t top = 0; top < order; top += strip) {
    for (index_t p = 0; p < top + strip; ++p) {
      for (index_t i = top; i < top + strip; ++i) {
        const T value = element(i, p);
        if constexpr (is_complex<T>) {
          *to++ = value.real();
          *to++ = value.imag();
        } else {
          *to++ = value;
        }
      }
    }
  }
}

template <scalar T>
void solve_packed(const real<T>* triangle, index_t order, real<T>* b, index_t cols) noexcept {
  const auto& kernels = micro_kernels_of<real<T>>();
  const index_t depth = solve_depth<T>(order);
  for (index_t j = 0; j < cols; j += kernels.cols) {
    if constexpr (is_complex<T>) {
      kernels.solve_complex(depth, triangle, b);
    } else {
      kernels.solve(depth, triangle, b);
    }
    b += packed_right_size<T>(depth, kernels.cols);
  }
}

namespace {

constexpr index_t columns_at_once = 128;

/// Solves for `cols` right-hand sides b, where element (i, j) is at b[i * row_step + j *
/// col_step].
template <class Workers, scalar T>
void solve_block(const strided<T>& lower, diagonal ones, index_t order, T* b, index_t row_step,
                 index_t col_step, index_t cols) {
  const pack_array<real<T>> triangle(packed_triangle_size<T>(order));
  pack_triangle(lower, ones, order, triangle.data());
  const index_t depth = solve_depth<T>(order);
  const index_t pieces = (cols + columns_at_once - 1) / columns_at_once;
  const auto solve = [&](index_t piece) {
    const index_t first = piece * columns_at_once;
    const index_t here = std::min(columns_at_once, cols - first);
    const pack_array<real<T>> packed(packed_right_size<T>(depth, here));
    T* const at = b + first * col_step;
    // Strips are as deep as the kernel needs; the last rows are zero.
    const index_t width = micro_kernels_of<real<T>>().cols;
    for (index_t j = 0; j < here; j += width) {
      const index_t strip_cols = std::min(width, here - j);
      real<T>* const strip = packed.data() + packed_right_size<T>(depth, j);
      const strided<T> source{at + j * col_step, row_step, col_step};
      pack_right(source, order, strip_cols, T{1}, strip);
      std::fill(strip + packed_right_size<T>(order, width),
                strip + packed_right_size<T>(depth, width), real<T>{});
      solve_packed<T>(triangle.data(), order, strip, strip_cols);
      unpack_right(strip, order, strip_cols, at + j * col_step, row_step, col_step);
    }
  };
  Workers::for_each(pieces, solve);
}

/// Returns whether the kernel, which multiplies by the diagonal's reciprocals, can solve with it.
template <scalar T>
bool has_reciprocals(const strided<T>& lower, index_t order) {
  for (index_t i = 0; i < order; ++i) {
    const T reciprocal = T{1} / lower.at(i, i);
    if (!std::isfinite(std::real(reciprocal)) || !std::isfinite(std::imag(reciprocal)))
      return false;
  }
  return true;
}

/// Same by definition, with divisions, for diagonals with zeros or nearly zero elements.
template <scalar T>
void divide_block(const strided<T>& lower, index_t order, T* b, index_t row_step, index_t col_step,
                  index_t cols) {
  for (index_t j = 0; j < cols; ++j) {
    T* const x = b + j * col_step;
    for (index_t p = 0; p < order; ++p) {
      T& known = x[p * row_step];
      if (known == T{}) continue;  // as in the BLAS: no 0 / 0
      known /= lower.at(p, p);
      for (index_t i = p + 1; i < order; ++i) x[i * row_step] -= lower.at(i, p) * known;
    }
  }
}

/// Returns the triangular operand op(A).
template <scalar T>
strided<T> triangular(const_view<T> A, triangle stored, op how, diagonal ones) {
  strided<T> t = strided_of(A, how);
  t.shape = ones == diagonal::unit ? structure::unit_triangular : structure::triangular;
  t.stored_low = (stored == triangle::lower) == (how == op::none);
  return t;
}

/// Maximum number of right-hand sides that are solved for one by one, reading the triangle in
/// place.
constexpr index_t few_sides = 4;

/// x = t^-1 x; returns false and does nothing if the kernels cannot read t in place.
template <scalar T>
bool substitute(const strided<T>& t, diagonal ones, index_t order, T* x) {
  const auto known = [&](index_t p) {
    if (ones == diagonal::stored && x[p] != T{}) x[p] /= t.at(p, p);
    return x[p] != T{};
  };
  if (t.row_step == 1 && !t.conjugate) {
    for (index_t q = 0; q < order; ++q) {
      const index_t p = t.stored_low ? q : order - 1 - q;
      const index_t first = t.stored_low ? p + 1 : 0;
      const index_t rest = order - 1 - q;
      if (known(p)) subtract(rest, 1, t.data + first + p * t.col_step, 0, x + p, x + first);
    }
    return true;
  }
  if (t.col_step == 1 && (t.conjugate || !is_complex<T>)) {
    for (index_t q = 0; q < order; ++q) {
      const index_t p = t.stored_low ? q : order - 1 - q;
      const index_t first = t.stored_low ? 0 : p + 1;
      x[p] -= dot(q, t.data + first + p * t.row_step, x + first);
      known(p);
    }
    return true;
  }
  return false;
}

/// Solves with the diagonal block [k, k + n) of op(A) for its rows or columns of B.
template <class Workers, scalar T>
void solve_diagonal(side where, const strided<T>& t, diagonal ones, matrix_view<T> B, index_t k,
                    index_t n) {
  strided<T> block = t.block(k, k);
  if (where == side::left && B.cols() <= few_sides) {
    bool done = true;
    for (index_t j = 0; j < B.cols() && done; ++j) done = substitute(block, ones, n, &B(k, j));
    if (done) return;
  }
  const index_t leading = B.leading();
  T* first = where == side::left ? &B(k, 0) : &B(0, k);
  index_t row_step = where == side::left ? 1 : leading;
  const index_t col_step = where == side::left ? leading : 1;
  const index_t cols = where == side::left ? B.cols() : B.rows();
  if (where == side::right) block = block.transposed();
  if (!block.stored_low) {
    block = reversed(block, n, n);
    first += (n - 1) * row_step;
    row_step = -row_step;
  }
  block.shape = structure::general;
  if (ones == diagonal::stored && !has_reciprocals(block, n)) {
    return divide_block(block, n, first, row_step, col_step, cols);
  }
  solve_block<Workers>(block, ones, n, first, row_step, col_step, cols);
}

}  // namespace

template <class Workers, scalar T>
void trsm_by(side where, triangle stored, op how, diagonal ones, T alpha, const_view<T> A,
             matrix_view<T> B) {
  scale_by<Workers>(alpha, B);
  if (B.empty() || alpha == T{}) return;
  const strided<T> t = triangular<T>(A, stored, how, ones);
  strided<T> whole = t;
  whole.shape = structure::general;
  const index_t order = A.rows();
  const index_t step = blocking<T>::depth();
  const bool forwards = t.stored_low == (where == side::left);
  const index_t blocks = (order + step - 1) / step;
  for (index_t b = 0; b < blocks; ++b) {
    const index_t k = (forwards ? b : blocks - 1 - b) * step;
    const index_t n = std::min(step, order - k);
    solve_diagonal<Workers>(where, t, ones, B, k, n);
    const index_t rest = forwards ? k + n : 0;
    const index_t left = forwards ? order - rest : k;
    if (left == 0) continue;
    if (where == side::left) {
      const strided<T> x{&B(k, 0), 1, B.leading()};
      multiply_add_by<Workers>(T{-1}, whole.block(rest, k), x, n, B.block(rest, 0, left, B.cols()));
    } else {
      const strided<T> x{&B(0, k), 1, B.leading()};
      multiply_add_by<Workers>(T{-1}, x, whole.block(k, rest), n, B.columns(rest, left));
    }
  }
}

namespace {

/// B = op(A) B or B op(A), halving the triangle until it is small enough to copy B.
template <scalar T>
bool is_finite(const matrix<T>& A) noexcept {
  bool finite = true;
  for (index_t j = 0; j < A.cols(); ++j) {
    const auto* const column = reinterpret_cast<const real<T>*>(&A(0, j));
    for (index_t i = 0; i < reals<T> * A.rows(); ++i) {
      finite &= std::abs(column[i]) <= std::numeric_limits<real<T>>::max();
    }
  }
  return finite;
}

/// B = op(T) before, or before op(T), without products by the zeros of T, which would turn Inf into
/// NaN in places that it does not reach.
template <scalar T>
void multiply_stored(side where, const strided<T>& t, const matrix<T>& before, matrix_view<T> B) {
  const bool left = where == side::left;
  for (index_t j = 0; j < B.cols(); ++j) {
    for (index_t i = 0; i < B.rows(); ++i) {
      // The row of T from the left, its column from the right.
      const index_t place = left ? i : j, order = left ? B.rows() : B.cols();
      const bool to_diagonal = t.stored_low == left;
      const index_t first = to_diagonal ? 0 : place, last = to_diagonal ? place + 1 : order;
      T sum{};
      for (index_t p = first; p < last; ++p) {
        sum += left ? t.at(i, p) * before(p, j) : before(i, p) * t.at(p, j);
      }
      B(i, j) = sum;
    }
  }
}

template <class Workers, scalar T>
void multiply_triangular(side where, const strided<T>& t, index_t order, matrix_view<T> B) {
  constexpr index_t small = 128;
  if (order <= small) {
    const matrix<T> before{const_view<T>(B)};
    if (!is_finite(before)) return multiply_stored(where, t, before, B);
    scale(T{}, B);
    const strided<T> b{before.data(), 1, before.leading()};
    return where == side::left ? multiply_add_by<Workers>(T{1}, t, b, order, B)
                               : multiply_add_by<Workers>(T{1}, b, t, order, B);
  }
  const index_t half = round_up(order / 2, 8);
  const index_t rest = order - half;
  const bool left = where == side::left;
  const matrix_view<T> first = left ? B.block(0, 0, half, B.cols()) : B.columns(0, half);
  const matrix_view<T> second = left ? B.block(half, 0, rest, B.cols()) : B.columns(half, rest);
  strided<T> across = t.stored_low ? t.block(half, 0) : t.block(0, half);
  across.shape = structure::general;
  const bool second_first = t.stored_low == left;  // the updated half goes first
  const matrix_view<T> to = second_first ? second : first;
  const matrix_view<T> from = second_first ? first : second;
  const strided<T> source{from.data(), 1, from.leading()};
  const index_t depth = second_first ? half : rest;
  if (second_first) {
    multiply_triangular<Workers>(where, t.block(half, half), rest, second);
  } else {
    multiply_triangular<Workers>(where, t, half, first);
  }
  if (left) {
    multiply_add_by<Workers>(T{1}, across, source, depth, to);
  } else {
    multiply_add_by<Workers>(T{1}, source, across, depth, to);
  }
  if (second_first) {
    multiply_triangular<Workers>(where, t, half, first);
  } else {
    multiply_triangular<Workers>(where, t.block(half, half), rest, second);
  }
}

}  // namespace

template <class Workers, scalar T>
void trmm_by(side where, triangle stored, op how, diagonal ones, T alpha, const_view<T> A,
             matrix_view<T> B) {
  scale_by<Workers>(alpha, B);
  if (B.empty() || alpha == T{}) return;
  multiply_triangular<Workers>(where, triangular<T>(A, stored, how, ones), A.rows(), B);
}

}  // namespace detail

using namespace detail;

template <scalar T>
void trsm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, input<T> A,
          matrix_view<T> B) {
  check_triangle("trsm", where, A, B);
  trsm_by<all_workers, T>(where, stored, how, ones, alpha, A, B);
}

template <scalar T>
void trmm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, input<T> A,
          matrix_view<T> B) {
  check_triangle("trmm", where, A, B);
  trmm_by<all_workers, T>(where, stored, how, ones, alpha, A, B);
}

#define CREEK_INSTANTIATE(letter, T)                                                               \
  template void detail::pack_triangle<T>(const strided<T>&, diagonal, index_t, real<T>*) noexcept; \
  template void detail::solve_packed<T>(const real<T>*, index_t, real<T>*, index_t) noexcept;      \
  template void detail::trsm_by<all_workers, T>(side, triangle, op, diagonal, T, const_view<T>,    \
                                                matrix_view<T>);                                   \
  template void detail::trsm_by<this_thread, T>(side, triangle, op, diagonal, T, const_view<T>,    \
                                                matrix_view<T>);                                   \
  template void detail::trmm_by<all_workers, T>(side, triangle, op, diagonal, T, const_view<T>,    \
                                                matrix_view<T>);                                   \
  template void detail::trmm_by<this_thread, T>(side, triangle, op, diagonal, T, const_view<T>,    \
                                                matrix_view<T>);                                   \
  template void trsm<T>(side, triangle, op, diagonal, T, const_view<T>, matrix_view<T>);           \
  template void trmm<T>(side, triangle, op, diagonal, T, const_view<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
