// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting as a graph of tasks on blocks of columns.
#include <creek/linalg/lu.hpp>

#include <algorithm>
#include <memory>

#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"
#include "graph/column_graph.hpp"
#include "kernels/row_exchanges.hpp"
#include "lu_by_blocks.hpp"
#include "lu_panel.hpp"
#include "packed_panel.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// One run of getrf: A(k:m, k) = P L U, then A(k+1:m, j) -= L(k+1:m, k) U(k, j) for j > k.
template <scalar T>
class lu_run {
 public:
  lu_run(matrix_view<T> A, std::span<index_t> pivots, index_t block)
      : A_(A), pivots_(pivots), block_(block), steps_(std::min(A.rows(), A.cols())) {}

  index_t run(graph_report* report) {
    const index_t panels = (steps_ + block_ - 1) / block_;
    info_.resize(static_cast<std::size_t>(panels));
    column_graph<packed_panel<T>> graph(panels, blocks(), report);
    graph.run([this](index_t k, index_t j) { return block(k, j); },
              [this](index_t k, index_t j) { return flops(k, j); },
              [this](index_t k) { return factor(k); },
              [this](const packed_panel<T>& packed, index_t k, index_t j) {
                packed.update(block(k, j));
              });
    exchange_left(panels);
    for (index_t k = 0; k < panels; ++k) {
      if (const index_t info = info_[static_cast<std::size_t>(k)]) return info + k * block_;
    }
    return 0;
  }

 private:
  index_t blocks() const { return (A_.cols() + block_ - 1) / block_; }
  matrix_view<T> block(index_t i, index_t j) const {
    const index_t cols = std::min(block_, A_.cols() - j * block_);
    return A_.block(i * block_, j * block_, A_.rows() - i * block_, cols);
  }

  /// Returns the flops of panel k (k == j), or of its update of the block of columns j.
  double flops(index_t k, index_t j) const {
    const matrix_view<T> C = block(k, j);
    const auto rows = static_cast<double>(C.rows()), cols = static_cast<double>(C.cols());
    const auto order = static_cast<double>(std::min(block_, steps_ - k * block_));
    if (k == j) return flops_of<T>(rows * cols * cols / 2 - cube(C.cols()) / 6);
    return flops_of<T>(order * cols * (rows - order / 2));
  }

  std::unique_ptr<packed_panel<T>> factor(index_t k) {
    const matrix_view<T> panel = block(k, k);
    index_t* const pivots = pivots_.data() + k * block_;
    info_[static_cast<std::size_t>(k)] = factor_panel(panel, pivots);
    std::unique_ptr<packed_panel<T>> packed;
    if (k + 1 < blocks()) packed = std::make_unique<packed_panel<T>>(panel, pivots);
    const index_t order = std::min(panel.rows(), panel.cols());
    for (index_t i = 0; i < order; ++i) pivots[i] += k * block_;
    return packed;
  }

  /// Applies later row exchanges to the columns left of each panel, all at once at the end.
  void exchange_left(index_t panels) {
    const auto exchange = [this](index_t j) {
      const index_t first = (j + 1) * block_;
      if (first >= steps_) return;
      std::vector<index_t> pivots(pivots_.begin() + first, pivots_.begin() + steps_);
      for (index_t& pivot : pivots) pivot -= first;
      row_exchanges(pivots.data(), steps_ - first, A_.rows() - first)
          .apply(A_.block(first, j * block_, A_.rows() - first, block_));
    };
    parallel_for(index_t{0}, panels, exchange, {.grain = 1});
  }

  matrix_view<T> A_;
  std::span<index_t> pivots_;
  index_t block_;
  index_t steps_;
  std::vector<index_t> info_;
};

template <scalar T>
index_t panel_width(const matrix_view<T>& A) {
  const index_t n = std::min(A.rows(), A.cols());
  const index_t wide = n <= 800 ? 64 : n <= 1500 ? 112 : 128;
  return n <= 3000 ? wide / reals<T> : std::min(wide, blocking<T>::depth());
}

}  // namespace
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
  const index_t block = options.block == 0 ? panel_width(A) : options.block;
  if (options.updates == update_tasks::blocks) {
    return lu_by_blocks<T>(A, pivots, std::min(block, n)).run(options.report);
  }
  lu_run<T> run(A, pivots, round_up(std::min(block, n), 8));
  return run.run(options.report);
}

template <scalar T>
work_graph getrf_plan(matrix_view<T> A, index_t block) {
  require(block > 0, "getrf_plan", "block must be positive");
  return lu_by_blocks<T>(A, {}, block).plan();
}

template <scalar T>
void laswp(matrix_view<T> A, std::span<const index_t> pivots, bool backwards) {
  const auto count = static_cast<index_t>(pivots.size());
  require(count <= A.rows(), "laswp", "there must be no more pivots than rows");
  const auto exchange = [&](index_t j) {
    T* const column = A.column(j);
    for (index_t s = 0; s < count; ++s) {
      const index_t i = backwards ? count - 1 - s : s;
      std::swap(column[i], column[pivots[static_cast<std::size_t>(i)]]);
    }
  };
  parallel_for(index_t{0}, A.cols(), exchange);
}

template <scalar T>
void getrs(op how, input<T> LU, std::span<const index_t> pivots, matrix_view<T> B) {
  require(LU.rows() == LU.cols() && LU.rows() == B.rows(), "getrs",
          "LU must be square, and B have as many rows");
  require(static_cast<index_t>(pivots.size()) >= LU.rows(), "getrs",
          "pivots must have a place for every row");
  const auto exchanges = pivots.first(static_cast<std::size_t>(LU.rows()));
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
  template index_t getrf<T>(matrix_view<T>, std::span<index_t>, const lu_options&);    \
  template work_graph getrf_plan<T>(matrix_view<T>, index_t);                          \
  template void laswp<T>(matrix_view<T>, std::span<const index_t>, bool);              \
  template void getrs<T>(op, const_view<T>, std::span<const index_t>, matrix_view<T>); \
  template index_t gesv<T>(matrix_view<T>, std::span<index_t>, matrix_view<T>, const lu_options&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
