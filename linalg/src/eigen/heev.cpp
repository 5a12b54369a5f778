// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of Hermitian matrices: reduction to tridiagonal form, divide and
// conquer, and the reflectors of the reduction applied to its vectors.
#include <creek/linalg/eigen.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "divide_and_conquer.hpp"
#include "kernels/packing.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reduction.hpp"
#include "scaling.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Columns that are worth a task when matrices are copied.
constexpr index_t copied_columns = 32;

template <class Body>
void for_columns(index_t columns, const Body& body) {
  const index_t pieces = (columns + copied_columns - 1) / copied_columns;
  if (pieces == 0) return;
  all_workers::for_each(pieces, [&](index_t p) {
    const index_t last = std::min(columns, (p + 1) * copied_columns);
    for (index_t j = p * copied_columns; j < last; ++j) body(j);
  });
}

/// Writes the conjugate transpose of the upper triangle of A to the lower one of `to`, which may be
/// A.
template <scalar T>
void mirror_upper(const_view<T> A, matrix_view<T> to) {
  constexpr index_t square = 32;
  const index_t n = A.rows(), blocks = (n + square - 1) / square;
  all_workers::for_each(blocks, [&](index_t b) {
    const index_t j0 = b * square, j1 = std::min(n, j0 + square);
    for (index_t i0 = j0; i0 < n; i0 += square) {
      const index_t i1 = std::min(n, i0 + square);
      for (index_t j = j0; j < j1; ++j) {
        for (index_t i = std::max(i0, j); i < i1; ++i) to(i, j) = conjugated(A(j, i));
      }
    }
  });
}

/// Imaginary parts of the diagonal count as 0.
template <scalar T>
real<T> largest_element(triangle stored, const_view<T> A) noexcept {
  using R = real<T>;
  const index_t n = A.rows();
  R most = 0;
  for (index_t j = 0; j < n; ++j) {
    const index_t first = stored == triangle::lower ? j + 1 : 0;
    const index_t last = stored == triangle::lower ? n : j;
    const R diagonal = std::real(A(j, j));
    most = max_magnitude(&diagonal, 1, most);
    const auto* const column = reinterpret_cast<const R*>(A.column(j));
    most = max_magnitude(column + reals<T> * first, reals<T> * (last - first), most);
  }
  return most;
}

/// Returns the power of two by which a matrix has to be multiplied, as otherwise squares of its
/// elements would underflow or overflow; 0 for most.
template <class R>
int exponent_to_scale(R most) noexcept {
  using limits = std::numeric_limits<R>;
  const R least = std::sqrt(limits::min() / limits::epsilon());
  if (!std::isfinite(most) || most == 0 || (most >= least && most <= 1 / least)) return 0;
  return -exponent_of(most);
}

/// Memory for off-diagonal, factors of reflectors and rotations; small ones on the stack.
template <scalar T>
class eigen_vectors_memory {
 public:
  explicit eigen_vectors_memory(index_t n) {
    if (n > small_eigen) {
      more_.emplace(n + reals<T> * n);
    }
    e_ = more_ ? more_->data() + reals<T> * n : few_e_;
    tau_ = more_ ? reinterpret_cast<T*>(more_->data()) : few_tau_;
  }
  real<T>* e() const noexcept { return e_; }
  T* tau() const noexcept { return tau_; }
  /// Returns room for the rotations of a small matrix.
  real<T>* rotations() noexcept { return rotations_; }

 private:
  real<T> few_e_[small_eigen];
  T few_tau_[small_eigen];
  real<T> rotations_[2 * small_eigen];
  std::optional<pack_array<real<T>>> more_;
  real<T>* e_;
  T* tau_;
};

/// to = vectors [0, count) in ascending order of their eigenvalues.
template <scalar T>
void copy_sorted(const divide_and_conquer<real<T>>& from, matrix_view<T> to) {
  const auto vectors = from.vectors();
  for_columns(to.cols(), [&](index_t k) {
    std::copy_n(vectors.column(from.column_of(k)), to.rows(), to.column(k));
  });
}

