// SPDX-License-Identifier: Apache-2.0
// A bidiagonal matrix is cut at a row into two halves, the first of which has one column more than
// rows. Their decompositions reduce the whole matrix to one with a single full row z and a diagonal
// below, whose singular values are roots of a secular equation. Elements of z that are tiny, and
// pairs of values that nearly agree, are deflated: they need no root.
// Source: [Gu 1995b].
#include "bidiagonal_divide.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <creek/linalg/blas3.hpp>

#include "bidiagonal_joint.hpp"
#include "bidiagonal_qr.hpp"
#include "blas3/workers.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "quotient_differences.hpp"

namespace creek::linalg::detail {
namespace {
namespace bidiagonal {

/// Order of the matrices that are not cut.
constexpr index_t leaf_order = 32;
/// Order from which the halves may be computed at the same time.
constexpr index_t forked_order = 128;

/// Rows [first, first + rows) of a bidiagonal matrix, with rows or rows + 1 columns.
struct span_of_rows {
  index_t first;
  index_t rows;
  bool extra;  ///< whether there is one column more than rows

  index_t cols() const noexcept { return rows + (extra ? 1 : 0); }
  index_t middle() const noexcept { return rows / 2; }
  span_of_rows upper() const noexcept { return {first, middle(), true}; }
  span_of_rows lower() const noexcept { return {first + middle() + 1, rows - middle() - 1, extra}; }
};

/// The state of one decomposition: values and, per span, their increasing order.
template <class R>
class bidiagonal_division {
 public:
  /// V has all rows of the vectors, or only the first and the last one of each span; in that case
  /// there is no U.
  bidiagonal_division(index_t n, R* d, R* e, matrix_view<R> U, matrix_view<R> V)
      : n_(n), d_(d), e_(e), U_(U), V_(V), order_(static_cast<std::size_t>(n)) {}

  index_t run() {
    solve({0, n_, false});
    return unconverged_.load(std::memory_order_relaxed);
  }
  /// Columns in increasing order of their values.
  const std::vector<index_t>& order() const noexcept { return order_; }

 private:
  bool only_ends() const noexcept { return U_.rows() == 0 && V_.rows() == 2; }
  /// The vectors of a span: its block of U or V, or the two rows of its columns.
  matrix_view<R> left(const span_of_rows& of) const noexcept {
    return only_ends() ? matrix_view<R>() : U_.block(of.first, of.first, of.rows, of.rows);
  }
  matrix_view<R> right(const span_of_rows& of) const noexcept {
    return only_ends() ? V_.columns(of.first, of.cols())
                       : V_.block(of.first, of.first, of.cols(), of.cols());
  }

  void solve(const span_of_rows& of) {
    if (of.rows <= leaf_order) return solve_leaf(of);
    const span_of_rows upper = of.upper(), lower = of.lower();
    if (of.rows >= forked_order) {
      all_workers::for_each(2, [&](index_t half) { solve(half == 0 ? upper : lower); });
    } else {
      solve(upper);
      solve(lower);
    }
    join(of, of.rows == n_);
  }

  void solve_leaf(const span_of_rows& of) {
    R* const d = d_ + of.first;
    const matrix_view<R> U = left(of), V = right(of);
    for (index_t j = 0; j < of.rows && !only_ends(); ++j) U(j, j) = 1;
    if (only_ends()) {
      V(0, 0) = V(1, of.cols() - 1) = 1;
    } else {
      for (index_t j = 0; j < of.cols(); ++j) V(j, j) = 1;
    }
    R e[leaf_order];  // the element behind the span belongs to the row of the cut
    std::copy_n(e_ + of.first, of.rows - (of.extra ? 0 : 1), e);
    if (of.extra) make_square(of.rows, d, e, columns_of(U), columns_of(V));
    unconverged_ += bidiagonal_qr(of.rows, d, e, columns_of(U), columns_of(V));
    sort(of);
  }

