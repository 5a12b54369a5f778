// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting: the driver of its variants, whose updates are tasks on blocks of
// columns (here) or on square blocks (lu_by_blocks.hpp), and what uses the factors.
#include <creek/linalg/lu.hpp>

#include <algorithm>
#include <memory>

#include <creek/tasking/parallel_for.hpp>

#include "blas3/level3.hpp"
#include "checks.hpp"
#include "column_factorization.hpp"
#include "kernels/row_exchanges.hpp"
#include "kernels/small_kernels.hpp"
#include "lu_by_blocks.hpp"
#include "lu_panel.hpp"
#include "packed_panel.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// LU whose updates are tasks on blocks of columns. Step k:
///   P A(k:m, k) = L(k:m, k) U(k, k)                   factor
///   A(k:m, j) = P A(k:m, j)                           update, for each j > k
///   U(k, j) = L(k, k)^-1 A(k, j)
///   A(k+1:m, j) -= L(k+1:m, k) U(k, j)
/// and at the end L(k+1:m, j) = P L(k+1:m, j) for all P of later steps (exchange_left).
template <scalar T>
class lu_by_columns final : public column_factorization<T, packed_panel<T>> {
 public:
  /// pivots[0, min(m, n)) become rows of A, counted from 0.
  lu_by_columns(matrix_view<T> A, std::span<index_t> pivots, index_t block)
      : column_factorization<T, packed_panel<T>>(A, block), pivots_(pivots.data()) {}

  index_t run(graph_report* report) {
    const index_t info = column_factorization<T, packed_panel<T>>::run(report);
    parallel_for(index_t{0}, this->panels(), [this](index_t j) { exchange_left(j); }, {.grain = 1});
    return info;
  }

 private:
  double products(index_t k, index_t j) const override {
    const matrix_view<T> C = this->below(k, j);
    const auto rows = static_cast<double>(C.rows()), cols = static_cast<double>(C.cols());
    const auto order = static_cast<double>(this->order(k));
    return k == j ? rows * cols * cols / 2 - cube(C.cols()) / 6 : order * cols * (rows - order / 2);
  }

  std::unique_ptr<packed_panel<T>> factor(index_t k) override {
    const matrix_view<T> panel = this->below(k, k);
    const index_t first = this->first(k);
    this->note(k, factor_panel_at(first, panel, pivots_ + first));
    if (k + 1 == this->blocks()) return nullptr;
    return std::make_unique<packed_panel<T>>(panel, pivots_ + first, first);
  }

  void update(const packed_panel<T>& panel, index_t k, index_t j) const override {
    panel.update(this->below(k, j));
  }

  /// Applies the row exchanges of all later steps to block column j of L.
  void exchange_left(index_t j) const {
    const index_t first = this->first(j + 1);
    if (first >= this->steps_) return;
    row_exchanges(pivots_ + first, this->steps_ - first, this->A_.rows() - first, first)
        .apply(this->below(j + 1, j));
  }

  index_t* pivots_;
};

template <scalar T>
index_t panel_width(const matrix_view<T>& A) {
  const index_t n = std::min(A.rows(), A.cols());
  const index_t wide = n <= 800 ? 64 : n <= 1500 ? 112 : 128;
  return n <= 3000 ? wide / reals<T> : std::min(wide, blocking<T>::depth());
}

template <scalar T>
void exchange(T* column, std::span<const index_t> pivots, bool backwards) noexcept {
  const std::size_t count = pivots.size();
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t i = backwards ? count - 1 - s : s;
    std::swap(column[i], column[pivots[i]]);
  }
}

}  // namespace

template <scalar T>
index_t getrf_here(matrix_view<T> A, index_t* pivots) {
  if constexpr (!is_complex<T>) {
    if (is_small<T>(A.rows(), A.cols())) {
      return small_kernels_of<T>().lu(A.rows(), A.cols(), A.data(), A.leading(), pivots);
    }
  }
  return A.empty() ? 0 : factor_panel(A, pivots);
}

