// SPDX-License-Identifier: Apache-2.0
#include "eigen_merge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "blas3/workers.hpp"
#include "kernels/eigen_kernels.hpp"
#include "kernels/product.hpp"
#include "secular.hpp"

namespace creek::linalg::detail {
namespace {

/// Orders below which a merge takes less time than the way to other workers.
constexpr index_t wide_merge = 160;

/// Columns per piece, and rows per piece of the sums over columns.
constexpr index_t merge_columns = 16;
constexpr index_t merge_rows = 128;

}  // namespace

template <class R>
eigen_merge<R>::eigen_merge(const merged_part<R>& part, index_t half, R coupling)
    : part_(part),
      half_(half),
      rho_(2 * std::abs(coupling)),
      z_(static_cast<std::size_t>(part.Q.rows())),
      extents_(z_.size(), extent::top),
      row_of_(z_.size()),
      is_wide_(part.Q.rows() >= wide_merge) {
  const index_t n = order();
  std::fill(extents_.begin() + half, extents_.end(), extent::bottom);
  // z is the last row of Q1 and the first of Q2, made a unit vector.
  const R scale = 1 / std::sqrt(R{2});
  const R lower = coupling < 0 ? -scale : scale;
  R* const z = z_.data();
  for (index_t j = 0; j < half; ++j) z[j] = scale * part.Q(half - 1, j);
  for (index_t j = half; j < n; ++j) z[j] = lower * part.Q(half, j);
  std::vector<index_t> sorted(z_.size());
  for (index_t k = half; k < n; ++k) part.order[k] += half;
  const auto less = [&](index_t a, index_t b) { return part.d[a] < part.d[b]; };
  std::merge(part.order, part.order + half, part.order + half, part.order + n, sorted.begin(),
             less);
  std::copy(sorted.begin(), sorted.end(), part.order);
}

template <class R>
template <class Body>
void eigen_merge<R>::for_pieces(index_t count, index_t size, const Body& body) const {
  const index_t pieces = (count + size - 1) / size;
  const auto piece = [&](index_t p) { body(p * size, std::min(size, count - p * size)); };
  if (pieces == 0) return;
  is_wide_ ? all_workers::for_each(pieces, piece) : this_thread::for_each(pieces, piece);
}

/// Writes the zeros of a column that had only one half.
template <class R>
void eigen_merge<R>::extend(index_t column) {
  extent& rows = extents_[static_cast<std::size_t>(column)];
  R* const from = part_.Q.column(column);
  if (rows == extent::top) std::fill(from + half_, from + order(), R{});
  if (rows == extent::bottom) std::fill(from, from + half_, R{});
  rows = extent::both;
}

/// Turns z of two columns into that of the second one alone.
template <class R>
void eigen_merge<R>::rotate_away(index_t from, index_t into, R c, R s) {
  const auto index = [](index_t i) { return static_cast<std::size_t>(i); };
  if (extents_[index(from)] != extents_[index(into)]) {
    extend(from);
    extend(into);
  }
  const extent rows = extents_[index(into)];
  const index_t first = rows == extent::bottom ? half_ : 0;
  const index_t last = rows == extent::top ? half_ : order();
  eigen_kernels_of<R>().rotate(last - first, 1, &c, &s, part_.Q.column(from) + first,
                               part_.Q.column(into) - part_.Q.column(from));
  R& d_from = part_.d[from];
  R& d_into = part_.d[into];
  const R before = d_from;
  d_from = before * (c * c) + d_into * (s * s);
  d_into = before * (s * s) + d_into * (c * c);
}

/// Finds the columns that stay eigenvectors: those with a negligible z, and one of two with nearly
/// the same d.
/// Source: LAPACK's laed2.
template <class R>
void eigen_merge<R>::deflate() {
  const index_t n = order();
  R* const z = z_.data();
  R* const d = part_.d;
  const auto larger = [](R a, R b) { return std::abs(a) < std::abs(b); };
  const R largest_z = std::abs(*std::max_element(z, z + n, larger));
  const R largest_d = std::abs(*std::max_element(d, d + n, larger));
  const R tolerance = 4 * std::numeric_limits<R>::epsilon() * std::max(largest_d, largest_z);
  index_t kept = -1;
  for (index_t k = 0; k < n; ++k) {
    const index_t next = part_.order[k];
    if (rho_ * std::abs(z[next]) <= tolerance) {
      deflated_.push_back(next);
      continue;
    }
    if (kept >= 0) {
      const R length = std::hypot(z[next], z[kept]);
      const R c = z[next] / length, s = -z[kept] / length;
      if (std::abs((d[next] - d[kept]) * c * s) <= tolerance) {
        z[next] = length;
        z[kept] = 0;
        rotate_away(kept, next, c, s);
        deflated_.push_back(kept);
      } else {
        poles_.push_back(kept);
      }
    }
    kept = next;
  }
  if (kept >= 0) poles_.push_back(kept);
  std::stable_sort(deflated_.begin(), deflated_.end(),
                   [d](index_t a, index_t b) { return d[a] < d[b]; });
}

/// Chooses the rows of S so that each half of Q is multiplied by contiguous ones.
template <class R>
void eigen_merge<R>::group_columns() {
  const auto extent_of = [this](index_t k) {
    return extents_[static_cast<std::size_t>(poles_[static_cast<std::size_t>(k)])];
  };
  index_t row = 0;
  for (const extent group : {extent::top, extent::both, extent::bottom}) {
    const index_t before = row;
    for (index_t k = 0; k < roots(); ++k) {
      if (extent_of(k) == group) row_of_[static_cast<std::size_t>(k)] = row++;
    }
    if (group == extent::top) tops_ = row - before;
    if (group == extent::both) boths_ = row - before;
  }
}

/// Copies the columns out of Q: the upper halves, the lower halves, and the deflated ones.
template <class R>
void eigen_merge<R>::copy_columns() {
  const index_t upper = tops_ + boths_, n = order();
  R* const first = part_.copies.data();
  R* const second = first + half_ * upper;
  R* const others = second + (n - half_) * (roots() - tops_);
  for_pieces(roots(), merge_columns, [&](index_t begin, index_t count) {
    for (index_t k = begin; k < begin + count; ++k) {
      const auto index = static_cast<std::size_t>(k);
      const R* const from = part_.Q.column(poles_[index]);
      const index_t row = row_of_[index];
      if (row < upper) std::copy_n(from, half_, first + row * half_);
      if (row >= tops_) {
        std::copy_n(from + half_, n - half_, second + (row - tops_) * (n - half_));
      }
    }
  });
  const auto deflated = static_cast<index_t>(deflated_.size());
  for_pieces(deflated, merge_columns, [&](index_t begin, index_t count) {
    for (index_t k = begin; k < begin + count; ++k) {
      const index_t column = deflated_[static_cast<std::size_t>(k)];
      extend(column);
      std::copy_n(part_.Q.column(column), n, others + k * n);
    }
  });
}

template <class R>
void eigen_merge<R>::solve_roots() {
  const secular_equation<R> equation{roots(), pole_d_.data(), pole_z_.data(), rho_};
  for_pieces(roots(), merge_columns, [&](index_t begin, index_t count) {
    for (index_t j = begin; j < begin + count; ++j) {
      part_.d[j] = secular_root(equation, j, part_.S.column(j));
    }
  });
}

/// Computes the z for which the roots are exact, so that the vectors become orthogonal.
/// Source: [Gu 1995], Loewner's formula.
template <class R>
void eigen_merge<R>::make_weights() {
  const index_t n = roots();
  const auto& kernels = eigen_kernels_of<R>();
  R* const w = weights_.data();
  const R* const d = pole_d_.data();
  for_pieces(n, merge_rows, [&](index_t begin, index_t count) {
    std::fill_n(w + begin, count, R{-1});
    const index_t end = begin + count;
    for (index_t j = 0; j < n; ++j) {
      const R* const delta = part_.S.column(j);
      const index_t before = std::clamp(j, begin, end);
      const index_t after = std::clamp(j + 1, begin, end);
      kernels.multiply_ratios(before - begin, delta + begin, d + begin, d[j], w + begin);
      if (before < after) w[j] *= delta[j];
      kernels.multiply_ratios(end - after, delta + after, d + after, d[j], w + after);
    }
    for (index_t i = begin; i < end; ++i) {
      w[i] = std::copysign(std::sqrt(std::abs(w[i])), pole_z_[static_cast<std::size_t>(i)]);
    }
  });
}

/// Replaces the differences in columns [first, first + count) of S by unit vectors.
template <class R>
void eigen_merge<R>::make_vectors(index_t first, index_t count) {
  const index_t n = roots();
  const auto& kernels = eigen_kernels_of<R>();
  for_pieces(count, merge_columns, [&](index_t begin, index_t columns) {
    std::vector<R> vector(static_cast<std::size_t>(n));
    for (index_t j = first + begin; j < first + begin + columns; ++j) {
      R* const column = part_.S.column(j);
      const R scale = 1 / std::sqrt(kernels.quotients(n, weights_.data(), column, vector.data()));
      for (index_t k = 0; k < n; ++k) {
        const auto index = static_cast<std::size_t>(k);
        column[row_of_[index]] = vector[index] * scale;
      }
    }
  });
}

template <class R>
void eigen_merge<R>::find_values() {
  deflate();
  group_columns();
  copy_columns();
  const auto index = [](index_t i) { return static_cast<std::size_t>(i); };
  const index_t n = order(), count = roots();
  for (const index_t column : poles_) {
    pole_d_.push_back(part_.d[column]);
    pole_z_.push_back(z_[index(column)]);
  }
  std::vector<R> others;
  for (const index_t column : deflated_) others.push_back(part_.d[column]);
  weights_.resize(pole_d_.size());
  if (count > 0) {
    solve_roots();
    make_weights();
  }
  std::copy(others.begin(), others.end(), part_.d + count);
  const auto less = [this](index_t a, index_t b) { return part_.d[a] < part_.d[b]; };
  std::vector<index_t> all(index(n));
  for (index_t k = 0; k < n; ++k) all[index(k)] = k;
  std::merge(all.begin(), all.begin() + count, all.begin() + count, all.end(), part_.order, less);
}

/// Both the roots and the deflated columns ascend, so the wanted ones of each are contiguous.
template <class R>
auto eigen_merge<R>::find_wanted(index_t first, index_t count) const noexcept -> wanted_columns {
  wanted_columns wanted{0, 0, 0, 0};
  for (index_t k = 0; k < first + count; ++k) {
    const bool is_root = part_.order[k] < roots();
    index_t& before = is_root ? wanted.first : wanted.other_first;
    index_t& inside = is_root ? wanted.count : wanted.other_count;
    ++(k < first ? before : inside);
  }
  return wanted;
}

template <class R>
index_t eigen_merge<R>::column_of(index_t k) const noexcept {
  const index_t source = part_.order[k];
  return source < roots() ? source - shown_.first
                          : shown_.count + source - roots() - shown_.other_first;
}

/// c = a b.
template <class R>
void eigen_merge<R>::multiply(const_view<R> a, const_view<R> b, matrix_view<R> c) const {
  const strided<R> left = strided_of(a, op::none), right = strided_of(b, op::none);
  if (!is_wide_ && multiply_in_place<this_thread>(R{1}, left, right, a.cols(), R{}, c)) return;
  for_pieces(c.cols(), merge_columns,
             [&](index_t begin, index_t count) { scale(R{}, c.columns(begin, count)); });
  is_wide_ ? multiply_add(R{1}, left, right, a.cols(), c)
           : multiply_add_here(R{1}, left, right, a.cols(), c);
}

template <class R>
void eigen_merge<R>::find_vectors(index_t first, index_t count) {
  const index_t n = order(), upper = tops_ + boths_, lower = roots() - tops_;
  shown_ = find_wanted(first, count);
  const R* const copies = part_.copies.data();
  if (shown_.count > 0) {
    make_vectors(shown_.first, shown_.count);
    const const_view<R> S = part_.S.block(0, shown_.first, roots(), shown_.count);
    const matrix_view<R> to = part_.Q.columns(0, shown_.count);
    multiply({copies, half_, upper, half_}, S.block(0, 0, upper, shown_.count),
             to.block(0, 0, half_, shown_.count));
    multiply({copies + half_ * upper, n - half_, lower, n - half_},
             S.block(tops_, 0, lower, shown_.count), to.block(half_, 0, n - half_, shown_.count));
  }
  const R* const others = copies + half_ * upper + (n - half_) * lower + n * shown_.other_first;
  for_pieces(shown_.other_count, merge_columns, [&](index_t begin, index_t columns) {
    for (index_t k = begin; k < begin + columns; ++k) {
      std::copy_n(others + k * n, n, part_.Q.column(shown_.count + k));
    }
  });
}

#define CREEK_INSTANTIATE(letter, R) template class eigen_merge<R>;
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
