// SPDX-License-Identifier: Apache-2.0
// Half of the operations of this reduction are matrix-vector products with the matrix that is left,
// one by u and one by v per column, which are limited by memory. v depends on the first product,
// but only its norm depends on all of it: A v follows from A x, where x is the row that v is made
// from, and A x can be summed while the columns are still in the cache. So the matrix is read once.
// Source: [Howell 2008].
#include "bidiagonal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "blas3/workers.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "qr/reflectors.hpp"
#include "reflector_columns.hpp"

namespace creek::linalg::detail {
namespace {
namespace bidiagonal {

/// Columns per panel, and the order from which the rest is reduced without panels.
constexpr index_t panel_columns = 32;
constexpr index_t unblocked_order = 32;

/// Runs body(first, count) for pieces of a range, which depend on its length only. Returns the
/// number of pieces.
constexpr index_t max_pieces = 16;
constexpr index_t piece_count(index_t length, index_t least) noexcept {
  return std::clamp<index_t>(length / least, 1, max_pieces);
}
template <class Body>
void for_pieces(index_t length, index_t pieces, const Body& body) {
  const index_t step = round_up((length + pieces - 1) / pieces, 8);
  all_workers::for_each(pieces, [&](index_t piece) {
    const index_t first = std::min(length, piece * step);
    body(piece, first, std::min(step, length - first));
  });
}

/// A reflector's map of x to (beta, 0): v = (x - beta e1) / divisor.
template <scalar T>
struct reflection {
  T beta{};
  T divisor{};
  T tau{};

  /// Replaces x[0, n) by v, whose first element is 1.
  static reflection make(index_t n, T* x) {
    const T alpha = x[0];
    reflection made;
    made.beta = alpha;
    made.tau = make_reflector(made.beta, n - 1, x + 1);
    made.divisor = alpha - made.beta;
    x[0] = T{1};
    return made;
  }
  /// Returns whether a product with v may be computed from that with x.
  bool is_linear() const noexcept {
    using limits = std::numeric_limits<real<T>>;
    const real<T> size = std::abs(divisor);
    return size > std::sqrt(limits::min()) / limits::epsilon() &&
           size < std::sqrt(limits::max()) * limits::epsilon();
  }
};

template <scalar T>
void project(index_t rows, index_t cols, const T* a, index_t step, const T* x, T* y) noexcept {
  project_on<T>({a, rows, cols, std::max(rows, step)}, x, y);
}
template <scalar T>
void subtract(index_t rows, index_t cols, const T* a, index_t step, const T* x, T* y) noexcept {
  subtract_product<T>({a, rows, cols, std::max(rows, step)}, x, y);
}

/// One panel of columns, reduced with the rows that belong to them. The rest of the matrix is that
/// before the panel, minus U Y^H + X V^H, where U and V are the vectors of the reflectors.
template <scalar T>
class panel {
 public:
  panel(matrix_view<T> A, index_t width)
      : A_(A),
        m_(A.rows()),
        n_(A.cols()),
        width_(width),
        ld_y_(round_up(n_, 16) + 8),
        ld_x_(round_up(m_, 16) + 8),
        memory_(2 * width * (ld_y_ + ld_x_) + max_pieces * (ld_x_ + 2 * width) + 4 * width) {
    T* next = memory_.data();
    const auto take = [&next](index_t count) { return std::exchange(next, next + count); };
    y_ = take(width * ld_y_);
    v_ = take(width * ld_y_);
    u_ = take(width * ld_x_);
    x_ = take(width * ld_x_);
    sums_ = take(max_pieces * ld_x_);
    partial_ = take(max_pieces * 2 * width);
    by_u_ = take(width);
    by_x_ = take(width);
    by_y_ = take(width);
    by_v_ = take(width);
  }

