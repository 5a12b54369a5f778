// SPDX-License-Identifier: Apache-2.0
// Refinement in one precision, column by column.
#include <creek/linalg/refine.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <creek/linalg/residual.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/this_worker.hpp>

#include "checks.hpp"
#include "lent_memory.hpp"
#include "magnitudes.hpp"
#include "norm_estimate.hpp"
#include "vector_system.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr int max_corrections = 5;

/// Least n * n * columns for which several columns are refined in parallel, about 100 us. An
/// estimate.
constexpr index_t parallel_refinement = index_t{1} << 16;

/// Refinement of one column.
template <scalar T, class System>
class refined_column {
 public:
  /// `work` has refine_work_size<T>(n) elements.
  refined_column(const System& system, index_t n, const T* b, T* x, T* work) noexcept
      : system_(system),
        n_(n),
        b_(b),
        x_(x),
        residual_(work),
        signs_(work + 2 * n),
        sizes_(reinterpret_cast<real<T>*>(work + n)) {}

  /// Returns the number of corrections.
  int run() {
    double before = 3;  // LAPACK's initial value
    for (int corrections = 0;; ++corrections) {
      find_residual();
      const bool helps = backward_ > unit_roundoff<T> && 2 * backward_ <= before;
      if (!helps || corrections == max_corrections) return corrections;
      before = backward_;
      system_.solve(residual_);
      for (index_t i = 0; i < n_; ++i) x_[i] += residual_[i];
    }
  }

  double backward_error() const noexcept { return backward_; }

  /// |M^-1| (|R| + (n + 1) eps (|M| |X| + |B|)) bounds |X - exact|; its norm is that of |M^-1|
  /// times a diagonal matrix. The residual is lost.
  double forward_error() {
    const auto factor = static_cast<real<T>>(terms() * unit_roundoff<T>);
    double largest = 0;
    for (index_t i = 0; i < n_; ++i) {
      const double size = sizes_[i];
      sizes_[i] = short_magnitude(residual_[i]) + factor * sizes_[i] +
                  static_cast<real<T>>(size > min_size() ? 0 : smallest());
      largest = greater(largest, magnitude_sum(x_[i]));
    }
    // Transposed, for the infinity norm of |M^-1|.
    const double error = estimate_one_norm<T>(n_, residual_, signs_, [&](op how, T* x) {
      if (how != op::none) weigh(x);
      how == op::none ? system_.solve_adjoint(x) : system_.solve(x);
      if (how == op::none) weigh(x);
      return true;
    });
    return largest == 0 ? error : error / largest;
  }

 private:
  /// Maximum number of rounding errors in a residual.
  double terms() const { return static_cast<double>(n_ + 1); }
  /// Largest error of a residual's element by underflow; below min_size() this error counts.
  double smallest() const {
    return terms() * static_cast<double>(std::numeric_limits<real<T>>::min());
  }
  double min_size() const { return smallest() / unit_roundoff<T>; }

  void weigh(T* x) const noexcept {
    for (index_t i = 0; i < n_; ++i) x[i] *= sizes_[i];
  }

  /// Sets residual_, sizes_ and backward_.
  void find_residual() noexcept {
    auto* const magnitudes = reinterpret_cast<real<T>*>(residual_);
    for (index_t i = 0; i < n_; ++i) {
      magnitudes[i] = short_magnitude(x_[i]);
      sizes_[i] = short_magnitude(b_[i]);
    }
    system_.add_magnitude_product(magnitudes, sizes_);
    std::copy_n(b_, n_, residual_);
    system_.subtract_product(x_, residual_);
    backward_ = 0;
    for (index_t i = 0; i < n_; ++i) {
      const double error = magnitude_sum(residual_[i]), size = sizes_[i];
      if (size == 0) continue;  // LAPACK returns 1 here, although nothing is wrong
      const double extra = size > min_size() ? 0 : smallest();
      backward_ = greater(backward_, (error + extra) / (size + extra));
    }
  }

