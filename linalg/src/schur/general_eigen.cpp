// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors, or the Schur form, of a general matrix: scaling, balancing,
// Hessenberg and Schur form, substitution, and vectors of norm 1.
// Source: the steps of LAPACK's geev and gees.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "blas3/workers.hpp"
#include "checks.hpp"
#include "multishift.hpp"
#include "small_reflector.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Maximum order whose arrays are on the stack.
constexpr index_t stacked_order = 64;
/// Vectors per piece of work when they are normalised.
constexpr index_t normalized_vectors = 32;

template <scalar T>
real<T> largest_element(const_view<T> A) noexcept {
  real<T> most = 0;
  for (index_t j = 0; j < A.cols(); ++j) {
    for (index_t i = 0; i < A.rows(); ++i) {
      const real<T> here = std::abs(A(i, j));
      if (!(here <= most)) most = here;
      if (std::isnan(most)) return most;
    }
  }
  return most;
}

/// Returns the range of largest elements for which squares stay in range; outside of it matrices
/// are scaled to its ends.
template <class R>
R scaled_largest(R most) noexcept {
  const R small = std::sqrt(safe_minimum<R>) / precision<R>;
  if (most > 0 && most < small) return small;
  return most > 1 / small && most <= std::numeric_limits<R>::max() ? 1 / small : most;
}

/// Multiplies by to / from in steps that do not overflow.
template <scalar T>
void rescale(real<T> from, real<T> to, matrix_view<T> A) noexcept {
  using R = real<T>;
  constexpr R small = safe_minimum<R>, big = 1 / small;
  for (bool is_done = false; !is_done;) {
    R factor = to / from;
    const R less = from * small, shrunk = to / big;
    is_done = true;
    if (std::abs(less) > std::abs(to) && to != 0) {
      factor = small;
      from = less;
      is_done = false;
    } else if (std::abs(shrunk) > std::abs(from)) {
      factor = big;
      to = shrunk;
      is_done = false;
    }
    for (index_t j = 0; j < A.cols(); ++j) {
      for (index_t i = 0; i < A.rows(); ++i) A(i, j) *= factor;
    }
  }
}

/// Returns the sum of squares of n elements.
template <scalar T>
real<T> square_sum(index_t n, const T* x) noexcept {
  return std::real(dot(n, x, x));
}

/// Divides a vector by its largest element if squares might leave the range.
template <scalar T>
void keep_in_range(index_t n, T* x, T* y) noexcept {
  using R = real<T>;
  R most = 0;
  for (index_t i = 0; i < n; ++i) most = std::max(most, size_of(x[i]));
  for (index_t i = 0; y != nullptr && i < n; ++i) most = std::max(most, size_of(y[i]));
  const R high = std::sqrt(std::numeric_limits<R>::max()) / 1024, low = 1 / high;
  if (most == 0 || (most > low && most < high)) return;
  for (index_t i = 0; i < n; ++i) x[i] /= most;
  for (index_t i = 0; y != nullptr && i < n; ++i) y[i] /= most;
}

/// Scales a vector to norm 1; if complex, its largest element becomes real.
template <scalar T>
void normalize_vector(index_t n, T* x) noexcept {
  using R = real<T>;
  keep_in_range<T>(n, x, nullptr);
  const R factor = 1 / std::sqrt(square_sum(n, x));
  for (index_t i = 0; i < n; ++i) x[i] *= factor;
  if constexpr (is_complex<T>) {
    index_t at = 0;
    for (index_t i = 1; i < n; ++i) {
      if (std::norm(x[i]) > std::norm(x[at])) at = i;
    }
    const T turn = std::conj(x[at]) / std::abs(x[at]);
    for (index_t i = 0; i < n; ++i) x[i] = times(x[i], turn);
    x[at] = std::real(x[at]);
  }
}

/// The same for the real and imaginary parts of a vector.
template <class R>
void normalize_pair(index_t n, R* x, R* y) noexcept {
  keep_in_range(n, x, y);
  const R factor = 1 / std::sqrt(square_sum(n, x) + square_sum(n, y));
  index_t at = 0;
  R most = 0;
  for (index_t i = 0; i < n; ++i) {
    x[i] *= factor;
    y[i] *= factor;
    const R here = x[i] * x[i] + y[i] * y[i];
    if (here > most) {
      most = here;
      at = i;
    }
  }
  rotation<R> turn;
  turn.make(x[at], y[at]);
  turn.apply(n, x, y);
  y[at] = 0;
}