  void reduce(real<T>* d, real<T>* e, T* tau_q, T* tau_p) {
    auto column = reflection<T>::make(m_, A_.column(0));
    for (index_t i = 0;; ++i) {
      d[i] = std::real(column.beta);
      tau_q[i] = column.tau;
      multiply_by_both(i, column.tau);
      const auto row = reflection<T>::make(n_ - i - 1, v(i + 1, i));
      e[i] = std::real(row.beta);
      tau_p[i] = row.tau;
      finish_right_sums(i, row);
      finish_rows(i, row);
      if (i + 1 == width_) break;
      column = reflection<T>::make(m_ - i - 1, &A_(i + 1, i + 1));
      finish_left_sums(i + 1, column);
    }
    update_rest();
    for (index_t j = 0; j < n_; ++j) {
      for (index_t i = 0; i < std::min(j, width_); ++i) A_(i, j) = conjugated(*v(j, i));
    }
    for (index_t i = 0; i < width_; ++i) {
      A_(i, i) = d[i];
      A_(i, i + 1) = e[i];
    }
  }

 private:
  T* y(index_t j, index_t p) const noexcept { return y_ + j + p * ld_y_; }
  T* v(index_t j, index_t p) const noexcept { return v_ + j + p * ld_y_; }
  T* x(index_t i, index_t p) const noexcept { return x_ + i + p * ld_x_; }
  T* sums(index_t piece) const noexcept { return sums_ + piece * ld_x_; }
  T* partial(index_t piece) const noexcept { return partial_ + piece * 2 * width_; }

  /// Computes column i of Y, row i of the matrix (conjugated, into column i of V) and, per piece,
  /// minus the product of the matrix with that row and those of Y^H and V^H with it.
  void multiply_by_both(index_t i, T tau) {
    const index_t first = i + 1, cols = n_ - first, rows = m_ - i;
    for (index_t p = 0; p <= i; ++p) {
      row_of_u_[static_cast<std::size_t>(p)] = conjugated(A_(i, p));
      row_of_x_[static_cast<std::size_t>(p)] = p < i ? conjugated(*x(i, p)) : T{};
    }
    const index_t fit = (index_t{384} << 10) / static_cast<index_t>(sizeof(T)) / rows;
    const index_t strip = std::clamp<index_t>(fit / 8 * 8, 8, 64);
    pieces_ = piece_count(cols * rows, 16384);
    for_pieces(cols, pieces_, [&](index_t piece, index_t from, index_t count) {
      T* const w = sums(piece);
      std::fill_n(w + i + 1, rows - 1, T{});
      for (index_t c = 0; c < count; c += strip) {
        multiply_strip(i, first + from + c, std::min(strip, count - c), tau, w);
      }
      if (count == 0) {
        std::fill_n(partial(piece), 2 * width_, T{});
        return;
      }
      const T* const part = v(first + from, i);
      project(count, i + 1, y(first + from, 0), ld_y_, part, partial(piece));
      project(count, i, v(first + from, 0), ld_y_, part, partial(piece) + width_);
    });
  }

  void multiply_strip(index_t i, index_t j, index_t count, T tau, T* w) const {
    T* const to_y = y(j, i);
    T* const to_v = v(j, i);
    project(m_ - i, count, &A_(i, j), A_.leading(), &A_(i, i), to_y);
    subtract(count, i, y(j, 0), ld_y_, by_u_, to_y);
    subtract(count, i, v(j, 0), ld_y_, by_x_, to_y);
    for (index_t c = 0; c < count; ++c) {
      to_y[c] *= tau;
      to_v[c] = conjugated(A_(i, j + c));
    }
    subtract(count, i + 1, y(j, 0), ld_y_, row_of_u_.data(), to_v);
    subtract(count, i, v(j, 0), ld_y_, row_of_x_.data(), to_v);
    subtract(m_ - i - 1, count, &A_(i + 1, j), A_.leading(), to_v, w + i + 1);
  }