  /// Sets the order of a span by its values.
  void sort(const span_of_rows& of) {
    index_t* const order = order_.data() + of.first;
    const R* const d = d_ + of.first;
    std::iota(order, order + of.rows, index_t{0});
    std::sort(order, order + of.rows,
              [d](index_t a, index_t b) { return d[a] < d[b] || (d[a] == d[b] && a < b); });
  }

  /// Returns the columns of both halves, without that of the cut, by increasing values.
  std::vector<index_t> merged(const span_of_rows& of) const {
    const span_of_rows upper = of.upper(), lower = of.lower();
    const R* const d = d_ + of.first;
    std::vector<index_t> columns(static_cast<std::size_t>(of.rows - 1));
    const index_t* const first = order_.data() + of.first;
    std::vector<index_t> second(order_.data() + lower.first,
                                order_.data() + lower.first + lower.rows);
    for (index_t& c : second) c += upper.rows + 1;
    std::merge(first, first + upper.rows, second.begin(), second.end(), columns.begin(),
               [d](index_t a, index_t b) { return d[a] < d[b]; });
    return columns;
  }

  void join(const span_of_rows& of, bool is_whole) {
    const index_t cut = of.middle(), n = of.rows;
    R* const d = d_ + of.first;
    const matrix_view<R> U = left(of), V = right(of);
    R alpha = d[cut], beta = e_[of.first + cut];
    d[cut] = 0;
    R size = std::max(std::abs(alpha), std::abs(beta));
    for (index_t i = 0; i < n; ++i) size = std::max(size, d[i]);
    if (!(size > 0)) size = 1;
    alpha /= size;
    beta /= size;
    for (index_t i = 0; i < n; ++i) d[i] /= size;

    // The last row of the upper half's vectors, and the first one of the lower half's.
    const index_t last_row = only_ends() ? 1 : cut, first_row = only_ends() ? 0 : cut + 1;
    std::vector<R> z(static_cast<std::size_t>(n));
    for (index_t c = 0; c <= cut; ++c) z[at(c)] = alpha * V(last_row, c);
    for (index_t c = cut + 1; c < n; ++c) z[at(c)] = beta * V(first_row, c);
    R c = 1, s = 0;
    if (of.extra) {
      const R upper_weight = z[at(cut)], lower_weight = beta * V(first_row, n);
      const R length = std::hypot(upper_weight, lower_weight);
      if (length > 0) {
        c = upper_weight / length;
        s = lower_weight / length;
      }
      z[at(cut)] = length;
    }
    if (only_ends()) clear_far_ends(of, V);
    const rotated_columns<R> u = columns_of(U), v = columns_of(V);
    const bidiagonal_joint<R> made(cut, R{1}, merged(of), d, z.data(),
                                   [&](index_t i, index_t j, R c2, R s2) {
                                     u.rotate(i, j, c2, s2);
                                     v.rotate(i, j, c2, s2);
                                   });

    if (only_ends()) {
      if (!is_whole) join_ends(of, made, V, c, s);
    } else {
      join_left(of, made, U);
      join_right(of, made, V, c, s);
    }
    const index_t kept = made.kept();
    std::vector<R> values(static_cast<std::size_t>(n));
    for (index_t j = 0; j < kept; ++j) values[at(j)] = static_cast<R>(made.equation().value(j));
    for (index_t j = kept; j < n; ++j) values[at(j)] = d[made.deflated()[at(j - kept)]];
    for (index_t j = 0; j < n; ++j) d[j] = values[at(j)] * size;
    sort(of);
  }

  static std::size_t at(index_t i) noexcept { return static_cast<std::size_t>(i); }

  /// target = the part of the vectors in `rows` rows from `first` times the rows [from, from +
  /// depth) of the secular vectors.
  static void multiply(const bidiagonal_joint<R>& by, index_t first, index_t rows, index_t from,
                       index_t depth, const R* gathered, const_view<R> Q, matrix_view<R> target) {
    if (rows == 0) return;
    gemm(op::none, op::none, R{1}, const_view<R>(gathered, rows, depth, std::max<index_t>(1, rows)),
         Q.block(from, 0, depth, by.kept()), R{0}, target.block(first, 0, rows, by.kept()));
  }

