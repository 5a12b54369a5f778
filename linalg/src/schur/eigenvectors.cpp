// SPDX-License-Identifier: Apache-2.0
// Eigenvectors of a Schur form by substitution: for many of them at a time, block by block, so that
// most of the work is products. Groups of eigenvectors are independent, and shared by the workers.
// A vector that would overflow is scaled as a whole.
// Source: LAPACK's trevc3, with the limits of its laln2.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "kernels/product.hpp"
#include "small_reflector.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Rows per block of T, and eigenvectors per group.
constexpr index_t substitution_block = 32, vector_group = 64;
/// Maximum order for which vectors are formed in place, without memory.
constexpr index_t few_vectors = 32;

/// Quotient without overflow in between, for a divisor that is not 0.
template <class R>
std::complex<R> quotient(std::complex<R> a, std::complex<R> b) noexcept {
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    const R ratio = b.imag() / b.real(), divisor = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / divisor, (a.imag() - a.real() * ratio) / divisor};
  }
  const R ratio = b.real() / b.imag(), divisor = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / divisor, (a.imag() * ratio - a.real()) / divisor};
}
template <class R>
R quotient(R a, R b) noexcept {
  return a / b;
}

/// Column of X, the vectors in the basis of the Schur form: elements are of S, which is complex for
/// a conjugate pair of a real matrix. Its parts are then two columns.
template <scalar T, class S>
class vector_column {
 public:
  static constexpr bool is_pair = is_complex<S> && !is_complex<T>;

  vector_column(matrix_view<T> X, index_t at) noexcept
      : rows_(X.rows()), re_(X.column(at)), im_(is_pair ? X.column(at + 1) : nullptr) {}

  S get(index_t i) const noexcept {
    if constexpr (is_pair) {
      return {re_[i], im_[i]};
    } else {
      return re_[i];
    }
  }
  void set(index_t i, S x) const noexcept {
    if constexpr (is_pair) {
      re_[i] = x.real();
      im_[i] = x.imag();
    } else {
      re_[i] = x;
    }
  }
  void scale(real<T> by) const noexcept {
    for (index_t i = 0; i < rows_; ++i) re_[i] *= by;
    if constexpr (is_pair) {
      for (index_t i = 0; i < rows_; ++i) im_[i] *= by;
    }
  }
  /// Subtracts x times n elements of a column of T from rows at...
  void subtract_column(index_t n, const T* from, S x, index_t at) const noexcept {
    if constexpr (is_pair) {
      for (index_t i = 0; i < n; ++i) re_[at + i] -= from[i] * x.real();
      for (index_t i = 0; i < n; ++i) im_[at + i] -= from[i] * x.imag();
    } else {
      for (index_t i = 0; i < n; ++i) re_[at + i] -= times(from[i], x);
    }
  }
  /// Returns the sum of n elements of a column of T, conjugated, times rows at...
  S project_column(index_t n, const T* from, index_t at) const noexcept {
    if constexpr (is_pair) {
      T re{}, im{};
      for (index_t i = 0; i < n; ++i) re += from[i] * re_[at + i];
      for (index_t i = 0; i < n; ++i) im += from[i] * im_[at + i];
      return {re, im};
    } else {
      S sum{};
      for (index_t i = 0; i < n; ++i) sum += times(conjugated(from[i]), re_[at + i]);
      return sum;
    }
  }
  real<T> largest() const noexcept {
    real<T> most = 0;
    for (index_t i = 0; i < rows_; ++i) most = std::max(most, size_of(get(i)));
    return most;
  }

 private:
  index_t rows_;
  T* re_;
  T* im_;
};

/// Right or left eigenvectors of a Schur form.
template <scalar T>
class schur_vectors {
  using R = real<T>;

 public:
  /// `norms` has room for an element per column.
  schur_vectors(side which, const_view<T> A, R* norms) noexcept
      : A_(A), is_right_(which == side::right), norms_(norms) {
    const auto n = static_cast<R>(std::max<index_t>(1, A.rows()));
    small_ = safe_minimum<R> * (n / precision<R>);
    big_ = (1 - precision<R>) / small_;
    for (index_t j = 0; j < A.cols(); ++j) {
      R sum = 0;
      for (index_t i = 0; i < j; ++i) sum += size_of(A(i, j));
      norms[j] = sum;
      largest_norm_ = std::max(largest_norm_, sum);
    }
  }