template <scalar T>
void getrs_here(op how, const_view<T> LU, std::span<const index_t> pivots, matrix_view<T> B) {
  const auto exchange_rows = [&](bool backwards) {
    for (index_t j = 0; j < B.cols(); ++j) exchange(B.column(j), pivots, backwards);
  };
  const auto solve = [&](triangle stored, diagonal ones) {
    trsm_by<this_thread, T>(side::left, stored, how, ones, T{1}, LU, B);
  };
  if (how != op::none) {
    solve(triangle::upper, diagonal::stored);
    solve(triangle::lower, diagonal::unit);
    return exchange_rows(true);
  }
  exchange_rows(false);
  if constexpr (!is_complex<T>) {
    if (is_small<T>(LU.rows(), LU.cols())) {
      const small_kernels<T>& kernels = small_kernels_of<T>();
      kernels.solve_unit_lower(LU.rows(), LU.data(), LU.leading(), B.cols(), B.data(), B.leading());
      return kernels.solve_upper(LU.rows(), LU.data(), LU.leading(), B.cols(), B.data(),
                                 B.leading());
    }
  }
  solve(triangle::lower, diagonal::unit);
  solve(triangle::upper, diagonal::stored);
}

}  // namespace detail

using namespace detail;

template <scalar T>
index_t getrf(matrix_view<T> A, std::span<index_t> pivots, const lu_options& options) {
  const index_t n = std::min(A.rows(), A.cols());
  require(static_cast<index_t>(pivots.size()) >= n, "getrf",
          "pivots must have as many places as A has rows, or columns where those are fewer");
  require(options.block >= 0, "getrf", "block must not be negative");
  if (options.report != nullptr) *options.report = {};
  if (n == 0) return 0;
  const bool free = options.block == 0 && options.report == nullptr;
  if (free && is_small<T>(A.rows(), A.cols())) return getrf_here(A, pivots.data());
  if (free && is_tall_panel<T>(A.rows(), A.cols())) return factor_tall_panel(A, pivots.data());
  const index_t block = options.block == 0 ? panel_width(A) : options.block;
  if (options.updates == update_tasks::blocks) {
    return lu_by_blocks<T>(A, pivots, std::min(block, n)).run(options.report);
  }
  return lu_by_columns<T>(A, pivots, round_up(std::min(block, n), 8)).run(options.report);
}

template <scalar T>
work_graph getrf_plan(matrix_view<T> A, index_t block) {
  require(block > 0, "getrf_plan", "block must be positive");
  return lu_by_blocks<T>(A, {}, block).plan();
}

template <scalar T>
void laswp(matrix_view<T> A, std::span<const index_t> pivots, bool backwards) {
  require(static_cast<index_t>(pivots.size()) <= A.rows(), "laswp",
          "there must be no more pivots than rows");
  parallel_for(index_t{0}, A.cols(), [&](index_t j) { exchange(A.column(j), pivots, backwards); });
}

template <scalar T>
void getrs(op how, input<T> LU, std::span<const index_t> pivots, matrix_view<T> B) {
  require(LU.rows() == LU.cols() && LU.rows() == B.rows(), "getrs",
          "LU must be square, and B have as many rows");
  require(static_cast<index_t>(pivots.size()) >= LU.rows(), "getrs",
          "pivots must have a place for every row");
  const auto exchanges = pivots.first(static_cast<std::size_t>(LU.rows()));
  if (is_small<T>(LU.rows(), B.cols())) return getrs_here<T>(how, LU, exchanges, B);
  const auto lower = [&] {
    trsm<T>(side::left, triangle::lower, how, diagonal::unit, T{1}, LU, B);
  };
  const auto upper = [&] {
    trsm<T>(side::left, triangle::upper, how, diagonal::stored, T{1}, LU, B);
  };
  if (how == op::none) {
    laswp(B, exchanges);
    lower();
    upper();
  } else {
    upper();
    lower();
    laswp(B, exchanges, true);
  }
}

template <scalar T>
index_t gesv(matrix_view<T> A, std::span<index_t> pivots, matrix_view<T> B,
             const lu_options& options) {
  require(A.rows() == A.cols() && A.rows() == B.rows(), "gesv",
          "A must be square, and B have as many rows");
  const index_t info = getrf(A, pivots, options);
  if (info == 0) getrs<T>(op::none, A, pivots, B);
  return info;
}

#define CREEK_INSTANTIATE(letter, T)                                                   \
  template index_t detail::getrf_here<T>(matrix_view<T>, index_t*);                    \
  template void detail::getrs_here<T>(op, const_view<T>, std::span<const index_t>,     \
                                      matrix_view<T>);                                 \
  template index_t getrf<T>(matrix_view<T>, std::span<index_t>, const lu_options&);    \
  template work_graph getrf_plan<T>(matrix_view<T>, index_t);                          \
  template void laswp<T>(matrix_view<T>, std::span<const index_t>, bool);              \
  template void getrs<T>(op, const_view<T>, std::span<const index_t>, matrix_view<T>); \
  template index_t gesv<T>(matrix_view<T>, std::span<index_t>, matrix_view<T>, const lu_options&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