  /// by_y, by_v = Y^H v and V^H v from the sums over the pieces.
  void finish_right_sums(index_t i, const reflection<T>& row) {
    is_linear_ = row.is_linear();
    if (!is_linear_) {
      project(n_ - i - 1, i + 1, y(i + 1, 0), ld_y_, v(i + 1, i), by_y_);
      project(n_ - i - 1, i, v(i + 1, 0), ld_y_, v(i + 1, i), by_v_);
      return;
    }
    add_partial(i + 1, i, by_y_, by_v_, pieces_);
    for (index_t p = 0; p <= i; ++p) {
      by_y_[p] = (by_y_[p] - row.beta * conjugated(*y(i + 1, p))) / row.divisor;
      if (p < i) by_v_[p] = (by_v_[p] - row.beta * conjugated(*v(i + 1, p))) / row.divisor;
    }
  }

  void add_partial(index_t first, index_t second, T* to_first, T* to_second, index_t pieces) const {
    for (index_t p = 0; p < first; ++p) {
      to_first[p] = T{};
      for (index_t piece = 0; piece < pieces; ++piece) to_first[p] += partial(piece)[p];
    }
    for (index_t p = 0; p < second; ++p) {
      to_second[p] = T{};
      for (index_t piece = 0; piece < pieces; ++piece) to_second[p] += partial(piece)[width_ + p];
    }
  }

  /// Computes column i of X and the next column of the matrix, and its products with U and X.
  void finish_rows(index_t i, const reflection<T>& row) {
    const index_t first = i + 1, rows = m_ - first;
    const bool has_next = i + 1 < width_;
    for (index_t p = 0; p <= i && has_next; ++p) {
      row_of_u_[static_cast<std::size_t>(p)] = conjugated(*y(first, p));
      row_of_x_[static_cast<std::size_t>(p)] = conjugated(*v(first, p));
    }
    const index_t sums_of = pieces_;
    pieces_ = piece_count(rows * (6 * i + sums_of), 16384);
    for_pieces(rows, pieces_, [&](index_t piece, index_t from, index_t count) {
      if (count == 0) {
        std::fill_n(partial(piece), 2 * width_, T{});
        return;
      }
      const index_t r = first + from;
      T* const to = x(r, i);
      if (is_linear_) {
        const T factor = T{-1} / row.divisor;
        std::copy_n(sums(0) + r, count, to);
        for (index_t s = 1; s < sums_of; ++s) {
          const T* const more = sums(s) + r;
          for (index_t k = 0; k < count; ++k) to[k] += more[k];
        }
        const T weight = -row.beta;
        subtract(count, 1, &A_(r, first), 0, &weight, to);
        for (index_t k = 0; k < count; ++k) to[k] *= factor;
      } else {
        std::fill_n(to, count, T{});
        subtract(count, n_ - first, &A_(r, first), A_.leading(), v(first, i), to);
        for (index_t k = 0; k < count; ++k) to[k] = -to[k];
      }
      subtract(count, i + 1, &A_(r, 0), A_.leading(), by_y_, to);
      subtract(count, i, x(r, 0), ld_x_, by_v_, to);
      for (index_t k = 0; k < count; ++k) to[k] *= row.tau;
      if (!has_next) return;
      T* const next = &A_(r, first);
      subtract(count, i + 1, &A_(r, 0), A_.leading(), row_of_u_.data(), next);
      subtract(count, i + 1, x(r, 0), ld_x_, row_of_x_.data(), next);
      project(count, i + 1, &A_(r, 0), A_.leading(), next, partial(piece));
      project(count, i + 1, x(r, 0), ld_x_, next, partial(piece) + width_);
    });
  }

  /// by_u, by_x = U^H u and X^H u from the sums over the pieces; u is in column i.
  void finish_left_sums(index_t i, const reflection<T>& column) {
    if (!column.is_linear()) {
      project(m_ - i, i, &A_(i, 0), A_.leading(), &A_(i, i), by_u_);
      project(m_ - i, i, x(i, 0), ld_x_, &A_(i, i), by_x_);
      return;
    }
    add_partial(i, i, by_u_, by_x_, pieces_);
    for (index_t p = 0; p < i; ++p) {
      by_u_[p] = (by_u_[p] - column.beta * conjugated(A_(i, p))) / column.divisor;
      by_x_[p] = (by_x_[p] - column.beta * conjugated(*x(i, p))) / column.divisor;
    }
  }