template <scalar T>
void normalize_vectors(matrix_view<T> V, const std::complex<real<T>>* w) {
  const index_t n = V.cols();
  const auto normalize = [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      if constexpr (!is_complex<T>) {
        if (w[j].imag() < 0) continue;  // with the one before it
        if (w[j].imag() > 0) {
          normalize_pair(V.rows(), V.column(j), V.column(j + 1));
          continue;
        }
      }
      normalize_vector(V.rows(), V.column(j));
    }
  };
  if (n <= stacked_order) return normalize(0, n);
  all_workers::for_each((n + normalized_vectors - 1) / normalized_vectors, [&](index_t piece) {
    const index_t first = piece * normalized_vectors;
    normalize(first, std::min(n, first + normalized_vectors));
  });
}

/// Arrays for one matrix.
template <scalar T>
struct eigen_arrays {
  real<T>* scale;
  T* tau;
};

template <scalar T>
index_t decompose(matrix_view<T> A, std::span<std::complex<real<T>>> w, matrix_view<T> left,
                  matrix_view<T> right, const eigen_arrays<T>& with) {
  const index_t n = A.rows();
  const auto order = static_cast<std::size_t>(n);
  const std::span<real<T>> scale(with.scale, order);
  const std::span<T> tau(with.tau, order);
  const balanced_rows rows = gebal(balancing::both, A, scale);
  if (!rows.is_finite) return n;
  const active_rows active = rows.active;
  gehrd(A, active, tau);
  const bool wants_left = left.rows() > 0, wants_right = right.rows() > 0;
  if (!wants_left && !wants_right) return hseqr<T>(A, active, false, w);

  const matrix_view<T> V = wants_left ? left : right;
  copy<T>(A, V);
  orghr<T>(V, active, tau);
  const index_t failed =
      hseqr<T>(A, active, true, w, V.block(active.first, 0, active.end - active.first, n));
  if (failed > 0) return failed;
  if (wants_left && wants_right) copy<T>(left, right);
  const auto finish = [&](side which, matrix_view<T> vectors) {
    trevc<T>(which, A, vectors);
    gebak<T>(balancing::both, which, active, scale, vectors);
    normalize_vectors<T>(vectors, w.data());
  };
  if (wants_left) finish(side::left, left);
  if (wants_right) finish(side::right, right);
  return 0;
}

template <scalar T>
index_t decompose_schur(matrix_view<T> A, std::span<std::complex<real<T>>> w, matrix_view<T> V,
                        const eigen_arrays<T>& with) {
  const index_t n = A.rows();
  const auto order = static_cast<std::size_t>(n);
  const std::span<real<T>> scale(with.scale, order);
  const std::span<T> tau(with.tau, order);
  const active_rows active = gebal(balancing::permute, A, scale).active;
  gehrd(A, active, tau);
  const bool wanted = V.rows() > 0;
  if (wanted) {
    copy<T>(A, V);
    orghr<T>(V, active, tau);
  }
  const index_t failed = hseqr<T>(
      A, active, true, w, wanted ? V.block(active.first, 0, active.end - active.first, n) : V);
  if (wanted) gebak<T>(balancing::permute, side::right, active, scale, V);
  return failed;
}

/// Calls f with arrays for order n.
template <scalar T, class F>
index_t with_arrays(index_t n, F f) {
  if (n <= stacked_order) {
    std::array<real<T>, stacked_order> scale;
    std::array<T, stacked_order> tau;
    return f(eigen_arrays<T>{scale.data(), tau.data()});
  }
  std::vector<real<T>> scale(static_cast<std::size_t>(n));
  std::vector<T> tau(static_cast<std::size_t>(n));
  return f(eigen_arrays<T>{scale.data(), tau.data()});
}

