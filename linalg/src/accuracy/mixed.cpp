// SPDX-License-Identifier: Apache-2.0
// Solvers that factor in float and refine in double.
#include <creek/linalg/refine.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <creek/linalg/residual.hpp>
#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"
#include "kernels/vector_kernels.hpp"
#include "magnitudes.hpp"
#include "matrix_vector.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr int most_mixed_corrections = 30;

template <scalar T>
using single = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// Returns false for infinities; NaN passes, as in LAPACK, and shows up in the solution.
inline bool fits_float(double x) noexcept {
  return !(std::abs(x) > static_cast<double>(std::numeric_limits<float>::max()));
}

/// Rounds a region of a matrix to lower precision; returns false if a number is too large.
template <scalar T>
bool to_single(region which, const_view<T> from, matrix_view<single<T>> to) {
  std::atomic<bool> fits{true};
  parallel_for(index_t{0}, from.cols(), [&, from, to, which](index_t j) {
    const auto [first, last] = rows_in(which, from.rows(), j);
    bool here = true;
    for (index_t i = first; i < last; ++i) {
      const T value = from(i, j);
      here = here && fits_float(std::real(value)) && fits_float(std::imag(value));
      to(i, j) = static_cast<single<T>>(value);
    }
    if (!here) fits.store(false, std::memory_order_relaxed);
  });
  return fits.load(std::memory_order_relaxed);
}

/// Returns the largest |re| + |im| in a column; NaN if there is one.
template <scalar T>
double largest_magnitude(index_t n, const T* x) {
  return magnitude_sum(x[largest(n, x)]);
}

/// Returns whether each column has |residual| <= tolerance |solution|; false for NaN.
template <scalar T>
bool has_converged(const_view<T> X, const_view<T> R, double tolerance) {
  for (index_t j = 0; j < X.cols(); ++j) {
    const double error = largest_magnitude(R.rows(), R.column(j));
    if (!(error <= tolerance * largest_magnitude(X.rows(), X.column(j)))) return false;
  }
  return true;
}

/// Solves A X = B by `solve`, which solves for a block in lower precision; `subtract_product` does
/// R -= A X. Returns mixed_result::iterations.
template <scalar T, class Solve, class Product>
int solve_low(const_view<T> B, matrix_view<T> X, double tolerance, const Solve& solve,
              const Product& subtract_product) {
  matrix<single<T>> low(X.rows(), X.cols());
  matrix<T> residual(B);
  for (index_t j = 0; j < X.cols(); ++j) std::fill_n(X.column(j), X.rows(), T{});
  for (int solves = 1;; ++solves) {
    if (!to_single<T>(region::all, residual.view(), low.view())) return mixed_result::overflow;
    solve(low.view());
    for (index_t j = 0; j < X.cols(); ++j) {
      for (index_t i = 0; i < X.rows(); ++i) X(i, j) += static_cast<T>(low(i, j));
    }
    copy<T>(B, residual.view());
    subtract_product(X, residual.view());
    if (has_converged<T>(X, residual.view(), tolerance)) return solves - 1;
    if (solves > most_mixed_corrections) return mixed_result::convergence;
  }
}

/// Returns sqrt(n) eps |A|_inf.
template <scalar T>
double tolerance_for(double norm_of_a, index_t n) {
  return norm_of_a * unit_roundoff<T> * std::sqrt(static_cast<double>(n));
}

template <scalar T>
int solve_by_low_lu(const_view<T> A, std::span<index_t> pivots, const_view<T> B, matrix_view<T> X,
                    const lu_options& options) {
  matrix<single<T>> factors(A.rows(), A.cols());
  if (!to_single<T>(region::all, A, factors.view())) return mixed_result::overflow;
  if (getrf(factors.view(), pivots, options) != 0) return mixed_result::factorization;
  const double tolerance = tolerance_for<T>(norm_of(norm::inf, A), A.rows());
  return solve_low<T>(
      B, X, tolerance,
      [&](matrix_view<single<T>> x) { getrs<single<T>>(op::none, factors.view(), pivots, x); },
      [&](const_view<T> x, matrix_view<T> R) {
        gemm<T>(op::none, op::none, T{-1}, A, x, T{1}, R);
      });
}

template <scalar T>
int solve_by_low_cholesky(triangle stored, const_view<T> A, const_view<T> B, matrix_view<T> X,
                          const cholesky_options& options) {
  matrix<single<T>> factor(A.rows(), A.cols());
  const region read = stored == triangle::lower ? region::lower : region::upper;
  if (!to_single<T>(read, A, factor.view())) return mixed_result::overflow;
  if (potrf(stored, factor.view(), options) != 0) return mixed_result::factorization;
  const double tolerance = tolerance_for<T>(norm_of_hermitian(norm::inf, stored, A), A.rows());
  return solve_low<T>(
      B, X, tolerance,
      [&](matrix_view<single<T>> x) { potrs<single<T>>(stored, factor.view(), x); },
      [&](const_view<T> x, matrix_view<T> R) {
        hemm<T>(side::left, stored, T{-1}, A, x, T{1}, R);
      });
}

template <scalar T>
void check_mixed(const char* routine, const_view<T> A, const_view<T> B, matrix_view<T> X) {
  require(A.rows() == A.cols() && A.rows() == B.rows(), routine,
          "A must be square, and B have as many rows");
  require(X.rows() == B.rows() && X.cols() == B.cols(), routine, "X must have the shape of B");
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
mixed_result gesv_mixed(matrix_view<T> A, std::span<index_t> pivots, input<T> B, matrix_view<T> X,
                        const lu_options& options) {
  check_mixed<T>("gesv_mixed", A, B, X);
  require(static_cast<index_t>(pivots.size()) >= A.rows(), "gesv_mixed",
          "pivots must have a place for every row");
  if (A.empty()) return {};
  const int iterations = solve_by_low_lu<T>(A, pivots, B, X, options);
  if (iterations >= 0) return {0, iterations};
  copy<T>(B, X);
  return {gesv(A, pivots, X, options), iterations};
}

template <scalar T>
mixed_result posv_mixed(triangle stored, matrix_view<T> A, input<T> B, matrix_view<T> X,
                        const cholesky_options& options) {
  check_mixed<T>("posv_mixed", A, B, X);
  if (A.empty()) return {};
  const int iterations = solve_by_low_cholesky<T>(stored, A, B, X, options);
  if (iterations >= 0) return {0, iterations};
  copy<T>(B, X);
  return {posv(stored, A, X, options), iterations};
}

#define CREEK_INSTANTIATE(T)                                                                   \
  template mixed_result gesv_mixed<T>(matrix_view<T>, std::span<index_t>, const_view<T>,       \
                                      matrix_view<T>, const lu_options&);                      \
  template mixed_result posv_mixed<T>(triangle, matrix_view<T>, const_view<T>, matrix_view<T>, \
                                      const cholesky_options&);
CREEK_INSTANTIATE(double)
CREEK_INSTANTIATE(std::complex<double>)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