/// A Hermitian matrix that is reduced in its lower triangle.
template <scalar T>
class hermitian_problem {
 public:
  using R = real<T>;

  /// `w` has n elements and holds d meanwhile. The job may destroy `stored`, with vectors all of A.
  hermitian_problem(eigen_job job, triangle stored, matrix_view<T> A, R* w)
      : n_(A.rows()), A_(A), w_(w), memory_(n_) {
    const R most = largest_element<T>(stored, A);
    is_finite_ = std::isfinite(most);
    if (!is_finite_) return;
    if (stored == triangle::upper) {
      if (job == eigen_job::values) {
        copy_.emplace(reals<T> * n_ * n_);
        A_ = {reinterpret_cast<T*>(copy_->data()), n_, n_, n_};
      }
      mirror_upper<T>(A, A_);
    }
    make_diagonal_real(A_);
    exponent_ = exponent_to_scale(most);
    if (exponent_ != 0) {
      for (index_t j = 0; j < n_; ++j) {
        scale_by_power(reinterpret_cast<R*>(&A_(j, j)), reals<T> * (n_ - j), exponent_);
      }
    }
    reduce_lower(A_, w_, memory_.e(), memory_.tau());
  }

  /// Computes all eigenvalues in w.
  index_t find_values() {
    return solve([](const tridiagonal<R>& t) { return root_free_ql(t); });
  }

  /// Computes eigenvalues in w and eigenvectors in A, for small matrices.
  index_t find_small() {
    return solve([&](const tridiagonal<R>& t) {
      form_small_q(A_, memory_.tau());
      const index_t info = implicit_ql(t, columns_of(A_), memory_.rotations());
      if (info == 0) sort_pairs(w_, A_);
      return info;
    });
  }

  /// Computes all eigenvalues in w, sorted, and those vectors [first, second) that
  /// choose(sorted w) asks for; use(solver) gets the vectors of T.
  template <class Choose, class Use>
  index_t find_vectors(const Choose& choose, const Use& use) {
    divide_and_conquer<R> solver(n_);
    const index_t info = solve([&](const tridiagonal<R>& t) { return solver.find_sorted(t); });
    if (info != 0) return info;
    const auto [first, count] = choose(w_);
    solver.find_vectors(first, count);
    use(solver);
    return 0;
  }

  void apply(matrix_view<T> C) const { apply_q<T>(A_, memory_.tau(), C); }

 private:
  template <class Solve>
  index_t solve(const Solve& f) {
    if (!is_finite_) {
      std::fill_n(w_, n_, std::numeric_limits<R>::quiet_NaN());
      return n_ - 1;
    }
    const index_t info = solve_scaled(tridiagonal<R>{n_, w_, memory_.e()}, f);
    scale_by_power(w_, n_, -exponent_);
    return info;
  }

  index_t n_;
  matrix_view<T> A_;
  R* w_;
  eigen_vectors_memory<T> memory_;
  std::optional<pack_array<R>> copy_;
  bool is_finite_ = true;
  int exponent_ = 0;
};

/// Replaces A by its eigenvectors.
template <scalar T>
index_t solve_in_place(triangle stored, matrix_view<T> A, real<T>* w) {
  using R = real<T>;
  const index_t n = A.rows();
  hermitian_problem<T> problem(eigen_job::vectors, stored, A, w);
  if (n <= small_eigen) return problem.find_small();
  return problem.find_vectors(
      [n](const R*) { return std::pair(index_t{0}, n); },
      [&](const divide_and_conquer<R>& solver) {
        if constexpr (is_complex<T>) {
          const pack_array<R> memory(2 * n * n);
          const matrix_view<T> Z(reinterpret_cast<T*>(memory.data()), n, n, n);
          copy_sorted(solver, Z);
          problem.apply(Z);
          for_columns(n, [&](index_t j) { std::copy_n(Z.column(j), n, A.column(j)); });
        } else {
          problem.apply(solver.vectors());
          copy_sorted(solver, A);
        }
      });
}

