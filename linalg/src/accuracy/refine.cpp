// SPDX-License-Identifier: Apache-2.0
// Refinement in one precision. All right-hand sides are processed together, so that A is read once
// for all of them; columns that are done get zero corrections.
#include <creek/linalg/refine.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <creek/linalg/residual.hpp>
#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"
#include "magnitudes.hpp"
#include "matrix_vector.hpp"
#include "norm_estimate.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr int most_corrections = 5;

template <scalar T>
matrix<double> magnitudes_of(const_view<T> X) {
  matrix<double> result(X.rows(), X.cols());
  for (index_t j = 0; j < X.cols(); ++j) {
    for (index_t i = 0; i < X.rows(); ++i) result(i, j) = magnitude_sum(X(i, j));
  }
  return result;
}

/// W += |A| x for rows [first, last), for a region of A.
template <scalar T>
void add_rows(region which, const_view<T> A, const matrix<double>& x, index_t first, index_t last,
              matrix<double>& W) {
  for (index_t j = 0; j < A.cols(); ++j) {
    const auto [top, end] = rows_in(which, A.rows(), j);
    for (index_t k = 0; k < W.cols(); ++k) {
      const double factor = x(j, k);
      for (index_t i = std::max(first, top); i < std::min(last, end); ++i) {
        W(i, k) += magnitude_sum(A(i, j)) * factor;
      }
    }
  }
}
/// W += |A|^T x for the same rows.
template <scalar T>
void add_columns(region which, const_view<T> A, const matrix<double>& x, index_t first,
                 index_t last, matrix<double>& W) {
  for (index_t j = first; j < last; ++j) {
    const auto [top, end] = rows_in(which, A.rows(), j);
    for (index_t k = 0; k < W.cols(); ++k) {
      double sum = 0;
      for (index_t i = top; i < end; ++i) sum += magnitude_sum(A(i, j)) * x(i, k);
      W(j, k) += sum;
    }
  }
}

/// System M X = B, defined by the operations that use M.
template <scalar T>
struct linear_system {
  std::function<void(const_view<T> X, matrix_view<T> R)> subtract_product;  // R -= M X
  /// Adds |M| x to rows [first, last) of W.
  std::function<void(const matrix<double>& x, index_t first, index_t last, matrix<double>& W)>
      add_magnitudes;
  std::function<void(matrix_view<T>)> solve;
  linear_map<T> inverse;  // inverse of M, or of its conjugate
};

template <scalar T>
class refinement {
 public:
  refinement(const linear_system<T>& system, const_view<T> B, matrix_view<T> X)
      : system_(system), B_(B), X_(X), backward_(static_cast<std::size_t>(X.cols())) {}

  int run() {
    std::vector<double> before(backward_.size(), 3);  // LAPACK's initial value
    std::vector<bool> done(backward_.size());
    for (int corrections = 0;; ++corrections) {
      find_residual();
      for (std::size_t j = 0; j < done.size(); ++j) {
        const double error = backward_[j];
        done[j] = done[j] || !(error > unit_roundoff<T> && 2 * error <= before[j]);
        before[j] = error;
      }
      const bool all_done = std::find(done.begin(), done.end(), false) == done.end();
      if (all_done || corrections == most_corrections) return corrections;
      correct(done);
    }
  }

  double backward_error(index_t j) const { return backward_[static_cast<std::size_t>(j)]; }

  /// |M^-1| (|R| + (n + 1) eps (|M| |X| + |B|)) bounds |X - exact|; its norm is that of |M^-1|
  /// times a diagonal matrix.
  double forward_error(index_t j) const {
    std::vector<real<T>> weights(static_cast<std::size_t>(X_.rows()));
    double largest = 0;
    for (index_t i = 0; i < X_.rows(); ++i) {
      const double size = sizes_(i, j);
      const double weight = magnitude_sum(residual_(i, j)) + terms() * unit_roundoff<T> * size +
                            (size > least_size() ? 0 : smallest());
      weights[static_cast<std::size_t>(i)] = static_cast<real<T>>(weight);
      largest = greater(largest, magnitude_sum(X_(i, j)));
    }
    const auto weigh = [&](matrix_view<T> x) {
      for (index_t k = 0; k < x.cols(); ++k) {
        for (index_t i = 0; i < x.rows(); ++i) x(i, k) *= weights[static_cast<std::size_t>(i)];
      }
    };
    // Transposed, for the infinity norm of |M^-1|.
    const linear_map<T> map = [&](op how, matrix_view<T> x) {
      if (how != op::none) weigh(x);
      system_.inverse(other(how, true), x);
      if (how == op::none) weigh(x);
    };
    const double error = estimate_one_norm<T>(X_.rows(), map);
    return largest == 0 ? error : error / largest;
  }

 private:
  /// Maximum number of rounding errors in a residual.
  double terms() const { return static_cast<double>(X_.rows() + 1); }
  /// Largest error of a residual's element by underflow; below least_size() this error counts.
  double smallest() const {
    return terms() * static_cast<double>(std::numeric_limits<real<T>>::min());
  }
  double least_size() const { return smallest() / unit_roundoff<T>; }