/// Stores the eigenvalues of a Schur form. A block whose subdiagonal element has become zero is
/// made triangular.
template <scalar T>
void store_eigenvalues(matrix_view<T> A, matrix_view<T> V, std::complex<real<T>>* w) noexcept {
  const index_t n = A.rows();
  for (index_t i = 0; i < n; ++i) {
    w[i] = A(i, i);
    if constexpr (!is_complex<T>) {
      if (i + 1 == n || A(i + 1, i) == 0) continue;
      const T im = std::sqrt(std::abs(A(i, i + 1))) * std::sqrt(std::abs(A(i + 1, i)));
      if (A(i, i + 1) == 0) {
        std::swap_ranges(A.column(i), A.column(i) + i, A.column(i + 1));
        for (index_t j = i + 2; j < n; ++j) std::swap(A(i, j), A(i + 1, j));
        if (V.rows() > 0) std::swap_ranges(V.column(i), V.column(i) + V.rows(), V.column(i + 1));
        A(i, i + 1) = A(i + 1, i);
        A(i + 1, i) = 0;
      }
      w[i] = {A(i, i), im};
      w[i + 1] = {A(i + 1, i + 1), -im};
      ++i;
    }
  }
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
index_t geev(matrix_view<T> A, std::span<std::complex<real<T>>> w, matrix_view<T> left,
             matrix_view<T> right) {
  using R = real<T>;
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(w.size()) >= n, "geev",
          "A must be square, and w of its order");
  for (const matrix_view<T>& each : {left, right}) {
    require(each.rows() == 0 || (each.rows() == n && each.cols() == n), "geev",
            "the vectors must have the shape of A, or no rows");
  }
  if (n == 0) return 0;
  const R most = largest_element<T>(A), scaled = scaled_largest(most);
  if (scaled != most && !std::isnan(most)) rescale(most, scaled, A);
  const index_t failed = with_arrays<T>(
      n, [&](const eigen_arrays<T>& with) { return decompose<T>(A, w, left, right, with); });
  if (scaled != most && !std::isnan(most)) {
    rescale(scaled, most, matrix_view<std::complex<R>>(w.data(), n, 1, n));
  }
  return failed;
}

template <scalar T>
index_t gees(matrix_view<T> A, std::span<std::complex<real<T>>> w, matrix_view<T> V) {
  using R = real<T>;
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(w.size()) >= n, "gees",
          "A must be square, and w of its order");
  require(V.rows() == 0 || (V.rows() == n && V.cols() == n), "gees",
          "V must have the shape of A, or no rows");
  if (n == 0) return 0;
  const R most = largest_element<T>(A), scaled = scaled_largest(most);
  const bool scales = scaled != most && !std::isnan(most);
  if (scales) rescale(most, scaled, A);
  const index_t failed = with_arrays<T>(
      n, [&](const eigen_arrays<T>& with) { return decompose_schur<T>(A, w, V, with); });
  if (scales) {
    rescale(scaled, most, A);
    rescale(scaled, most, matrix_view<std::complex<R>>(w.data(), n, 1, n));
    if (failed == 0) store_eigenvalues(A, V, w.data());
  }
  return failed;
}

template <scalar T>
bool trsen(std::span<const bool> selected, matrix_view<T> A, std::span<std::complex<real<T>>> w,
           matrix_view<T> V) {
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(w.size()) >= n &&
              static_cast<index_t>(selected.size()) >= n,
          "trsen", "A must be square, and w and selected of its order");
  require(V.rows() == 0 || V.cols() == n, "trsen", "V must have a column per column of A");
  index_t next = 0;
  bool is_done = true;
  for (index_t k = 0; k < n && is_done; ++k) {
    const index_t size = !is_complex<T> && k + 1 < n && A(k + 1, k) != T{} ? 2 : 1;
    bool moves = selected[static_cast<std::size_t>(k)];
    if (size == 2) moves |= selected[static_cast<std::size_t>(k) + 1];
    if (moves) {
      index_t to = next;
      if (k != next) is_done = move_block(A, V, k, to);
      next += size;
    }
    k += size - 1;
  }
  store_eigenvalues(A, V, w.data());
  return is_done;
}

#define CREEK_INSTANTIATE(letter, T)                                                              \
  template index_t geev<T>(matrix_view<T>, std::span<std::complex<real<T>>>, matrix_view<T>,      \
                           matrix_view<T>);                                                       \
  template index_t gees<T>(matrix_view<T>, std::span<std::complex<real<T>>>, matrix_view<T>);     \
  template bool trsen<T>(std::span<const bool>, matrix_view<T>, std::span<std::complex<real<T>>>, \
                         matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