  void update_rest() const {
    const index_t rows = m_ - width_, cols = n_ - width_;
    for (index_t p = 0; p < width_; ++p) {
      std::copy_n(&A_(width_, p), rows, u_ + width_ + p * ld_x_);
    }
    const strided<T> left{u_ + width_, 1, ld_x_};
    strided<T> right{y(width_, 0), ld_y_, 1};
    right.conjugate = is_complex<T>;
    multiply_add(T{-1}, left, right, 2 * width_, A_.block(width_, width_, rows, cols));
  }

  matrix_view<T> A_;
  index_t m_, n_, width_;
  index_t ld_y_, ld_x_;
  pack_array<T> memory_;
  T* y_;
  T* v_;        // follows Y
  T* u_;        // U, copied for the update at the end
  T* x_;        // follows u_
  T* sums_;     // per piece
  T* partial_;  // per piece
  T* by_u_;
  T* by_x_;
  T* by_y_;
  T* by_v_;
  std::array<T, panel_columns> row_of_u_{}, row_of_x_{};
  index_t pieces_ = 1;
  bool is_linear_ = true;
};

/// Reduces the matrix reflector by reflector. `work` has m elements.
template <scalar T>
void reduce_singly(matrix_view<T> A, real<T>* d, real<T>* e, T* tau_q, T* tau_p, T* work) {
  const index_t m = A.rows(), n = A.cols();
  T v[unblocked_order], y[unblocked_order];
  for (index_t i = 0; i < n; ++i) {
    T* const column = &A(i, i);
    const index_t below = m - i - 1, right = n - i - 1;
    tau_q[i] = make_reflector(column[0], below, column + 1);
    d[i] = std::real(column[0]);
    if (right == 0) {
      tau_p[i] = T{};
      continue;
    }
    if (tau_q[i] != T{}) {
      column[0] = T{1};
      apply_whole_reflector(column, conjugated(tau_q[i]), A.block(i, i + 1, below + 1, right), y);
      column[0] = d[i];
    }
    for (index_t j = 0; j < right; ++j) v[j] = conjugated(A(i, i + 1 + j));
    tau_p[i] = make_reflector(v[0], right - 1, v + 1);
    e[i] = std::real(v[0]);
    v[0] = T{1};
    if (tau_p[i] != T{} && below > 0) {
      const matrix_view<T> rest = A.block(i + 1, i + 1, below, right);
      std::fill_n(work, below, T{});
      subtract_product<T>(rest, v, work);
      for (index_t j = 0; j < right; ++j) y[j] = -tau_p[i] * conjugated(v[j]);
      subtract_outer<T>(work, y, rest);
    }
    for (index_t j = 1; j < right; ++j) A(i, i + 1 + j) = conjugated(v[j]);
    A(i, i + 1) = e[i];
  }
}

}  // namespace bidiagonal
}  // namespace

template <scalar T>
void reduce_to_bidiagonal(matrix_view<T> A, real<T>* d, real<T>* e, T* tau_q, T* tau_p) {
  using namespace bidiagonal;
  while (A.cols() > unblocked_order) {
    const index_t width = std::min(panel_columns, A.cols() - unblocked_order);
    panel<T>(A, width).reduce(d, e, tau_q, tau_p);
    A = A.block(width, width, A.rows() - width, A.cols() - width);
    d += width;
    e += width;
    tau_q += width;
    tau_p += width;
  }
  constexpr index_t on_stack = 64;
  if (A.rows() <= on_stack) {
    std::array<T, on_stack> work;
    reduce_singly(A, d, e, tau_q, tau_p, work.data());
  } else {
    reduce_singly(A, d, e, tau_q, tau_p, pack_array<T>(A.rows()).data());
  }
}

#define CREEK_INSTANTIATE(letter, T) \
  template void reduce_to_bidiagonal<T>(matrix_view<T>, real<T>*, real<T>*, T*, T*);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
