// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/detail/column_steps.hpp>

#include "blas3/level3.hpp"
#include "cholesky/cholesky_panel.hpp"
#include "kernels/product.hpp"
#include "lu/lu_panel.hpp"
#include "lu/packed_panel.hpp"
#include "qr/reflectors.hpp"

namespace creek::linalg::detail {
namespace {

template <scalar T>
class lu_column_update final : public column_update<T> {
 public:
  explicit lu_column_update(panel_message<T>& from) : packed_(from.factor(), from.pivots()) {}
  void apply(matrix_view<T> C, index_t) const override { packed_.update(C); }

 private:
  packed_panel<T> packed_;
};

template <scalar T>
class cholesky_column_update final : public column_update<T> {
 public:
  explicit cholesky_column_update(panel_message<T>& from) : below_(from.factor()) {}
  void apply(matrix_view<T> C, index_t down) const override {
    const index_t order = below_.cols();
    subtract_product<T>(below_.block(down, 0, C.rows(), order),
                        below_.block(down, 0, C.cols(), order), C);
  }

 private:
  const_view<T> below_;
};

template <scalar T>
class qr_column_update final : public column_update<T> {
 public:
  explicit qr_column_update(panel_message<T>& from)
      : packed_(from.factor(), from.triangle(), true) {}
  void apply(matrix_view<T> C, index_t) const override { packed_.apply(C); }

 private:
  packed_reflectors<T> packed_;
};

/// B -= op(L) X.
template <scalar T>
void subtract_from(op how, const_view<T> L, const_view<T> X, matrix_view<T> B) {
  if (L.empty()) return;
  multiply_add_here<T>(T{-1}, strided_of<T>(L, how), strided_of<T>(X, op::none),
                       how == op::none ? L.cols() : L.rows(), B);
}

/// Forward substitution with a lower triangle.
template <scalar T>
void solve_down(const_view<T> columns, index_t first, diagonal ones, matrix_view<T> B) {
  const index_t n = columns.cols();
  const index_t below = columns.rows() - first - n;
  const matrix_view<T> x = B.block(first, 0, n, B.cols());
  trsm_by<this_thread, T>(side::left, triangle::lower, op::none, ones, T{1},
                          columns.block(first, 0, n, n), x);
  subtract_from<T>(op::none, columns.block(first + n, 0, below, n), x,
                   B.block(first + n, 0, below, B.cols()));
}

/// Back substitution with an upper triangle, by columns.
template <scalar T>
void solve_up(const_view<T> columns, index_t first, matrix_view<T> B) {
  const index_t n = columns.cols();
  const matrix_view<T> x = B.block(first, 0, n, B.cols());
  trsm_by<this_thread, T>(side::left, triangle::upper, op::none, diagonal::stored, T{1},
                          columns.block(first, 0, n, n), x);
  subtract_from<T>(op::none, columns.block(0, 0, first, n), x, B.block(0, 0, first, B.cols()));
}

/// Back substitution with L^H, using the columns of L as its rows.
template <scalar T>
void solve_turned(const_view<T> columns, index_t first, matrix_view<T> B) {
  const index_t n = columns.cols();
  const index_t below = columns.rows() - first - n;
  const matrix_view<T> x = B.block(first, 0, n, B.cols());
  subtract_from<T>(op::conjugate_transpose, columns.block(first + n, 0, below, n),
                   B.block(first + n, 0, below, B.cols()), x);
  trsm_by<this_thread, T>(side::left, triangle::lower, op::conjugate_transpose, diagonal::stored,
                          T{1}, columns.block(first, 0, n, n), x);
}

template <scalar T>
void project_down(const_view<T> columns, index_t first, const T* tau, matrix_view<T> B) {
  const index_t n = columns.cols();
  const const_view<T> V = columns.block(first, 0, columns.rows() - first, n);
  matrix<T> triangle(n, n);
  form_triangle<T>(V, tau, triangle.view());
  packed_reflectors<T>(V, triangle.view(), true)
      .apply(B.block(first, 0, B.rows() - first, B.cols()));
}

}  // namespace

template <scalar T>
void factor_panel_of(matrix_view<T> A, T* tau, panel_message<T>& to) {
  const panel_place& at = to.place();
  const matrix_view<T> panel = A.columns(0, at.order);
  index_t info = 0;
  if (to.method() == column_method::lu) {
    info = factor_panel(A, to.pivots());
  } else if (to.method() == column_method::cholesky) {
    info = cholesky_panel(A);
  } else {
    factor_reflectors(panel, tau, to.triangle());
    // Updates the columns to the right if the panel is wider than high.
    if (at.order < A.cols()) {
      packed_reflectors<T>(panel, to.triangle(), true)
          .apply(A.columns(at.order, A.cols() - at.order));
    }
  }
  to.info() = info == 0 ? 0 : info + at.first;
  if (!to.has_body()) return;
  const matrix_view<T> out = to.factor();
  copy<T>(panel.block(panel.rows() - out.rows(), 0, out.rows(), at.order), out);
}

template <scalar T>
std::unique_ptr<column_update<T>> make_update(panel_message<T>& from) {
  switch (from.method()) {
    case column_method::lu:
      return std::make_unique<lu_column_update<T>>(from);
    case column_method::cholesky:
      return std::make_unique<cholesky_column_update<T>>(from);
    default:
      return std::make_unique<qr_column_update<T>>(from);
  }
}

template <scalar T>
void exchange_rows_of(matrix_view<T> A, const index_t* pivots, index_t count, index_t first) {
  if (count == 0 || A.cols() == 0) return;
  row_exchanges(pivots, count, A.rows(), first).apply(A);
}

template <scalar T>
void solve_by_columns(column_method how, bool backwards, const_view<T> columns, index_t first,
                      const T* tau, matrix_view<T> B) {
  if (how == column_method::cholesky) {
    backwards ? solve_turned<T>(columns, first, B)
              : solve_down<T>(columns, first, diagonal::stored, B);
  } else if (backwards) {
    solve_up<T>(columns, first, B);
  } else if (how == column_method::lu) {
    solve_down<T>(columns, first, diagonal::unit, B);
  } else {
    project_down<T>(columns, first, tau, B);
  }
}

std::int64_t panel_flops(column_method how, const panel_place& panel) noexcept {
  const std::int64_t m = panel.rows;
  const std::int64_t n = panel.order;
  switch (how) {
    case column_method::lu:
      return m * n * n - n * n * n / 3;
    case column_method::cholesky:
      return m * n * n - 2 * n * n * n / 3;
    default:  // the reflectors, and their triangle T
      return 2 * m * n * n - 2 * n * n * n / 3 + m * n * n;
  }
}

std::int64_t update_flops(column_method how, index_t rows, index_t cols, index_t order) noexcept {
  const std::int64_t m = rows;
  const std::int64_t n = cols;
  const std::int64_t k = order;
  switch (how) {
    case column_method::lu:
      return k * k * n + 2 * (m - k) * k * n;
    case column_method::cholesky:
      return 2 * k * (m * n - n * n / 2);
    default:  // V^H C, T times it, V times that
      return 2 * (2 * m - k) * k * n + k * k * n;
  }
}

#define CREEK_INSTANTIATE(letter, T)                                                       \
  template void factor_panel_of<T>(matrix_view<T>, T*, panel_message<T>&);                 \
  template std::unique_ptr<column_update<T>> make_update<T>(panel_message<T>&);            \
  template void exchange_rows_of<T>(matrix_view<T>, const index_t*, index_t, index_t);     \
  template void solve_by_columns<T>(column_method, bool, const_view<T>, index_t, const T*, \
                                    matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