  void find_residual() {
    residual_ = matrix<T>(B_);
    system_.subtract_product(X_, residual_.view());
    sizes_ = magnitudes_of<T>(B_);
    const matrix<double> x = magnitudes_of<T>(X_);
    parallel_for_range(
        index_t{0}, X_.rows(),
        [&](index_t first, index_t last) { system_.add_magnitudes(x, first, last, sizes_); },
        {.grain = 64});
    for (index_t j = 0; j < X_.cols(); ++j) {
      double worst = 0;
      for (index_t i = 0; i < X_.rows(); ++i) {
        const double error = magnitude_sum(residual_(i, j));
        const double size = sizes_(i, j);
        if (size == 0) continue;  // LAPACK returns 1 here, although nothing is wrong
        const double extra = size > least_size() ? 0 : smallest();
        worst = greater(worst, (error + extra) / (size + extra));
      }
      backward_[static_cast<std::size_t>(j)] = worst;
    }
  }

  void correct(const std::vector<bool>& done) {
    matrix<T> step(X_.rows(), X_.cols());
    for (index_t j = 0; j < X_.cols(); ++j) {
      if (!done[static_cast<std::size_t>(j)]) {
        std::copy_n(&residual_(0, j), X_.rows(), &step(0, j));
      }
    }
    system_.solve(step.view());
    for (index_t j = 0; j < X_.cols(); ++j) {
      if (done[static_cast<std::size_t>(j)]) continue;
      for (index_t i = 0; i < X_.rows(); ++i) X_(i, j) += step(i, j);
    }
  }

  const linear_system<T>& system_;
  const_view<T> B_;
  matrix_view<T> X_;
  std::vector<double> backward_;
  matrix<T> residual_;
  matrix<double> sizes_;  // |M| |X| + |B|
};

template <scalar T>
int refine(const linear_system<T>& system, const_view<T> B, matrix_view<T> X,
           std::span<double> ferr, std::span<double> berr) {
  if (X.empty()) {
    std::fill(ferr.begin(), ferr.end(), 0.0);
    std::fill(berr.begin(), berr.end(), 0.0);
    return 0;
  }
  refinement<T> run(system, B, X);
  const int corrections = run.run();
  for (index_t j = 0; j < X.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (!berr.empty()) berr[at] = run.backward_error(j);
    if (!ferr.empty()) ferr[at] = run.forward_error(j);
  }
  return corrections;
}

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
          matrix_view<T> X, std::span<double> ferr, std::span<double> berr) {
  check_shapes<T>("gerfs", A, LU, B, X, ferr, berr);
  require(static_cast<index_t>(pivots.size()) >= A.rows(), "gerfs",
          "pivots must have a place for every row");
  linear_system<T> system;
  system.subtract_product = [&](const_view<T> x, matrix_view<T> R) {
    gemm<T>(how, op::none, T{-1}, A, x, T{1}, R);
  };
  system.add_magnitudes = [&](const matrix<double>& x, index_t first, index_t last,
                              matrix<double>& W) {
    (how == op::none ? add_rows<T> : add_columns<T>)(region::all, A, x, first, last, W);
  };
  system.solve = [&](matrix_view<T> x) { getrs<T>(how, LU, pivots, x); };
  system.inverse = [&](op turned, matrix_view<T> x) {
    getrs<T>(how == op::none ? turned : other(turned, true), LU, pivots, x);
  };
  return refine<T>(system, B, X, ferr, berr);
}

template <scalar T>
int porfs(triangle stored, input<T> A, input<T> factor, input<T> B, matrix_view<T> X,
          std::span<double> ferr, std::span<double> berr) {
  check_shapes<T>("porfs", A, factor, B, X, ferr, berr);
  const region strict = stored == triangle::lower ? region::strictly_lower : region::strictly_upper;
  linear_system<T> system;
  system.subtract_product = [&](const_view<T> x, matrix_view<T> R) {
    hemm<T>(side::left, stored, T{-1}, A, x, T{1}, R);
  };
  system.add_magnitudes = [&](const matrix<double>& x, index_t first, index_t last,
                              matrix<double>& W) {
    add_rows<T>(strict, A, x, first, last, W);
    add_columns<T>(strict, A, x, first, last, W);
    for (index_t k = 0; k < W.cols(); ++k) {
      for (index_t i = first; i < last; ++i) {
        W(i, k) += magnitude_sum(std::real(A(i, i))) * x(i, k);
      }
    }
  };
  system.solve = [&](matrix_view<T> x) { potrs<T>(stored, factor, x); };
  system.inverse = [&](op, matrix_view<T> x) { potrs<T>(stored, factor, x); };
  return refine<T>(system, B, X, ferr, berr);
}

#define CREEK_INSTANTIATE(letter, T)                                                               \
  template int gerfs<T>(op, const_view<T>, const_view<T>, std::span<const index_t>, const_view<T>, \
                        matrix_view<T>, std::span<double>, std::span<double>);                     \
  template int porfs<T>(triangle, const_view<T>, const_view<T>, const_view<T>, matrix_view<T>,     \
                        std::span<double>, std::span<double>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