  /// Calls body(j, v) for each singular vector v of the secular equation, made by make(j, v).
  template <class Make, class Body>
  static void for_each_vector(index_t count, const Make& make, const Body& body) {
    constexpr index_t grain = 32;
    all_workers::for_each((count + grain - 1) / grain, [&](index_t piece) {
      const pack_array<double> vector(count);
      const index_t end = std::min(count, (piece + 1) * grain);
      for (index_t j = piece * grain; j < end; ++j) {
        make(j, vector.data());
        body(j, vector.data());
      }
    });
  }

  /// Copies columns that are deflated behind the kept ones; `copies` has room for them.
  static void move_deflated(const bidiagonal_joint<R>& by, matrix_view<R> A,
                            matrix_view<R> copies) {
    for (index_t j = 0; j < copies.cols(); ++j) {
      std::copy_n(A.column(by.deflated()[at(j)]), A.rows(), copies.column(j));
    }
  }

  void join_left(const span_of_rows& of, const bidiagonal_joint<R>& by, matrix_view<R> U) const {
    const index_t cut = of.middle(), kept = by.kept(), below = of.rows - cut - 1;
    const index_t uppers = by.count(part_of_column::upper), boths = by.count(part_of_column::both),
                  lowers = by.count(part_of_column::lower);
    const index_t wide_upper = uppers + 1 + boths, wide_lower = boths + lowers;
    const index_t rest = static_cast<index_t>(by.deflated().size());
    const pack_array<R> memory(cut * wide_upper + below * wide_lower + of.rows * rest +
                               kept * kept);
    R* const upper_rows = memory.data();
    R* const lower_rows = upper_rows + cut * wide_upper;
    const matrix_view<R> copies(lower_rows + below * wide_lower, of.rows, rest, of.rows);
    const matrix_view<R> Q(copies.data() + of.rows * rest, kept, kept, kept);
    for (index_t r = 0; r < wide_upper; ++r) {
      if (r == uppers) {
        std::fill_n(upper_rows + r * cut, cut, R{0});  // the column of the cut
      } else {
        std::copy_n(U.column(by.column(r)), cut, upper_rows + r * cut);
      }
    }
    for (index_t r = 0; r < wide_lower; ++r) {
      std::copy_n(U.column(by.column(uppers + 1 + r)) + cut + 1, below, lower_rows + r * below);
    }
    move_deflated(by, U, copies);
    for_each_vector(
        kept, [&](index_t j, double* u) { by.equation().left_vector(j, u); },
        [&](index_t j, const double* u) {
          std::transform(u, u + kept, Q.column(j), [](double x) { return static_cast<R>(x); });
          U(cut, j) = Q(uppers, j);
        });
    multiply(by, 0, cut, 0, wide_upper, upper_rows, Q, U);
    multiply(by, cut + 1, below, uppers + 1, wide_lower, lower_rows, Q, U);
    copy<R>(copies, U.columns(kept, rest));
  }

