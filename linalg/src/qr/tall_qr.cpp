// SPDX-License-Identifier: Apache-2.0
#include "tall_qr.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "blas3/level3.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "row_piece.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns, so that a piece fits the second-level cache.
constexpr index_t max_tall_columns = 128;

/// Returns the rows per piece of a matrix of n columns.
template <scalar T>
index_t piece_height(index_t n) noexcept {
  constexpr index_t bytes = index_t{256} << 10;
  return piece_rows<T>(std::max(bytes / static_cast<index_t>(sizeof(T)) / n, 4 * n));
}

/// Returns op(A) B.
template <scalar T>
matrix<T> multiplied(op how, const_view<T> A, const_view<T> B) {
  matrix<T> C(how == op::none ? A.rows() : A.cols(), B.cols());
  multiply_add_here(T{1}, strided_of<T>(A, how), strided_of<T>(B, op::none),
                    how == op::none ? A.cols() : A.rows(), C.view());
  return C;
}

/// One level of the tree: a matrix whose pieces of rows are factored independently. Their vectors,
/// with ones and zeros, replace it; their triangles R below each other are the next level.
template <scalar T>
class row_level {
 public:
  explicit row_level(matrix_view<T> rows)
      : rows_(rows),
        height_(piece_height<T>(rows.cols())),
        count_(std::max<index_t>(1, (rows.rows() - rows.cols() + height_ - 1) / height_)),
        triangles_(rows.cols(), rows.cols() * count_),
        uppers_(rows.cols() * count_, rows.cols()) {
    all_workers::for_each(count_, [this](index_t i) { factor(i); });
  }

  index_t count() const noexcept { return count_; }
  matrix_view<T> uppers() { return uppers_.view(); }

  /// E = Q E for the first rows of the first piece's [E; 0].
  void apply_to_first(matrix_view<T> E) const {
    const const_view<T> first = top(0);
    const matrix<T> weights = weigh(0, E);
    multiply_add_here(T{-1}, strided_of<T>(first, op::none),
                      strided_of<T>(weights.view(), op::none), E.rows(), E);
  }

  /// Replaces the vectors of each piece by Q [D; 0], where D are its rows of `right`, n per piece.
  void apply_all(const_view<T> right) const {
    all_workers::for_each(count_, [&](index_t i) { apply(i, right.block(i * n(), 0, n(), n())); });
  }

 private:
  index_t n() const noexcept { return rows_.cols(); }
  matrix_view<T> piece(index_t i) const {
    const index_t first = i * height_;
    return rows_.block(first, 0, i + 1 == count_ ? rows_.rows() - first : height_, n());
  }
  const_view<T> top(index_t i) const { return piece(i).block(0, 0, n(), n()); }
  const_view<T> triangle(index_t i) const { return triangles_.view().columns(i * n(), n()); }

  void factor(index_t i) {
    const piece_copy<T> copied(piece(i));
    factor_piece(copied.view(), uppers_.view().block(i * n(), 0, n(), n()),
                 triangles_.view().columns(i * n(), n()));
    copied.copy_to(piece(i));
  }

  /// Returns T V^H [D; 0] of piece i.
  matrix<T> weigh(index_t i, const_view<T> D) const {
    const matrix<T> dots = multiplied<T>(op::conjugate_transpose, top(i), D);
    return multiplied<T>(op::none, triangle(i), dots.view());
  }

