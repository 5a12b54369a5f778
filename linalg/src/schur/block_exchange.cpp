// SPDX-License-Identifier: Apache-2.0
// Exchange of diagonal blocks of a Schur form by unitary similarity transformations.
#include <algorithm>
#include <cmath>

#include "multishift.hpp"
#include "small_reflector.hpp"

namespace creek::linalg::detail {
namespace {

/// A matrix of at most 4 x 4, in columns.
template <class R>
struct tiny_matrix {
  R at[4][4] = {};
  R& operator()(int i, int j) noexcept { return at[j][i]; }

  R largest(int n) const noexcept {
    R most = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) most = std::max(most, std::abs(at[j][i]));
    }
    return most;
  }
};

/// Solves a x = scale b with complete pivoting, where pivots below `least` count as that; b becomes
/// x. Returns the scale, at most 1, which keeps x from overflow.
template <class R>
R solve_tiny(int n, tiny_matrix<R>& a, R* b, R least) noexcept {
  int order[4] = {0, 1, 2, 3};
  for (int k = 0; k < n; ++k) {
    int row = k, col = k;
    for (int j = k; j < n; ++j) {
      for (int i = k; i < n; ++i) {
        if (std::abs(a(i, j)) > std::abs(a(row, col))) row = i, col = j;
      }
    }
    if (row != k) {
      for (int j = 0; j < n; ++j) std::swap(a(row, j), a(k, j));
      std::swap(b[row], b[k]);
    }
    if (col != k) {
      for (int i = 0; i < n; ++i) std::swap(a(i, col), a(i, k));
      std::swap(order[col], order[k]);
    }
    if (!(std::abs(a(k, k)) >= least)) a(k, k) = least;
    for (int i = k + 1; i < n; ++i) {
      const R factor = a(i, k) / a(k, k);
      b[i] -= factor * b[k];
      for (int j = k + 1; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  R scale = 1, most = 0;
  bool overflows = false;
  for (int k = 0; k < n; ++k) {
    most = std::max(most, std::abs(b[k]));
    overflows |= 8 * (safe_minimum<R> / precision<R>)*std::abs(b[k]) > std::abs(a(k, k));
  }
  if (overflows) {
    scale = R(0.125) / most;
    for (int k = 0; k < n; ++k) b[k] *= scale;
  }
  R x[4];
  for (int k = n - 1; k >= 0; --k) {
    R sum = b[k];
    for (int j = k + 1; j < n; ++j) sum -= a(k, j) * x[j];
    x[k] = sum / a(k, k);
  }
  for (int k = 0; k < n; ++k) b[order[k]] = x[k];
  return scale;
}

/// Exchanges neighbouring diagonal blocks of a real quasi-triangular matrix.
template <class R>
class block_exchange {
 public:
  block_exchange(matrix_view<R> A, matrix_view<R> Q) : A_(A), Q_(Q) {}

  index_t block_size(index_t at) const noexcept {
    return at + 1 < A_.rows() && A_(at + 1, at) != 0 ? 2 : 1;
  }
  index_t block_size_above(index_t at) const noexcept {
    return at >= 2 && A_(at - 1, at - 2) != 0 ? 2 : 1;
  }

  /// Exchanges the blocks of n1 rows at `at` and of n2 rows below it. Returns false, and changes
  /// nothing, if they are too close.
  bool exchange(index_t at, index_t n1, index_t n2) noexcept {
    if (n1 == 1 && n2 == 1) {
      exchange_rows(at);
      return true;
    }
    const int first = static_cast<int>(n1), second = static_cast<int>(n2), n = first + second;
    tiny_matrix<R> d;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) d(i, j) = A_(at + i, at + j);
    }
    const R size = d.largest(n);
    const R tolerance = std::max(10 * precision<R> * size, safe_minimum<R> / precision<R>);
    small_reflector<R> by[2];
    make_reflectors(first, second, d, by);
    const auto view = [&] { return matrix_view<R>(&d.at[0][0], 4, 4, 4); };
    for (int p = 0; p < second; ++p) {
      apply(by[p], first, view(), p, 0, n);
    }
    for (int j = 0; j < second; ++j) {
      for (int i = second; i < n; ++i) {
        if (!(std::abs(d(i, j)) <= tolerance)) return false;
      }
    }
    const R above = A_(at, at), below = A_(at + n - 1, at + n - 1);
    if (first == 1 && !(std::abs(d(n - 1, n - 1) - above) <= tolerance)) return false;
    if (second == 1 && !(std::abs(d(0, 0) - below) <= tolerance)) return false;
    for (int p = 0; p < second; ++p) {
      apply(by[p], first, A_, at + p, at, at + n);
      if (Q_.rows() > 0) apply_right(by[p], first, Q_, at + p, Q_.rows());
    }
    for (int j = 0; j < second; ++j) {
      for (int i = second; i < n; ++i) A_(at + i, at + j) = 0;
    }
    if (first == 1) A_(at + n - 1, at + n - 1) = above;
    if (second == 1) A_(at, at) = below;
    if (second == 2) standardize(at);
    if (first == 2) standardize(at + second);
    return true;
  }

 private:
  void exchange_rows(index_t at) noexcept {
    const R first = A_(at, at), second = A_(at + 1, at + 1);
    rotation<R> turn;
    turn.make(A_(at, at + 1), second - first);
    if (at + 2 < A_.cols()) {
      turn.apply(A_.cols() - at - 2, &A_(at, at + 2), &A_(at + 1, at + 2), A_.leading());
    }
    turn.apply(at, A_.column(at), A_.column(at + 1));
    A_(at, at) = second;
    A_(at + 1, at + 1) = first;
    if (Q_.rows() > 0) turn.apply(Q_.rows(), Q_.column(at), Q_.column(at + 1));
  }

  /// Makes the reflectors whose product maps [-X; scale I] to a triangle, where A11 X - X A22 =
  /// scale A12: its first columns span the invariant subspace of the block below.
  static void make_reflectors(int n1, int n2, tiny_matrix<R>& d, small_reflector<R>* by) noexcept {
    tiny_matrix<R> system;
    R x[4] = {};
    for (int j = 0; j < n2; ++j) {
      for (int i = 0; i < n1; ++i) {
        const int row = i + n1 * j;
        x[row] = d(i, n1 + j);
        for (int k = 0; k < n1; ++k) system(row, k + n1 * j) += d(i, k);
        for (int k = 0; k < n2; ++k) system(row, i + n1 * k) -= d(n1 + k, n1 + j);
      }
    }
    const int order = n1 * n2;
    const R least = std::max(precision<R> * d.largest(n1 + n2), safe_minimum<R> / precision<R>);
    const R scale = solve_tiny(order, system, x, least);
    R columns[2][4] = {};
    for (int j = 0; j < n2; ++j) {
      for (int i = 0; i < n1; ++i) columns[j][i] = -x[i + n1 * j];
      columns[j][n1 + j] = scale;
    }
    for (int p = 0; p < n2; ++p) {
      R* const c = columns[p] + p;
      by[p].make(c[0], c[1], n1 == 2 ? c[2] : R{});
      if (p + 1 < n2) {
        const matrix_view<R> next(columns[p + 1], 4, 1, 4);
        apply_left(by[p], n1, next, p, 0, 1);
      }
    }
  }

  static void apply_left(const small_reflector<R>& by, int n1, matrix_view<R> C, index_t at,
                         index_t from, index_t cols) noexcept {
    if (n1 == 2) {
      by.apply_left(cols, &C(at, from), C.leading());
    } else {
      by.apply_left_pair(cols, &C(at, from), C.leading());
    }
  }
  static void apply_right(const small_reflector<R>& by, int n1, matrix_view<R> C, index_t at,
                          index_t rows) noexcept {
    if (n1 == 2) {
      by.apply_right(rows, C.column(at), C.column(at + 1), C.column(at + 2));
    } else {
      by.apply_right(rows, C.column(at), C.column(at + 1));
    }
  }
  /// Applies a reflector to rows at... of the columns from `from` on, and to columns at... above
  /// row `end`.
  static void apply(const small_reflector<R>& by, int n1, matrix_view<R> C, index_t at,
                    index_t from, index_t end) noexcept {
    apply_left(by, n1, C, at, from, C.cols() - from);
    apply_right(by, n1, C, at, end);
  }

  void standardize(index_t at) noexcept {
    standard_block<R> block{A_(at, at), A_(at, at + 1), A_(at + 1, at), A_(at + 1, at + 1)};
    const rotation<R> turn = block.make();
    A_(at, at) = block.a;
    A_(at, at + 1) = block.b;
    A_(at + 1, at) = block.c;
    A_(at + 1, at + 1) = block.d;
    const index_t right = A_.cols() - at - 2;
    if (right > 0) turn.apply(right, &A_(at, at + 2), &A_(at + 1, at + 2), A_.leading());
    turn.apply(at, A_.column(at), A_.column(at + 1));
    if (Q_.rows() > 0) turn.apply(Q_.rows(), Q_.column(at), Q_.column(at + 1));
  }

  matrix_view<R> A_;
  matrix_view<R> Q_;
};

/// Moves one block, which may split into two of one row on its way.
template <class R>
class block_move {
 public:
  block_move(matrix_view<R> A, matrix_view<R> Q, index_t from)
      : blocks_(A, Q), at_(from), size_(blocks_.block_size(from)) {}

  index_t at() const noexcept { return at_; }
  index_t size() const noexcept { return size_; }

  /// Moves it down by one block. Returns false if that is not possible.
  bool down() noexcept {
    const index_t next = blocks_.block_size(at_ + size_);
    if (!split_) {
      if (!blocks_.exchange(at_, size_, next)) return false;
      at_ += next;
      split_ = size_ == 2 && blocks_.block_size(at_) == 1;
      return true;
    }
    // The lower row first.
    if (!blocks_.exchange(at_ + 1, 1, next)) return false;
    if (next == 1) {
      blocks_.exchange(at_, 1, 1);
    } else if (blocks_.block_size(at_ + 1) == 2) {
      if (!blocks_.exchange(at_, 1, 2)) return false;
    } else {
      blocks_.exchange(at_, 1, 1);
      blocks_.exchange(at_ + 1, 1, 1);
    }
    at_ += next;
    return true;
  }

  bool up() noexcept {
    const index_t next = blocks_.block_size_above(at_);
    if (!split_) {
      if (!blocks_.exchange(at_ - next, next, size_)) return false;
      at_ -= next;
      split_ = size_ == 2 && blocks_.block_size(at_) == 1;
      return true;
    }
    if (!blocks_.exchange(at_ - next, next, 1)) return false;
    if (next == 1) {
      blocks_.exchange(at_, 1, 1);
    } else if (blocks_.block_size(at_ - 1) == 2) {
      if (!blocks_.exchange(at_ - 1, 2, 1)) return false;
    } else {
      blocks_.exchange(at_, 1, 1);
      blocks_.exchange(at_ - 1, 1, 1);
    }
    at_ -= next;
    return true;
  }

 private:
  block_exchange<R> blocks_;
  index_t at_;
  index_t size_;
  bool split_ = false;
};

template <class R>
bool move_real_block(matrix_view<R> A, matrix_view<R> Q, index_t from, index_t& to) noexcept {
  if (from > 0 && A(from, from - 1) != 0) --from;
  if (to > 0 && A(to, to - 1) != 0) --to;
  const block_exchange<R> blocks(A, Q);
  block_move<R> move(A, Q, from);
  bool done = true;
  if (from < to) {
    // It ends where its last row is that of the block which was there.
    const index_t goal = to + blocks.block_size(to) - move.size();
    while (done && move.at() < goal) done = move.down();
  } else {
    while (done && move.at() > to) done = move.up();
  }
  to = move.at();
  return done;
}

template <scalar T>
void move_complex_row(matrix_view<T> A, matrix_view<T> Q, index_t from, index_t to) noexcept {
  const auto exchange = [&](index_t at) {
    const T first = A(at, at), second = A(at + 1, at + 1);
    rotation<T> turn, other;
    turn.make(A(at, at + 1), second - first);
    other.c = turn.c;
    other.s = std::conj(turn.s);
    if (at + 2 < A.cols()) {
      turn.apply(A.cols() - at - 2, &A(at, at + 2), &A(at + 1, at + 2), A.leading());
    }
    other.apply(at, A.column(at), A.column(at + 1));
    A(at, at) = second;
    A(at + 1, at + 1) = first;
    if (Q.rows() > 0) other.apply(Q.rows(), Q.column(at), Q.column(at + 1));
  };
  for (; from < to; ++from) exchange(from);
  for (; from > to; --from) exchange(from - 1);
}

}  // namespace

template <scalar T>
bool move_block(matrix_view<T> A, matrix_view<T> Q, index_t from, index_t& to) {
  if constexpr (is_complex<T>) {
    move_complex_row(A, Q, from, to);
    return true;
  } else {
    return move_real_block(A, Q, from, to);
  }
}

#define CREEK_INSTANTIATE(letter, T) \
  template bool move_block<T>(matrix_view<T>, matrix_view<T>, index_t, index_t&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