  void join_right(const span_of_rows& of, const bidiagonal_joint<R>& by, matrix_view<R> V, R c,
                  R s) const {
    const index_t rows = of.cols(), kept = by.kept(), above = of.middle() + 1, below = rows - above;
    const index_t uppers = by.count(part_of_column::upper), boths = by.count(part_of_column::both),
                  lowers = by.count(part_of_column::lower);
    const index_t wide_upper = uppers + 1 + boths, wide_lower = 1 + boths + lowers;
    const index_t rest = static_cast<index_t>(by.deflated().size());
    const pack_array<R> memory(above * wide_upper + below * wide_lower + rows * rest + kept * kept);
    R* const upper_rows = memory.data();
    R* const lower_rows = upper_rows + above * wide_upper;
    const matrix_view<R> copies(lower_rows + below * wide_lower, rows, rest, rows);
    const matrix_view<R> Q(copies.data() + rows * rest, kept, kept, kept);
    for (index_t r = 0; r < wide_upper; ++r) {
      std::copy_n(V.column(by.column(r)), above, upper_rows + r * above);
    }
    for (index_t r = 0; r < wide_lower; ++r) {
      std::copy_n(V.column(by.column(uppers + r)) + above, below, lower_rows + r * below);
    }
    // The null vectors of both halves make one of the whole and the column of the cut.
    R* const null_above = upper_rows + uppers * above;
    if (of.extra) {
      R* const null = V.column(rows - 1);
      for (index_t i = 0; i < above; ++i) {
        null[i] = -s * null_above[i];
        null_above[i] *= c;
      }
      for (index_t i = 0; i < below; ++i) {
        lower_rows[i] = s * null[above + i];
        null[above + i] *= c;
      }
    } else {
      std::fill_n(lower_rows, below, R{0});
    }
    move_deflated(by, V, copies);
    for_each_vector(
        kept, [&](index_t j, double* v) { by.equation().right_vector(j, v); },
        [&](index_t j, const double* v) {
          std::transform(v, v + kept, Q.column(j), [](double x) { return static_cast<R>(x); });
        });
    multiply(by, 0, above, 0, wide_upper, upper_rows, Q, V);
    multiply(by, above, below, uppers, wide_lower, lower_rows, Q, V);
    copy<R>(copies, V.columns(kept, rest));
  }

  /// Before two halves are joined: the first row of the lower half's vectors, and the last one of
  /// the upper half's, are inside of the whole.
  static void clear_far_ends(const span_of_rows& of, matrix_view<R> V) {
    const index_t above = of.middle() + 1;
    for (index_t j = 0; j < above; ++j) V(1, j) = 0;
    for (index_t j = above; j < of.cols(); ++j) V(0, j) = 0;
  }

  void join_ends(const span_of_rows& of, const bidiagonal_joint<R>& by, matrix_view<R> V, R c,
                 R s) const {
    const index_t kept = by.kept(), cut = of.middle(), rest = of.rows - kept;
    std::vector<R> first(static_cast<std::size_t>(kept)), last(first);
    std::vector<R> behind(static_cast<std::size_t>(2 * rest));
    if (of.extra) {
      // The null vectors of both halves have one end each.
      const R top = V(0, cut), bottom = V(1, of.rows);
      V(0, cut) = c * top;
      V(1, cut) = s * bottom;
      V(0, of.rows) = -s * top;
      V(1, of.rows) = c * bottom;
    }
    for (index_t r = 0; r < kept; ++r) {
      first[at(r)] = V(0, by.column(r));
      last[at(r)] = V(1, by.column(r));
    }
    for (index_t j = 0; j < rest; ++j) {
      behind[at(2 * j)] = V(0, by.deflated()[at(j)]);
      behind[at(2 * j + 1)] = V(1, by.deflated()[at(j)]);
    }
    for_each_vector(
        kept, [&](index_t j, double* v) { by.equation().right_vector(j, v); },
        [&](index_t j, const double* v) {
          V(0, j) = static_cast<R>(std::inner_product(v, v + kept, first.begin(), 0.0));
          V(1, j) = static_cast<R>(std::inner_product(v, v + kept, last.begin(), 0.0));
        });
    for (index_t j = 0; j < rest; ++j) {
      V(0, kept + j) = behind[at(2 * j)];
      V(1, kept + j) = behind[at(2 * j + 1)];
    }
  }