  /// Returns whether rows at - 1 and at belong to one block.
  bool is_inside_block(index_t at) const noexcept {
    return !is_complex<T> && at > 0 && at < A_.rows() && A_(at, at - 1) != T{};
  }
  index_t border(index_t near) const noexcept { return is_inside_block(near) ? near + 1 : near; }

  /// Computes vectors [first, end), whose columns of X are zero, without products.
  void solve_own_rows(matrix_view<T> X, index_t first, index_t end) const noexcept {
    for_each_vector(first, end, [&](index_t at, auto lambda) {
      using S = decltype(lambda);
      const vector_column<T, S> x(X, at - first);
      const index_t rows = start(at, x);
      if (is_right_) {
        for (index_t i = at + rows - 1; i >= at; --i) {
          x.subtract_column(at - first, A_.column(i) + first, x.get(i), first);
        }
        solve_up(x, lambda, first, at);
      } else {
        solve_down(x, lambda, at, at + rows, end);
      }
    });
  }

  /// Computes rows [begin, rows_end) of vectors [first, end), after the products with their other
  /// rows.
  void solve_rows(matrix_view<T> X, index_t first, index_t end, index_t begin,
                  index_t rows_end) const noexcept {
    for_each_vector(first, end, [&](index_t at, auto lambda) {
      const vector_column<T, decltype(lambda)> x(X, at - first);
      if (is_right_) {
        solve_up(x, lambda, begin, rows_end);
      } else {
        solve_down(x, lambda, begin, begin, rows_end);
      }
    });
  }

  /// Computes vectors [first, end) into the columns of X, which are zero. One thread.
  void solve(matrix_view<T> X, index_t first, index_t end) const {
    solve_own_rows(X, first, end);
    const auto multiply = [&](index_t begin, index_t block_end, index_t to, index_t to_end) {
      const strided<T> x = strided_of<T>(X.block(begin, 0, block_end - begin, X.cols()), op::none);
      const strided<T> a =
          is_right_ ? strided_of<T>(A_.block(to, begin, to_end - to, block_end - begin), op::none)
                    : strided_of<T>(A_.block(begin, to, block_end - begin, to_end - to),
                                    op::conjugate_transpose);
      multiply_add_here(T{-1}, a, x, block_end - begin, X.block(to, 0, to_end - to, X.cols()));
    };
    const index_t n = A_.rows();
    if (is_right_) {
      index_t known = first;
      multiply(first, end, 0, first);
      while (known > 0) {
        const index_t begin = border(std::max<index_t>(0, known - substitution_block));
        solve_rows(X, first, end, begin, known);
        if (begin > 0) multiply(begin, known, 0, begin);
        known = begin;
      }
    } else {
      index_t known = end;
      if (end < n) multiply(first, end, end, n);
      while (known < n) {
        const index_t block_end = border(std::min(n, known + substitution_block));
        solve_rows(X, first, end, known, block_end);
        if (block_end < n) multiply(known, block_end, block_end, n);
        known = block_end;
      }
    }
  }

  /// Computes all vectors into X, which is zero, on all workers.
  void solve_all(matrix_view<T> X) const {
    const index_t n = A_.rows(), groups = (n + vector_group - 1) / vector_group;
    all_workers::for_each(groups, [this, X, n, groups](index_t group) {
      // The largest groups first.
      const index_t g = is_right_ ? groups - 1 - group : group;
      const index_t first = border(g * vector_group);
      const index_t end = border(std::min(n, (g + 1) * vector_group));
      const matrix_view<T> part = X.columns(first, end - first);
      solve(part, first, end);
      normalize(part, first, end);
    });
  }

  /// Scales each vector by its largest element, for what follows.
  void normalize(matrix_view<T> X, index_t first, index_t end) const noexcept {
    for_each_vector(first, end, [&](index_t at, auto lambda) {
      const vector_column<T, decltype(lambda)> x(X, at - first);
      const R most = x.largest();
      if (most > 0 && std::isfinite(1 / most)) x.scale(1 / most);
    });
  }

 private:
  /// Calls f(first row, eigenvalue) for each vector in [first, end), or pair of them.
  template <class F>
  void for_each_vector(index_t first, index_t end, F f) const {
    for (index_t at = first; at < end; ++at) {
      if constexpr (!is_complex<T>) {
        if (is_inside_block(at + 1)) {
          const R im = std::sqrt(std::abs(A_(at, at + 1))) * std::sqrt(std::abs(A_(at + 1, at)));
          // The transposed system of a left vector has the conjugate one.
          f(at, std::complex<R>(A_(at, at), is_right_ ? im : -im));
          ++at;
          continue;
        }
      }
      f(at, A_(at, at));
    }
  }

