// SPDX-License-Identifier: Apache-2.0
#include "bidiagonalization.hpp"

#include <algorithm>

#include <creek/linalg/qr.hpp>

#include "bidiagonal.hpp"
#include "conjugate_transpose.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflector_columns.hpp"

namespace creek::linalg::detail {
namespace {
namespace bidiagonal {

/// Returns whether to reduce R instead of A: as LAPACK does from 11/6 on, unless A is small.
constexpr bool is_tall(index_t m, index_t n) noexcept {
  return 6 * m >= 11 * n && m > 64;
}

/// Order up to which reflectors are applied one by one.
constexpr index_t small_order = 96;

/// C = Q C or Q^H C for the product Q of `count` reflectors of length m, m - 1, ...: read(k, v)
/// stores the vector of the k-th one in v without its leading 1.
template <scalar T, class Read>
void apply_one_by_one(index_t m, index_t count, op how, const T* tau, matrix_view<T> C,
                      const Read& read) {
  const pack_array<T> memory(m + C.cols());
  T* const v = memory.data();
  v[0] = T{1};
  for (index_t s = 0; s < count; ++s) {
    const index_t k = how == op::none ? count - 1 - s : s;
    read(k, v + 1);
    apply_whole_reflector(v, how == op::none ? tau[k] : conjugated(tau[k]),
                          C.block(k, 0, m - k, C.cols()), v + m);
  }
}

}  // namespace bidiagonal
}  // namespace

template <scalar T>
bidiagonalization<T>::bidiagonalization(matrix_view<T> A)
    : A_(A),
      values_(2 * A.cols()),
      tau_(3 * A.cols()),
      triangle_(bidiagonal::is_tall(A.rows(), A.cols()) ? A.cols() * A.cols() : 0),
      reduced_(A) {
  const index_t n = A.cols();
  if (bidiagonal::is_tall(A.rows(), n)) {
    reduced_ = matrix_view<T>(triangle_.data(), n, n, n);
    geqrf(A, std::span<T>(tau_.data(), static_cast<std::size_t>(n)));
    for (index_t j = 0; j < n; ++j) {
      std::copy_n(A.column(j), j + 1, reduced_.column(j));
      std::fill_n(reduced_.column(j) + j + 1, n - j - 1, T{});
    }
  }
  reduce_to_bidiagonal(reduced_, diagonal(), above(), tau_.data() + n, tau_.data() + 2 * n);
}

template <scalar T>
void bidiagonalization<T>::apply_left(op how, matrix_view<T> C) const {
  const auto count = static_cast<std::size_t>(A_.cols());
  const auto by_reduced = [&] {
    if (reduced_.rows() <= bidiagonal::small_order) {
      const index_t m = reduced_.rows();
      return bidiagonal::apply_one_by_one(
          m, A_.cols(), how, tau_.data() + A_.cols(), C.block(0, 0, m, C.cols()),
          [&](index_t k, T* v) { std::copy_n(reduced_.column(k) + k + 1, m - k - 1, v); });
    }
    ormqr<T>(side::left, how, reduced_, std::span<const T>(tau_.data() + A_.cols(), count),
             C.block(0, 0, reduced_.rows(), C.cols()));
  };
  if (!is_tall()) return by_reduced();
  const auto by_qr = [&] {
    ormqr<T>(side::left, how, A_, std::span<const T>(tau_.data(), count), C);
  };
  if (how == op::none) by_reduced();
  by_qr();
  if (how != op::none) by_reduced();
}

template <scalar T>
void bidiagonalization<T>::apply_right(op how, matrix_view<T> C) const {
  const index_t n = A_.cols(), count = n - 1;
  if (count <= 0) return;
  const T* const tau = tau_.data() + 2 * n;
  const matrix_view<T> rows = C.block(1, 0, count, C.cols());
  if (n > bidiagonal::small_order) {
    const matrix<T> vectors = conjugate_transposed_copy<T>(reduced_.block(0, 1, count, count));
    return ormqr<T>(side::left, how, vectors.view(),
                    std::span<const T>(tau, static_cast<std::size_t>(count)), rows);
  }
  bidiagonal::apply_one_by_one(count, count, how, tau, rows, [&](index_t k, T* v) {
    for (index_t j = k + 2; j < n; ++j) v[j - k - 2] = conjugated(reduced_(k, j));
  });
}

#define CREEK_INSTANTIATE(letter, T) template class bidiagonalization<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
