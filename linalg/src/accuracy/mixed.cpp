// SPDX-License-Identifier: Apache-2.0
// Solvers that factor in float and refine in double.
#include <creek/linalg/refine.hpp>

#include <atomic>
#include <cmath>
#include <limits>

#include <creek/linalg/residual.hpp>
#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"
#include "kernels/small_kernels.hpp"
#include "lent_memory.hpp"
#include "magnitudes.hpp"
#include "matrix_vector.hpp"
#include "vector_system.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr int max_mixed_corrections = 30;

template <scalar T>
using single = lower_precision<T>;

/// Memory of one call: the factors in lower precision, a block of right-hand sides in both.
template <scalar T>
class mixed_space {
 public:
  mixed_space(const mixed_work<T>& work, index_t n, index_t cols)
      : n_(n), cols_(cols), full_(work.full, n * cols), low_(work.low, n * (n + cols)) {}

  matrix_view<single<T>> factors() const noexcept { return {low_.data(), n_, n_, n_}; }
  matrix_view<single<T>> low() const noexcept { return {low_.data() + n_ * n_, n_, cols_, n_}; }
  matrix_view<T> residual() const noexcept { return {full_.data(), n_, cols_, n_}; }
  /// Room for n sums, only if there are right-hand sides; it is that of the residual.
  double* sums() const noexcept { return reinterpret_cast<double*>(full_.data()); }

 private:
  index_t n_;
  index_t cols_;
  lent_memory<T> full_;
  lent_memory<single<T>> low_;
};

/// Returns false for infinities; NaN passes, as in LAPACK, and shows up in the solution.
inline bool fits_float(double x) noexcept {
  return !(std::abs(x) > static_cast<double>(std::numeric_limits<float>::max()));
}

/// Rounds a column of a region of a matrix to lower precision; returns false if a number is too
/// large.
template <scalar T>
bool column_to_single(region which, const_view<T> from, matrix_view<single<T>> to, index_t j) {
  const auto [first, last] = rows_in(which, from.rows(), j);
  bool fits = true;
  for (index_t i = first; i < last; ++i) {
    const T value = from(i, j);
    fits &= fits_float(std::real(value));
    fits &= fits_float(std::imag(value));
    to(i, j) = static_cast<single<T>>(value);
  }
  return fits;
}

/// Does the same for all columns.
template <scalar T>
bool to_single(region which, const_view<T> from, matrix_view<single<T>> to) {
  constexpr index_t worth_tasks = 4096;  // elements, about 4 us; an estimate
  std::atomic<bool> fits{true};
  const auto convert = [&, from, to, which](index_t j) {
    if (!column_to_single(which, from, to, j)) fits.store(false, std::memory_order_relaxed);
  };
  if (from.rows() * from.cols() > worth_tasks) {
    parallel_for(index_t{0}, from.cols(), convert);
  } else {
    for (index_t j = 0; j < from.cols(); ++j) convert(j);
  }
  return fits.load(std::memory_order_relaxed);
}

/// Returns whether each column has |residual| <= tolerance |solution|; false for NaN.
template <scalar T>
bool has_converged(const_view<T> X, const_view<T> R, double tolerance) {
  for (index_t j = 0; j < X.cols(); ++j) {
    double error = 0, size = 0;
    for (index_t i = 0; i < X.rows(); ++i) {
      const double here = magnitude_sum(R(i, j));
      if (std::isnan(here)) return false;
      error = std::max(error, here);
      size = std::max(size, magnitude_sum(X(i, j)));
    }
    if (!(error <= tolerance * size)) return false;
  }
  return true;
}

/// Solves A X = B by `solve`, which solves for a block in lower precision; `subtract_product` does
/// R -= A X. Returns mixed_result::iterations.
template <scalar T, class Solve, class Product>
int solve_low(const_view<T> B, matrix_view<T> X, double tolerance, const mixed_space<T>& space,
              const Solve& solve, const Product& subtract_product) {
  const matrix_view<single<T>> low = space.low();
  const matrix_view<T> residual = space.residual();
  copy<T>(B, residual);
  for (index_t j = 0; j < X.cols(); ++j) std::fill_n(X.column(j), X.rows(), T{});
  for (int solves = 1;; ++solves) {
    if (!to_single<T>(region::all, residual, low)) return mixed_result::overflow;
    solve(low);
    for (index_t j = 0; j < X.cols(); ++j) {
      for (index_t i = 0; i < X.rows(); ++i) X(i, j) += static_cast<T>(low(i, j));
    }
    copy<T>(B, residual);
    subtract_product(X, residual);
    if (has_converged<T>(X, residual, tolerance)) return solves - 1;
    if (solves > max_mixed_corrections) return mixed_result::convergence;
  }
}