  index_t n_;
  R* d_;
  R* e_;
  matrix_view<R> U_, V_;
  std::vector<index_t> order_;
  std::atomic<index_t> unconverged_{0};
};

/// Scales the matrix to the size 1, where elements of the diagonal are at least eps; returns its
/// size before.
template <class R>
R normalize(index_t n, R* d, R* e) {
  constexpr R eps = std::numeric_limits<R>::epsilon() / 2;
  R size = std::abs(d[0]);
  for (index_t i = 1; i < n; ++i) size = std::max({size, std::abs(d[i]), std::abs(e[i - 1])});
  if (size == 0) return size;
  for (index_t i = 0; i < n; ++i) {
    d[i] /= size;
    if (std::abs(d[i]) < eps) d[i] = std::copysign(eps, d[i]);
    if (i + 1 < n) e[i] /= size;
  }
  return size;
}

template <class R>
bool is_finite(index_t n, const R* d, const R* e) noexcept {
  const auto good = [](R x) { return std::isfinite(x); };
  return std::all_of(d, d + n, good) && std::all_of(e, e + n - 1, good);
}

/// Leaves values that are no numbers, which could not be sorted. Returns info.
template <class R>
index_t without_values(index_t n, R* d) noexcept {
  std::fill_n(d, n, std::numeric_limits<R>::quiet_NaN());
  return std::max<index_t>(1, n - 1);
}

}  // namespace bidiagonal
}  // namespace

template <class R>
index_t bidiagonal_svd(index_t n, R* d, R* e, matrix_view<R> U, matrix_view<R> V) {
  using namespace bidiagonal;
  if (n == 0) return 0;
  if (!is_finite(n, d, e)) {
    set_identity(U);
    set_identity(V);
    return without_values(n, d);
  }
  if (n <= leaf_order) {
    set_identity(U);
    set_identity(V);
    const auto u = columns_of(U), v = columns_of(V);
    const index_t unconverged = bidiagonal_qr(n, d, e, u, v);
    sort_values(n, d, u, v);
    return unconverged;
  }
  const R size = normalize(n, d, e);
  if (size == 0) {
    set_identity(U);
    set_identity(V);
    return 0;
  }
  matrix<R> left(n, n), right(n, n);
  bidiagonal_division<R> cut(n, d, e, left.view(), right.view());
  const index_t unconverged = cut.run();
  const std::vector<R> values(d, d + n);
  const std::vector<index_t>& order = cut.order();
  constexpr index_t grain = 64;
  all_workers::for_each((n + grain - 1) / grain, [&](index_t piece) {
    for (index_t j = piece * grain; j < std::min(n, (piece + 1) * grain); ++j) {
      const index_t c = order[static_cast<std::size_t>(n - 1 - j)];
      d[j] = size * values[static_cast<std::size_t>(c)];
      std::copy_n(left.view().column(c), n, U.column(j));
      std::copy_n(right.view().column(c), n, V.column(j));
    }
  });
  return unconverged;
}

template <class R>
index_t bidiagonal_values(index_t n, R* d, R* e) {
  using namespace bidiagonal;
  if (n == 0) return 0;
  if (!is_finite(n, d, e)) return without_values(n, d);
  constexpr index_t divided_order = 400;
  if (n <= divided_order) {
    if (n > 1 && quotient_difference_values(n, d, e)) return 0;
    const index_t unconverged = bidiagonal_qr(n, d, e, rotated_columns<R>{}, rotated_columns<R>{});
    std::sort(d, d + n, std::greater<>());
    return unconverged;
  }
  const R size = normalize(n, d, e);
  if (size == 0) return 0;
  matrix<R> ends(2, n);
  const index_t unconverged = bidiagonal_division<R>(n, d, e, matrix_view<R>(), ends.view()).run();
  std::sort(d, d + n, std::greater<>());
  for (index_t j = 0; j < n; ++j) d[j] *= size;
  return unconverged;
}

#define CREEK_INSTANTIATE(letter, R)                                                   \
  template index_t bidiagonal_svd<R>(index_t, R*, R*, matrix_view<R>, matrix_view<R>); \
  template index_t bidiagonal_values<R>(index_t, R*, R*);
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