  /// Sets the elements of the vector in the rows of its own eigenvalue; returns their number.
  template <class S>
  index_t start(index_t at, const vector_column<T, S>& x) const noexcept {
    if constexpr (!vector_column<T, S>::is_pair) {
      x.set(at, S{1});
      return 1;
    } else {
      const R above = A_(at, at + 1), below = A_(at + 1, at);
      const R im = std::sqrt(std::abs(above)) * std::sqrt(std::abs(below));
      const bool by_above = std::abs(above) >= std::abs(below);
      if (is_right_) {
        x.set(at, by_above ? R{1} : -im / below);
        x.set(at + 1, S(0, by_above ? im / above : R{1}));
      } else {
        x.set(at, by_above ? im / above : R{1});
        x.set(at + 1, S(0, by_above ? R{1} : -im / below));
      }
      return 2;
    }
  }

  template <class S>
  R min_pivot(S lambda) const noexcept {
    return std::max(precision<R> * size_of(lambda), small_);
  }

  /// Keeps the quotient of b and a pivot of that size in range by scaling x.
  template <class S>
  bool scale_before(const vector_column<T, S>& x, R b, R pivot) const noexcept {
    constexpr R largest = R(0.5) / safe_minimum<R>;
    if (!(pivot < 1 && b > 1 && b > largest * pivot)) return false;
    x.scale(1 / b);
    return true;
  }
  /// Keeps products with the column of T in range. Returns the factor for the solution.
  template <class S>
  R scale_after(const vector_column<T, S>& x, R size, R norm) const noexcept {
    if (!(size > 1 && norm > big_ / size)) return 1;
    x.scale(1 / size);
    return 1 / size;
  }

  /// Solves (T - lambda) x = b for rows [begin, end) from the last to the first, and subtracts from
  /// those above them in these rows.
  template <class S>
  void solve_up(const vector_column<T, S>& x, S lambda, index_t begin, index_t end) const noexcept {
    const R least = min_pivot(lambda);
    for (index_t r = end - 1; r >= begin; --r) {
      if (!is_inside_block(r)) {
        S pivot = S(A_(r, r)) - lambda;
        if (!(size_of(pivot) >= least)) pivot = S(least);
        scale_before(x, size_of(x.get(r)), size_of(pivot));
        S value = quotient(x.get(r), pivot);
        value *= scale_after(x, size_of(value), norms_[r]);
        x.set(r, value);
        x.subtract_column(r - begin, A_.column(r) + begin, value, begin);
        continue;
      }
      if constexpr (!is_complex<T>) {
        const index_t s = r - 1;
        S y[2] = {x.get(s), x.get(r)};
        solve_block(x, A_(s, s), A_(s, r), A_(r, s), A_(r, r), lambda, least, y);
        const R size = std::max(size_of(y[0]), size_of(y[1]));
        const R factor = scale_after(x, size, std::max(norms_[s], norms_[r]));
        x.set(s, y[0] * factor);
        x.set(r, y[1] * factor);
        x.subtract_column(s - begin, A_.column(s) + begin, y[0] * factor, begin);
        x.subtract_column(s - begin, A_.column(r) + begin, y[1] * factor, begin);
        r = s;
      }
    }
  }

