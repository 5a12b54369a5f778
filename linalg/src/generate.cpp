// SPDX-License-Identifier: Apache-2.0
// Compiled without contraction of a product and a sum into one rounding (CMakeLists.txt): machines
// that fuse them would generate different matrices.
#include <creek/linalg/generate.hpp>

#include <algorithm>
#include <creek/core/error.hpp>

#include "accuracy/counter_hash.hpp"

namespace creek::linalg {
namespace {

using detail::counter_hash;

// Streams for u and v; the streams of the columns count from 0.
constexpr std::uint64_t stream_of_u = ~std::uint64_t{0};
constexpr std::uint64_t stream_of_v = stream_of_u - 1;

template <class T>
T drawn(const counter_hash& from, index_t position) noexcept {
  const auto at = static_cast<std::uint64_t>(position);
  if constexpr (is_complex<T>) {
    return {from.uniform<real<T>>(2 * at), from.uniform<real<T>>(2 * at + 1)};
  } else {
    return from.uniform<T>(at);
  }
}

/// Plain products: std::complex's operator* checks for NaN in an unspecified way.
double product(double a, double b) noexcept {
  return a * b;
}
std::complex<double> product(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
double conjugated(double a) noexcept {
  return a;
}
std::complex<double> conjugated(std::complex<double> a) noexcept {
  return std::conj(a);
}
double square(double a) noexcept {
  return a * a;
}
double square(std::complex<double> a) noexcept {
  return a.real() * a.real() + a.imag() * a.imag();
}

/// Returns a random direction, and 2 / its squared length.
template <class W>
std::pair<std::vector<W>, double> direction(std::uint64_t seed, std::uint64_t stream,
                                            index_t size) {
  const counter_hash hash(seed, stream);
  std::vector<W> u(static_cast<std::size_t>(size));
  double squares = 0;
  for (index_t i = 0; i < size; ++i) {
    u[static_cast<std::size_t>(i)] = drawn<W>(hash, i);
    squares += square(u[static_cast<std::size_t>(i)]);
  }
  return {std::move(u), squares > 0 ? 2 / squares : 0};
}

void check(const matrix_recipe& recipe, index_t rows, index_t cols) {
  if (rows < 0 || cols < 0) throw usage_error("a matrix has no negative number of rows or columns");
  if (recipe.kind == matrix_kind::positive_definite && rows != cols) {
    throw usage_error("a positive definite matrix is square; give as many rows as columns");
  }
  if (recipe.condition == 0) return;
  if (recipe.kind == matrix_kind::dominant) {
    throw usage_error("no condition number can be chosen for a diagonally dominant matrix");
  }
  if (!(recipe.condition >= 1 && recipe.condition <= 1e300)) {
    throw usage_error("a condition number is at least 1 (and at most 1e300)");
  }
}

}  // namespace

template <scalar T>
matrix_generator<T>::matrix_generator(const matrix_recipe& recipe, index_t rows, index_t cols)
    : recipe_(recipe), rows_(rows), cols_(cols) {
  check(recipe, rows, cols);
  if (recipe.condition == 0) return;
  const index_t least = std::min(rows, cols);
  const bool hermitian = recipe.kind == matrix_kind::positive_definite;
  auto [u, a] = direction<wide>(recipe.seed, stream_of_u, rows);
  auto [v, b] = hermitian ? std::pair(u, a) : direction<wide>(recipe.seed, stream_of_v, cols);
  wide s = 0;  // u' D v
  for (index_t k = 0; k < least; ++k) {
    const auto i = static_cast<std::size_t>(k);
    s += product(conjugated(u[i]), v[i]) * singular_value(k);
  }
  // (I - a u u') D (I - b v v') = D - a u (u' D) - b (D v) v' + a b s u v'; each of the two terms
  // before gets half of the last, so that a Hermitian matrix is Hermitian to the last bit.
  const wide half = s * (a * b / 2);
  p_.resize(static_cast<std::size_t>(cols));
  q_.resize(static_cast<std::size_t>(rows));
  for (std::size_t j = 0; j < p_.size(); ++j) {
    const wide du =
        index_t(j) < least ? conjugated(u[j]) * (a * singular_value(index_t(j))) : wide(0);
    p_[j] = du - product(half, conjugated(v[j]));
  }
  for (std::size_t i = 0; i < q_.size(); ++i) {
    const wide dv = index_t(i) < least ? v[i] * (b * singular_value(index_t(i))) : wide(0);
    q_[i] = dv - product(half, u[i]);
  }
  u_ = std::move(u);
  v_ = std::move(v);
}

template <scalar T>
double matrix_generator<T>::singular_value(index_t k) const noexcept {
  const index_t last = std::min(rows_, cols_) - 1;
  if (last < 1) return 1;
  // Written so that the last value is exactly 1 / condition, however large that is.
  const double weight = static_cast<double>(k) / static_cast<double>(last);
  return (1 - weight) + weight / recipe_.condition;
}

template <scalar T>
void matrix_generator<T>::fill(matrix_view<T> block, index_t row, index_t col) const noexcept {
  assert(row >= 0 && col >= 0 && row + block.rows() <= rows_ && col + block.cols() <= cols_);
  for (index_t j = 0; j < block.cols(); ++j) {
    if (recipe_.condition == 0) {
      fill_column(block.column(j), block.rows(), row, col + j);
    } else {
      fill_conditioned(block.column(j), block.rows(), row, col + j);
    }
  }
}

template <scalar T>
void matrix_generator<T>::fill_column(T* to, index_t rows, index_t row,
                                      index_t col) const noexcept {
  const counter_hash hash(recipe_.seed, static_cast<std::uint64_t>(col));
  const bool hermitian = recipe_.kind == matrix_kind::positive_definite;
  const index_t diagonal = col - row;
  // Above the diagonal: the value drawn for the mirrored element, from another stream each.
  const index_t first = hermitian ? std::clamp<index_t>(diagonal, 0, rows) : 0;
  for (index_t i = 0; i < first; ++i) {
    const T mirrored = drawn<T>({recipe_.seed, static_cast<std::uint64_t>(row + i)}, col);
    if constexpr (is_complex<T>) {
      to[i] = std::conj(mirrored);
    } else {
      to[i] = mirrored;
    }
  }
  for (index_t i = first; i < rows; ++i) to[i] = drawn<T>(hash, row + i);
  if (recipe_.kind == matrix_kind::uniform || diagonal < 0 || diagonal >= rows) return;
  // A row or column has fewer other elements than this, each of magnitude <= 1 or sqrt(2).
  const index_t others = std::max(rows_, cols_);
  to[diagonal] = static_cast<real<T>>(is_complex<T> ? 2 * others : others);
}

template <scalar T>
void matrix_generator<T>::fill_conditioned(T* to, index_t rows, index_t row,
                                           index_t col) const noexcept {
  const wide p = p_[static_cast<std::size_t>(col)];
  const wide v = conjugated(v_[static_cast<std::size_t>(col)]);
  for (index_t i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(row + i);
    const wide reflected = product(u_[at], p) + product(q_[at], v);
    const wide d = row + i == col ? singular_value(col) : 0;
    to[i] = static_cast<T>(d - reflected);
  }
}

template <scalar T>
matrix<T> generate(const matrix_recipe& recipe, index_t rows, index_t cols) {
  const matrix_generator<T> generator(recipe, rows, cols);
  matrix<T> result(rows, cols);
  generator.fill(result, 0, 0);
  return result;
}

#define CREEK_INSTANTIATE(letter, T)  \
  template class matrix_generator<T>; \
  template matrix<T> generate(const matrix_recipe&, index_t, index_t);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