/// Does the same column by column, with systems that share A.
template <scalar T, class System, class LowSystem>
int solve_one_by_one(const_view<T> B, matrix_view<T> X, double tolerance,
                     const mixed_space<T>& space, const System& system, const LowSystem& low) {
  return solve_low<T>(
      B, X, tolerance, space,
      [&](matrix_view<single<T>> x) {
        for (index_t j = 0; j < x.cols(); ++j) low.solve(x.column(j));
      },
      [&](matrix_view<T> x, matrix_view<T> R) {
        for (index_t j = 0; j < x.cols(); ++j) system.subtract_product(x.column(j), R.column(j));
      });
}

/// Returns the infinity norm of a matrix, of which only the triangle `stored`, if there is one,
/// is read; `sums` has room for a number per row.
template <scalar T>
double norm_by_rows(const triangle* stored, const_view<T> A, double* sums) {
  const index_t n = A.rows();
  std::fill_n(sums, n, 0.0);
  for (index_t j = 0; j < n; ++j) {
    if (stored == nullptr) {
      for (index_t i = 0; i < n; ++i) sums[i] += magnitude(A(i, j));
      continue;
    }
    const bool is_lower = *stored == triangle::lower;
    double sum = std::abs(std::real(A(j, j)));
    for (index_t i = is_lower ? j + 1 : 0; i < (is_lower ? n : j); ++i) {
      const double here = magnitude(A(i, j));
      sum += here;
      sums[i] += here;
    }
    sums[j] += sum;
  }
  double result = 0;
  for (index_t i = 0; i < n; ++i) result = greater(result, sums[i]);
  return result;
}

/// Returns sqrt(n) eps |A|_inf, or 0 if there are no right-hand sides.
template <scalar T>
double tolerance_for(const triangle* stored, const_view<T> A, index_t cols,
                     const mixed_space<T>& space) {
  if (cols == 0) return 0;
  const double norm = norm_by_rows(stored, A, space.sums());
  return norm * unit_roundoff<T> * std::sqrt(static_cast<double>(A.rows()));
}

/// Returns whether the systems are solved one by one, as measured: where level 3 has neither enough
/// columns nor a kernel for small matrices.
template <scalar T>
bool are_few(const_view<T> B, bool has_kernel) noexcept {
  const index_t n = B.rows(), cols = B.cols();
  return n <= 1000 && (cols <= 2 || n * cols <= 40 || (cols <= 4 && !has_kernel));
}

/// R -= A X for a Hermitian A, in blocks whose diagonal ones are completed: small products are
/// computed in place, which hemm does not.
template <scalar T>
void subtract_hermitian(triangle stored, const_view<T> A, const_view<T> X, matrix_view<T> R) {
  constexpr index_t width = 32, max_rows = 192;
  if (A.rows() > max_rows) return hemm<T>(side::left, stored, T{-1}, A, X, T{1}, R);
  T complete[width * width];
  const auto rows = [](auto of, index_t first, index_t last) {
    return of.block(first, 0, last - first, of.cols());
  };
  for (index_t j = 0; j < A.rows(); j += width) {
    const index_t end = std::min(A.rows(), j + width), cols = end - j;
    for (index_t c = 0; c < cols; ++c) {
      complete[c + c * width] = std::real(A(j + c, j + c));
      for (index_t i = c + 1; i < cols; ++i) {
        const T below = stored == triangle::lower ? A(j + i, j + c) : conjugated(A(j + c, j + i));
        complete[i + c * width] = below;
        complete[c + i * width] = conjugated(below);
      }
    }
    const auto subtract_gemm = [](op how, const_view<T> a, const_view<T> x, matrix_view<T> r) {
      if (!a.empty()) gemm<T>(how, op::none, T{-1}, a, x, T{1}, r);
    };
    const const_view<T> square(complete, cols, cols, width);
    subtract_gemm(op::none, square, rows(X, j, end), rows(R, j, end));
    const index_t first = stored == triangle::lower ? end : 0;
    const index_t last = stored == triangle::lower ? A.rows() : j;
    const const_view<T> beside = A.block(first, j, last - first, cols);
    subtract_gemm(op::none, beside, rows(X, j, end), rows(R, first, last));
    subtract_gemm(op::conjugate_transpose, beside, rows(X, first, last), rows(R, j, end));
  }
}