  /// Solves (T - lambda)^H x = b for rows [begin, end) from the first to the last; rows [known,
  /// begin) are solved and have not been subtracted yet.
  template <class S>
  void solve_down(const vector_column<T, S>& x, S lambda, index_t known, index_t begin,
                  index_t end) const noexcept {
    const R least = min_pivot(lambda);
    // Sums with solved rows stay in range.
    const R most = x.largest();
    if (most > 1 && largest_norm_ > big_ / most) x.scale(1 / most);
    for (index_t r = begin; r < end; ++r) {
      if (!is_inside_block(r + 1)) {
        const S b = x.get(r) - x.project_column(r - known, A_.column(r) + known, known);
        x.set(r, b);
        S pivot;
        if constexpr (is_complex<T>) {
          pivot = std::conj(A_(r, r) - lambda);
        } else {
          pivot = S(A_(r, r)) - lambda;
        }
        if (!(size_of(pivot) >= least)) pivot = S(least);
        scale_before(x, size_of(b), size_of(pivot));
        S value = quotient(x.get(r), pivot);
        value *= scale_after(x, size_of(value), largest_norm_);
        x.set(r, value);
        continue;
      }
      if constexpr (!is_complex<T>) {
        const index_t s = r + 1;
        x.set(r, x.get(r) - x.project_column(r - known, A_.column(r) + known, known));
        x.set(s, x.get(s) - x.project_column(r - known, A_.column(s) + known, known));
        S y[2] = {x.get(r), x.get(s)};
        solve_block(x, A_(r, r), A_(s, r), A_(r, s), A_(s, s), lambda, least, y);
        const R factor = scale_after(x, std::max(size_of(y[0]), size_of(y[1])), largest_norm_);
        x.set(r, y[0] * factor);
        x.set(s, y[1] * factor);
        r = s;
      }
    }
  }

  /// Solves ([a b; c d] - lambda) y = y with complete pivoting.
  template <class S>
  void solve_block(const vector_column<T, S>& x, R a, R b, R c, R d, S lambda, R least,
                   S (&y)[2]) const noexcept {
    S m[2][2] = {{S(a) - lambda, S(b)}, {S(c), S(d) - lambda}};
    int row = 0, col = 0;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (size_of(m[i][j]) > size_of(m[row][col])) row = i, col = j;
      }
    }
    S pivot = m[row][col];
    if (!(size_of(pivot) >= least)) pivot = S(least);
    const S across = m[row][1 - col], below = quotient(m[1 - row][col], pivot);
    S last = m[1 - row][1 - col] - times(below, across);
    if (!(size_of(last) >= least)) last = S(least);
    S first = y[row], second = y[1 - row] - times(below, first);
    const R bound = std::max(size_of(first) * (size_of(last) / size_of(pivot)), size_of(second));
    if (scale_before(x, bound, size_of(last))) {
      first *= 1 / bound;
      second *= 1 / bound;
    }
    y[1 - col] = quotient(second, last);
    y[col] = quotient(first, pivot) - times(quotient(across, pivot), y[1 - col]);
  }

  const_view<T> A_;
  bool is_right_;
  R* norms_;
  R largest_norm_ = 0;
  R small_ = 0, big_ = 0;
};

/// V = V X for a triangular X, without memory.
template <scalar T>
void multiply_triangular(const_view<T> X, bool is_upper, matrix_view<T> V) noexcept {
  const index_t n = X.rows();
  for (index_t step = 0; step < n; ++step) {
    const index_t j = is_upper ? n - 1 - step : step;
    T* const to = V.column(j);
    const T own = X(j, j);
    for (index_t i = 0; i < V.rows(); ++i) to[i] = times(to[i], own);
    const index_t from = is_upper ? 0 : j + 1, end = is_upper ? j : n;
    for (index_t p = from; p < end; ++p) {
      const T weight = X(p, j);
      const T* const column = V.column(p);
      for (index_t i = 0; i < V.rows(); ++i) to[i] += times(column[i], weight);
    }
  }
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void trevc(side which, input<T> A, matrix_view<T> V) {
  const index_t n = A.rows();
  require(A.cols() == n && V.cols() == n, "trevc",
          "A must be square, and V have a column per column of A");
  if (n == 0) return;
  const bool is_upper = which == side::right;
  if (n <= few_vectors) {
    std::array<T, few_vectors * few_vectors> elements;
    std::array<real<T>, few_vectors> norms;
    std::fill_n(elements.data(), n * n, T{});
    const matrix_view<T> X(elements.data(), n, n, n);
    const schur_vectors<T> vectors(which, A, norms.data());
    vectors.solve_own_rows(X, 0, n);
    vectors.normalize(X, 0, n);
    return multiply_triangular<T>(X, is_upper, V);
  }
  matrix<T> X(n, n);
  std::vector<real<T>> norms(static_cast<std::size_t>(n));
  const schur_vectors<T> vectors(which, A, norms.data());
  vectors.solve_all(X.view());
  trmm(side::right, is_upper ? triangle::upper : triangle::lower, op::none, diagonal::stored, T{1},
       X.view(), V);
}

#define CREEK_INSTANTIATE(letter, T) template void trevc<T>(side, const_view<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