  const System& system_;
  index_t n_;
  const T* b_;
  T* x_;
  T* residual_;
  T* signs_;
  real<T>* sizes_;  // |M| |X| + |B|
  double backward_ = 0;
};

/// Arguments of both routines.
template <scalar T>
struct refined_columns {
  const_view<T> B;
  matrix_view<T> X;
  std::span<double> ferr;
  std::span<double> berr;

  /// Refines columns [first, last); returns the largest number of corrections.
  template <class System>
  int run(const System& system, index_t first, index_t last, T* work) const {
    int most = 0;
    for (index_t j = first; j < last; ++j) {
      refined_column<T, System> column(system, X.rows(), B.column(j), X.column(j), work);
      most = std::max(most, column.run());
      const auto at = static_cast<std::size_t>(j);
      if (!berr.empty()) berr[at] = column.backward_error();
      if (!ferr.empty()) ferr[at] = column.forward_error();
    }
    return most;
  }

  template <class System>
  int run(const System& system, std::span<T> work) const {
    if (X.empty()) {
      std::fill(ferr.begin(), ferr.end(), 0.0);
      std::fill(berr.begin(), berr.end(), 0.0);
      return 0;
    }
    const index_t n = X.rows(), cols = X.cols();
    if (cols > 1 && this_worker() >= 0 && n * n > parallel_refinement / cols) {
      std::atomic<int> most{0};
      parallel_for_range(index_t{0}, cols, [&](index_t first, index_t last) {
        const lent_memory<T> own({}, refine_work_size<T>(n));
        const int corrections = run(system, first, last, own.data());
        int before = most.load(std::memory_order_relaxed);
        while (before < corrections && !most.compare_exchange_weak(before, corrections)) {
        }
      });
      return most.load(std::memory_order_relaxed);
    }
    return run(system, 0, cols, lent_memory<T>(work, refine_work_size<T>(n)).data());
  }
};

template <scalar T>
void check_shapes(const char* routine, const_view<T> A, const_view<T> factors, const_view<T> B,
                  matrix_view<T> X, std::span<double> ferr, std::span<double> berr) {
  require(A.rows() == A.cols() && factors.rows() == A.rows() && factors.cols() == A.cols(), routine,
          "A and its factors must be square, and of one order");
  require(B.rows() == A.rows() && X.rows() == A.rows() && B.cols() == X.cols(), routine,
          "B and X must have as many rows as A, and as many columns as each other");
  const auto cols = static_cast<std::size_t>(X.cols());
  require((ferr.empty() || ferr.size() >= cols) && (berr.empty() || berr.size() >= cols), routine,
          "ferr and berr must have a place for every column of X, or none");
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
int gerfs(op how, input<T> A, input<T> LU, std::span<const index_t> pivots, input<T> B,
          matrix_view<T> X, std::span<double> ferr, std::span<double> berr, std::span<T> work) {
  check_shapes<T>("gerfs", A, LU, B, X, ferr, berr);
  require(static_cast<index_t>(pivots.size()) >= A.rows(), "gerfs",
          "pivots must have a place for every row");
  return refined_columns<T>{B, X, ferr, berr}.run(lu_system<T>{how, A, LU, pivots}, work);
}

template <scalar T>
int porfs(triangle stored, input<T> A, input<T> factor, input<T> B, matrix_view<T> X,
          std::span<double> ferr, std::span<double> berr, std::span<T> work) {
  check_shapes<T>("porfs", A, factor, B, X, ferr, berr);
  return refined_columns<T>{B, X, ferr, berr}.run(cholesky_system<T>{stored, A, factor}, work);
}

#define CREEK_INSTANTIATE(letter, T)                                                               \
  template int gerfs<T>(op, const_view<T>, const_view<T>, std::span<const index_t>, const_view<T>, \
                        matrix_view<T>, std::span<double>, std::span<double>, std::span<T>);       \
  template int porfs<T>(triangle, const_view<T>, const_view<T>, const_view<T>, matrix_view<T>,     \
                        std::span<double>, std::span<double>, std::span<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
