// SPDX-License-Identifier: Apache-2.0
// QR with column pivoting: panels whose pivots need only one row of the other columns, and updates
// of the rest of the matrix that are products.
#include <creek/linalg/qr.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "kernels/packing.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflectors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Norms of the parts of columns that are still to be eliminated: `now` is updated as rows leave,
/// from `exact`, which was computed from the elements.
template <class R>
struct column_norms {
  R* now;
  R* exact;

  void set(index_t j, R norm) const noexcept { now[j] = exact[j] = norm; }
  void move(index_t from, index_t to) const noexcept {
    now[to] = now[from];
    exact[to] = exact[from];
  }
  /// Takes an element of that magnitude out of norm j. Returns false, and changes nothing, if too
  /// few digits would be left. Source: [Drmac 2008].
  bool take_out(index_t j, R magnitude) const noexcept {
    // Neither a column of zeros nor one with NaN gets another norm.
    if (!(now[j] > 0)) return true;
    const R ratio = magnitude / now[j];
    const R left = std::max(R{0}, (1 + ratio) * (1 - ratio));
    const R shrunk = now[j] / exact[j], kept = left * shrunk * shrunk;
    if (kept * kept <= std::numeric_limits<R>::epsilon() / 2) return false;
    now[j] *= std::sqrt(left);
    return true;
  }
};

/// Columns that one worker updates at a time.
constexpr index_t pivot_piece = 48;
/// Minimum number of reals that are worth more than one worker.
constexpr index_t min_shared_reals = 40000;
/// Maximum number of elements of a matrix that is eliminated without panels.
constexpr index_t max_unblocked_pivoting = 5000;
/// Maximum number of columns of a panel.
constexpr index_t pivot_panel = 32;

template <scalar T>
class pivoted_qr {
 public:
  using R = real<T>;

  pivoted_qr(matrix_view<T> A, index_t* pivots, T* tau, column_norms<R> norms) noexcept
      : A_(A), pivots_(pivots), tau_(tau), norms_(norms) {}

  /// Eliminates the columns from `first` on.
  void run(index_t first) {
    const index_t steps = std::min(A_.rows(), A_.cols());
    if (first >= steps) return;
    for_pieces(first, first, [&](index_t c, index_t width) {
      for (index_t j = c; j < c + width; ++j) set_norm(first, j);
    });
    if ((A_.rows() - first) * (A_.cols() - first) <= max_unblocked_pivoting) {
      for (index_t k = first; k < steps; ++k) step_alone(k);
      return;
    }
    const pack_array<T> memory(pivot_panel * A_.cols());
    weights_ = matrix_view<T>(memory.data(), pivot_panel, A_.cols(), pivot_panel);
    while (first < steps) first = panel(first, std::min(first + pivot_panel, steps));
  }

 private:
  index_t below(index_t k) const noexcept { return A_.rows() - k; }

  void set_norm(index_t first_row, index_t j) const {
    norms_.set(j, euclidean_norm<T>(below(first_row), A_.column(j) + first_row));
  }

  /// Calls f(c, width) for pieces of the columns from `first` on, whose rows from `row` on are
  /// used. The pieces do not depend on the number of workers.
  template <class F>
  void for_pieces(index_t row, index_t first, const F& f) const {
    const index_t columns = A_.cols() - first, pieces = (columns + pivot_piece - 1) / pivot_piece;
    const auto piece = [&](index_t p) {
      const index_t c = p * pivot_piece;
      f(first + c, std::min(pivot_piece, columns - c));
    };
    if (reals<T> * below(row) * columns < min_shared_reals) {
      this_thread::for_each(pieces, piece);
    } else {
      all_workers::for_each(pieces, piece);
    }
  }

  /// Brings the column with the largest rest to place k; with the `weights` of a panel's steps.
  void exchange(index_t k, index_t weights) const {
    const index_t pivot = k + largest(A_.cols() - k, norms_.now + k);
    if (pivot == k) return;
    std::swap_ranges(A_.column(k), A_.column(k) + A_.rows(), A_.column(pivot));
    if (weights != 0) {
      std::swap_ranges(weights_.column(k), weights_.column(k) + weights, weights_.column(pivot));
    }
    std::swap(pivots_[k], pivots_[pivot]);
    norms_.move(k, pivot);
  }

  /// Eliminates column k and applies its reflector to all others.
  void step_alone(index_t k) const {
    exchange(k, 0);
    T* const column = &A_(k, k);
    const index_t rest = below(k + 1), right = A_.cols() - k - 1;
    tau_[k] = make_reflector(column[0], rest, column + 1);
    if (tau_[k] != T{}) {
      apply_reflector(rest, column + 1, conjugated(tau_[k]), A_.block(k, k + 1, rest + 1, right));
    }
    for (index_t j = k + 1; j < A_.cols(); ++j) {
      if (!norms_.take_out(j, std::abs(A_(k, j)))) set_norm(k + 1, j);
    }
  }