  /// V = [D; 0] - V W with the W of weigh(), in place: V += V (-W - I), and D is added.
  void apply(index_t i, const_view<T> D) const {
    matrix<T> weights = weigh(i, D);
    for (index_t j = 0; j < n(); ++j) weights(j, j) += T{1};
    const pack_array<real<T>> right(packed_right_size<T>(n(), n()));
    pack_right(strided_of<T>(weights.view(), op::none), n(), n(), T{-1}, right.data());
    const index_t step = 2 * micro_kernels_of<real<T>>().rows / reals<T>;
    const pack_array<real<T>> left(packed_left_size<T>(step, n()));
    const matrix_view<T> V = piece(i);
    for (index_t row = 0; row < V.rows(); row += step) {
      const index_t rows = std::min(step, V.rows() - row);
      pack_left(strided<T>{&V(row, 0), 1, V.leading()}, rows, n(), left.data());
      multiply_packed(rows, n(), n(), left.data(), right.data(), &V(row, 0), V.leading());
    }
    for (index_t j = 0; j < n(); ++j) {
      for (index_t r = 0; r < n(); ++r) V(r, j) += D(r, j);
    }
  }

  matrix_view<T> rows_;
  index_t height_;
  index_t count_;
  matrix<T> triangles_;  // T of each piece, side by side
  matrix<T> uppers_;
};

/// Q - S = L U without pivoting, where S = diag(signs) is chosen on the way such that the diagonal
/// of U is at least 1 in magnitude. Q is square; L (unit lower) and U replace it.
template <scalar T>
void eliminate_with_signs(matrix_view<T> Q, real<T>* signs) {
  const index_t n = Q.cols();
  for (index_t j = 0; j < n; ++j) {
    T* const column = Q.column(j);
    for (index_t p = 0; p < j; ++p) {
      subtract(n - p - 1, 1, Q.column(p) + p + 1, Q.leading(), column + p, column + p + 1);
    }
    signs[j] = std::signbit(std::real(column[j])) ? real<T>{1} : real<T>{-1};
    column[j] -= signs[j];
    for (index_t i = j + 1; i < n; ++i) column[i] /= column[j];
  }
}

}  // namespace

template <scalar T>
bool is_tall(index_t rows, index_t cols) noexcept {
  return cols > 0 && cols <= max_tall_columns && rows >= 2 * piece_height<T>(cols);
}

template <scalar T>
void factor_tall(matrix_view<T> A, T* tau, matrix_view<T> joined) {
  const index_t n = A.cols();
  std::vector<row_level<T>> levels;
  levels.emplace_back(A);
  while (levels.back().count() > 1) levels.emplace_back(levels.back().uppers());

  // The first rows of Q, and from them L and U.
  matrix<T> first(n, n);
  set_identity(first.view());
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    level->apply_to_first(first.view());
  }
  std::vector<real<T>> signs(static_cast<std::size_t>(n));
  eliminate_with_signs<T>(first.view(), signs.data());

  // Q U^-1, whose rows below the first n are those of V.
  matrix<T> inverse(n, n);
  set_identity(inverse.view());
  trsm_by<this_thread, T>(side::left, triangle::upper, op::none, diagonal::stored, T{1},
                          first.view(), inverse.view());
  const_view<T> right = inverse.view();
  for (std::size_t k = levels.size(); k-- > 0;) {
    levels[k].apply_all(right);
    if (k > 0) right = levels[k - 1].uppers();
  }

  // T = -U S L^-H, and the first rows of V and R.
  const const_view<T> upper = levels.back().uppers();
  for (index_t j = 0; j < n; ++j) {
    const auto sign = [&](index_t i) { return signs[static_cast<std::size_t>(i)]; };
    std::fill_n(joined.column(j), n, T{});
    for (index_t i = 0; i <= j; ++i) joined(i, j) = -sign(j) * first(i, j);
    tau[j] = joined(j, j);
    for (index_t i = 0; i <= j; ++i) A(i, j) = sign(i) * upper(i, j);
    for (index_t i = j + 1; i < n; ++i) A(i, j) = first(i, j);
  }
  trsm_by<this_thread, T>(side::right, triangle::lower, op::conjugate_transpose, diagonal::unit,
                          T{1}, first.view(), joined);
}

#define CREEK_INSTANTIATE(letter, T)                   \
  template bool is_tall<T>(index_t, index_t) noexcept; \
  template void factor_tall<T>(matrix_view<T>, T*, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