template <scalar T>
int solve_by_low_lu(const_view<T> A, std::span<index_t> pivots, const_view<T> B, matrix_view<T> X,
                    const lu_options& options, const mixed_space<T>& space) {
  const matrix_view<single<T>> factors = space.factors();
  if (!to_single<T>(region::all, A, factors)) return mixed_result::overflow;
  if (getrf(factors, pivots, options) != 0) return mixed_result::factorization;
  const double tolerance = tolerance_for(nullptr, A, B.cols(), space);
  if (are_few<T>(B, is_small<T>(A.rows(), 1) && !is_complex<T>)) {
    return solve_one_by_one<T>(B, X, tolerance, space, lu_system<T>{op::none, A, A, pivots},
                               lu_system<single<T>>{op::none, factors, factors, pivots});
  }
  return solve_low<T>(
      B, X, tolerance, space,
      [&](matrix_view<single<T>> x) { getrs<single<T>>(op::none, factors, pivots, x); },
      [&](matrix_view<T> x, matrix_view<T> R) {
        gemm<T>(op::none, op::none, T{-1}, A, x, T{1}, R);
      });
}

template <scalar T>
int solve_by_low_cholesky(triangle stored, const_view<T> A, const_view<T> B, matrix_view<T> X,
                          const cholesky_options& options, const mixed_space<T>& space) {
  const matrix_view<single<T>> factor = space.factors();
  const region part = stored == triangle::lower ? region::lower : region::upper;
  if (!to_single<T>(part, A, factor)) return mixed_result::overflow;
  if (potrf(stored, factor, options) != 0) return mixed_result::factorization;
  const double tolerance = tolerance_for(&stored, A, B.cols(), space);
  if (are_few<T>(B, false)) {
    return solve_one_by_one<T>(B, X, tolerance, space, cholesky_system<T>{stored, A, A},
                               cholesky_system<single<T>>{stored, factor, factor});
  }
  return solve_low<T>(
      B, X, tolerance, space,
      [&](matrix_view<single<T>> x) { potrs<single<T>>(stored, factor, x); },
      [&](matrix_view<T> x, matrix_view<T> R) { subtract_hermitian<T>(stored, A, x, R); });
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
                        const lu_options& options, const mixed_work<T>& work) {
  check_mixed<T>("gesv_mixed", A, B, X);
  require(static_cast<index_t>(pivots.size()) >= A.rows(), "gesv_mixed",
          "pivots must have a place for every row");
  if (A.empty()) return {};
  const int iterations =
      solve_by_low_lu<T>(A, pivots, B, X, options, mixed_space<T>(work, A.rows(), B.cols()));
  if (iterations >= 0) return {0, iterations};
  copy<T>(B, X);
  return {gesv(A, pivots, X, options), iterations};
}

template <scalar T>
mixed_result posv_mixed(triangle stored, matrix_view<T> A, input<T> B, matrix_view<T> X,
                        const cholesky_options& options, const mixed_work<T>& work) {
  check_mixed<T>("posv_mixed", A, B, X);
  if (A.empty()) return {};
  const int iterations =
      solve_by_low_cholesky<T>(stored, A, B, X, options, mixed_space<T>(work, A.rows(), B.cols()));
  if (iterations >= 0) return {0, iterations};
  copy<T>(B, X);
  return {posv(stored, A, X, options), iterations};
}

#define CREEK_INSTANTIATE(T)                                                                    \
  template mixed_result gesv_mixed<T>(matrix_view<T>, std::span<index_t>, const_view<T>,        \
                                      matrix_view<T>, const lu_options&, const mixed_work<T>&); \
  template mixed_result posv_mixed<T>(triangle, matrix_view<T>, const_view<T>, matrix_view<T>,  \
                                      const cholesky_options&, const mixed_work<T>&);
CREEK_INSTANTIATE(double)
CREEK_INSTANTIATE(std::complex<double>)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