  /// Eliminates the columns [first, last), or fewer if the norms of some others have to be computed
  /// from their elements; then updates the rest: A22 -= V W. Returns the first column that is left.
  /// Source: [Quintana-Orti 1998].
  index_t panel(index_t first, index_t last) {
    index_t k = first;
    bool norms_known = true;
    while (k < last && norms_known) norms_known = step_in_panel(first, k++);
    const index_t right = A_.cols() - k;
    if (below(k) == 0 || right == 0) return k;
    multiply_add(T{-1}, strided<T>{&A_(k, first), 1, A_.leading()},
                 strided<T>{weights_.column(k), 1, weights_.leading()}, k - first,
                 A_.block(k, k, below(k), right));
    if (!norms_known) {
      for_pieces(k, k, [&](index_t c, index_t width) {
        for (index_t j = c; j < c + width; ++j) {
          if (norms_.exact[j] < 0) set_norm(k, j);
        }
      });
    }
    return k;
  }

  /// Eliminates column k of a panel, and updates row k of the others. Returns false if a norm has
  /// to be computed; the `exact` one is negative then.
  bool step_in_panel(index_t first, index_t k) {
    const index_t done = k - first, rows = below(k);
    exchange(k, done);
    T* const column = &A_(k, k);
    subtract(rows, done, &A_(k, first), A_.leading(), weights_.column(k), column);
    tau_[k] = make_reflector(column[0], rows - 1, column + 1);
    const T diagonal = column[0];
    column[0] = T{1};
    T products[pivot_panel], row[pivot_panel];
    project(rows, done, &A_(k, first), A_.leading(), column, products);
    for (index_t p = 0; p <= done; ++p) row[p] = conjugated(A_(k, first + p));
    std::atomic<bool> norms_known{true};
    for_pieces(k, k + 1, [&](index_t c, index_t width) {
      if (!update_piece(first, k, products, row, c, width)) {
        norms_known.store(false, std::memory_order_relaxed);
      }
    });
    column[0] = diagonal;
    return norms_known.load(std::memory_order_relaxed);
  }

  /// The part of step k in the columns [c, c + width): their weights of v, which is column k, and
  /// their elements in row k. `products` are V^H v, `row` is row k of V, conjugated.
  bool update_piece(index_t first, index_t k, const T* products, const T* row, index_t c,
                    index_t width) const {
    const index_t done = k - first;
    T* const weights = weights_.column(c);
    const index_t step = weights_.leading();
    T dots[pivot_piece], others[pivot_piece];
    project(below(k), width, &A_(k, c), A_.leading(), A_.column(k) + k, dots);
    project(done, width, weights, step, products, others);
    for (index_t j = 0; j < width; ++j) {
      weights[j * step + done] = conjugated(times(tau_[k], dots[j] - others[j]));
    }
    project(done + 1, width, weights, step, row, others);
    bool norms_known = true;
    const bool norms_matter = k + 1 < std::min(A_.rows(), A_.cols());
    for (index_t j = 0; j < width; ++j) {
      T& element = A_(k, c + j);
      element -= conjugated(others[j]);
      if (norms_matter && !norms_.take_out(c + j, std::abs(element))) {
        norms_.exact[c + j] = -1;
        norms_known = false;
      }
    }
    return norms_known;
  }

  matrix_view<T> A_;
  index_t* pivots_;
  T* tau_;
  column_norms<R> norms_;
  matrix_view<T> weights_;  ///< W: A becomes A - V W, with the steps of a panel as rows
};

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void geqp3(matrix_view<T> A, std::span<index_t> pivots, std::span<T> tau, index_t fixed) {
  using R = real<T>;
  const index_t m = A.rows(), n = A.cols();
  require(static_cast<index_t>(tau.size()) >= std::min(m, n) &&
              static_cast<index_t>(pivots.size()) >= n,
          "geqp3", "tau and pivots must have an element per reflector and per column");
  require(fixed >= 0 && fixed <= n, "geqp3", "no more columns than those of A can be fixed");
  std::iota(pivots.begin(), pivots.begin() + n, index_t{0});
  if (m == 0 || n == 0) return;
  const index_t first = std::min(m, fixed);
  if (first > 0) {
    const std::span<T> front = tau.first(static_cast<std::size_t>(first));
    const matrix_view<T> columns = A.columns(0, first);
    geqrf(columns, front);
    ormqr<T>(side::left, op::conjugate_transpose, columns, front, A.columns(first, n - first));
  }
  constexpr index_t few = 64;
  R on_stack[2 * few];
  if (n <= few) {
    return pivoted_qr<T>(A, pivots.data(), tau.data(), {on_stack, on_stack + few}).run(first);
  }
  const pack_array<R> memory(2 * n);
  pivoted_qr<T>(A, pivots.data(), tau.data(), {memory.data(), memory.data() + n}).run(first);
}

#define CREEK_INSTANTIATE(letter, T) \
  template void geqp3<T>(matrix_view<T>, std::span<index_t>, std::span<T>, index_t);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