/// Returns first and count of the eigenvalues in a range.
template <class R>
std::pair<index_t, index_t> places_in(const eigen_range& range, const R* w, index_t n) {
  if (range.by == eigen_range::kind::all) return {0, n};
  if (range.by == eigen_range::kind::indices) return {range.first, range.last - range.first};
  const R* const first = std::upper_bound(w, w + n, static_cast<R>(range.low));
  const R* const last = std::upper_bound(w, w + n, static_cast<R>(range.high));
  return {first - w, std::max<index_t>(0, last - first)};
}

/// Finds all eigenvalues in w, and the vectors that choose(w) asks for, first and count, in Z.
template <scalar T>
index_t find_some(eigen_job job, const eigen_range& range, triangle stored, matrix_view<T> A,
                  real<T>* w, matrix_view<T> Z, std::pair<index_t, index_t>& found) {
  using R = real<T>;
  const index_t n = A.rows();
  const auto choose = [&](const R* all) { return found = places_in(range, all, n); };
  hermitian_problem<T> problem(job, stored, A, w);
  if (job == eigen_job::vectors && n > small_eigen) {
    return problem.find_vectors(choose, [&](const divide_and_conquer<R>& solver) {
      const matrix_view<T> to = Z.columns(0, found.second);
      copy_sorted(solver, to);
      problem.apply(to);
    });
  }
  const index_t info = job == eigen_job::values ? problem.find_values() : problem.find_small();
  if (info != 0) return info;
  choose(w);
  if (job == eigen_job::vectors) {
    copy<T>(A.columns(found.first, found.second), Z.columns(0, found.second));
  }
  return 0;
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
index_t heevd(eigen_job job, triangle stored, matrix_view<T> A, std::span<real<T>> w) {
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(w.size()) >= n, "heevd",
          "A must be square, and w must have as many elements as A rows");
  if (n == 0) return 0;
  if (n == 1) {
    w[0] = std::real(A(0, 0));
    if (job == eigen_job::vectors) A(0, 0) = T{1};
    return 0;
  }
  if (job == eigen_job::vectors) return solve_in_place(stored, A, w.data());
  return hermitian_problem<T>(job, stored, A, w.data()).find_values();
}

template <scalar T>
eigen_result heevr(eigen_job job, const eigen_range& range, triangle stored, matrix_view<T> A,
                   std::span<real<T>> w, matrix_view<T> Z) {
  const index_t n = A.rows();
  const bool with_vectors = job == eigen_job::vectors;
  require(A.cols() == n && static_cast<index_t>(w.size()) >= n, "heevr",
          "A must be square, and w must have as many elements as A rows");
  require(range.by != eigen_range::kind::indices ||
              (0 <= range.first && range.first <= range.last && range.last <= n),
          "heevr", "the indices must be those of eigenvalues");
  const index_t most = range.by == eigen_range::kind::indices ? range.last - range.first : n;
  require(!with_vectors || (Z.rows() == n && Z.cols() >= most), "heevr",
          "Z must have as many rows as A, and a column per eigenvector");
  if (n == 0) return {0, 0};
  std::pair<index_t, index_t> found;
  if (n == 1) {
    w[0] = std::real(A(0, 0));
    found = places_in(range, w.data(), n);
    if (with_vectors && found.second == 1) Z(0, 0) = T{1};
    return {0, found.second};
  }
  const index_t info = find_some(job, range, stored, A, w.data(), Z, found);
  if (info != 0) return {info, 0};
  const auto [first, count] = found;
  std::copy_n(w.data() + first, count, w.data());
  return {0, count};
}

#define CREEK_INSTANTIATE(letter, T)                                                      \
  template index_t heevd<T>(eigen_job, triangle, matrix_view<T>, std::span<real<T>>);     \
  template eigen_result heevr<T>(eigen_job, const eigen_range&, triangle, matrix_view<T>, \
                                 std::span<real<T>>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
