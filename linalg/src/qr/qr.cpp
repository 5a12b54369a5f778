// SPDX-License-Identifier: Apache-2.0
// QR as a graph of tasks on blocks of columns, like LU; products with Q by blocks of reflectors.
#include <creek/linalg/qr.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <creek/tasking/parallel_for.hpp>

#include "checks.hpp"
#include "column_factorization.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflectors.hpp"
#include "tall_qr.hpp"
#include "tall_reflectors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// QR by tasks on blocks of columns. Step k, with Q(k) = I - V T V^H:
///   A(k:m, k) = Q(k) R(k, k)                        factor
///   A(k:m, j) = Q(k)^H A(k:m, j)                    update, for each j > k
template <scalar T>
class qr_by_columns final : public column_factorization<T, packed_reflectors<T>> {
 public:
  /// tau[0, min(m, n)) become the factors of the reflectors.
  qr_by_columns(matrix_view<T> A, T* tau, index_t block)
      : column_factorization<T, packed_reflectors<T>>(A, block), tau_(tau) {}

 private:
  /// A panel counts with its triangle T.
  double products(index_t k, index_t j) const override {
    const matrix_view<T> C = this->below(k, j);
    const auto rows = static_cast<double>(C.rows()), cols = static_cast<double>(C.cols());
    const auto order = static_cast<double>(this->order(k));
    return k == j ? 1.5 * rows * order * order : 2 * rows * cols * order;
  }

  std::unique_ptr<packed_reflectors<T>> factor(index_t k) override {
    const matrix_view<T> whole = this->below(k, k);
    const index_t order = this->order(k);
    const matrix_view<T> panel = whole.columns(0, order);
    matrix<T> triangle(order, order);
    factor_reflectors(panel, tau_ + this->first(k), triangle.view());
    const bool wide = order < whole.cols();
    if (k + 1 == this->blocks() && !wide) return nullptr;
    auto reflectors = std::make_unique<packed_reflectors<T>>(panel, triangle.view(), true);
    // Updates the columns to the right if the panel is wider than high.
    if (wide) reflectors->apply(whole.columns(order, whole.cols() - order));
    return reflectors;
  }

  void update(const packed_reflectors<T>& panel, index_t k, index_t j) const override {
    panel.apply(this->below(k, j));
  }

  T* tau_;
};

/// Maximum number of elements of a matrix that is factored without blocks.
constexpr index_t small_matrix = 5000;

/// Returns the number of reflectors of that length to apply at once: of short ones, the triangle T
/// of many costs more than it saves.
constexpr index_t reflector_block(index_t order) noexcept {
  return order <= 300 ? 32 : 96;
}

/// Returns whether applying reflectors one by one is faster than in blocks, whose T costs as much
/// as dozens of columns. It is for matrices of `small` elements at most.
constexpr bool few(index_t order, index_t count, index_t columns, index_t small) {
  const bool tall = order >= min_tall_rows && count > 1;
  return (columns <= 8 && !tall) || order * std::max(count, columns) <= small;
}

/// C = Q C or Q^H C, applying one reflector after the other.
template <scalar T>
void apply_singly(const_view<T> QR, std::span<const T> tau, bool turned, matrix_view<T> C) {
  const auto count = static_cast<index_t>(tau.size());
  for (index_t s = 0; s < count; ++s) {
    const index_t k = turned ? s : count - 1 - s;
    const T factor = tau[static_cast<std::size_t>(k)];
    const index_t below = QR.rows() - k - 1;
    apply_reflector(below, QR.column(k) + k + 1, turned ? conjugated(factor) : factor,
                    C.block(k, 0, below + 1, C.cols()));
  }
}

/// Reflectors [k, k + n) of a factored matrix, and their triangle T.
template <scalar T>
struct reflector_group {
  const_view<T> V;
  matrix<T> triangle;

  reflector_group(const_view<T> QR, const T* tau, index_t k, index_t n)
      : V(QR.block(k, k, QR.rows() - k, n)), triangle(n, n) {
    if (is_tall()) {
      form_tall_triangle<T>(V, tau + k, triangle.view());
    } else {
      form_triangle<T>(V, tau + k, triangle.view());
    }
  }
  bool is_tall() const noexcept { return V.rows() >= min_tall_rows && V.rows() > 8 * V.cols(); }
};

template <scalar T>
void apply_left(const reflector_group<T>& group, bool turned, matrix_view<T> C) {
  if (group.is_tall()) return apply_tall<T>(group.V, group.triangle.view(), turned, C);
  const packed_reflectors<T> packed(group.V, group.triangle.view(), turned);
  // About as many columns each: those of a short last piece would cost as much as more.
  constexpr index_t about = 96;
  const index_t wanted = std::max<index_t>(1, (C.cols() + about / 2) / about);
  const index_t columns = round_up((C.cols() + wanted - 1) / wanted, 8);
  const index_t pieces = (C.cols() + columns - 1) / columns;
  parallel_for(index_t{0}, pieces,
               [&](index_t piece) {
                 const index_t first = piece * columns;
                 packed.apply(C.columns(first, std::min(columns, C.cols() - first)));
               },
               {.grain = 1});
}

/// C = C (I - V T V^H), or with T^H if `turned`.
template <scalar T>
void apply_right(const reflector_group<T>& group, bool turned, matrix_view<T> C) {
  const index_t n = group.V.cols();
  const index_t below = group.V.rows() - n;
  const matrix<T> upper = unit_triangle(group.V);
  const const_view<T> lower = group.V.block(n, 0, below, n);
  const matrix_view<T> first = C.columns(0, n);
  const matrix_view<T> rest = C.columns(n, below);
  matrix<T> dots(C.rows(), n), weights(C.rows(), n);
  gemm(op::none, op::none, T{1}, first, upper, T{0}, dots.view());
  gemm(op::none, op::none, T{1}, rest, lower, T{1}, dots.view());
  matrix<T> t(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(group.triangle.view().column(j), j + 1, &t(0, j));
  gemm(op::none, turned ? op::conjugate_transpose : op::none, T{1}, dots, t, T{0}, weights.view());
  gemm(op::none, op::conjugate_transpose, T{-1}, weights, upper, T{1}, first);
  gemm(op::none, op::conjugate_transpose, T{-1}, weights, lower, T{1}, rest);
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void geqrf(matrix_view<T> A, std::span<T> tau, const qr_options& options) {
  const index_t n = std::min(A.rows(), A.cols());
  require(static_cast<index_t>(tau.size()) >= n, "geqrf",
          "tau must have as many places as A has rows, or columns where those are fewer");
  require(options.block >= 0, "geqrf", "block must not be negative");
  if (options.report != nullptr) *options.report = {};
  if (n == 0) return;
  const bool free = options.block == 0 && options.report == nullptr;
  if (free && A.rows() * A.cols() <= small_matrix) return factor_columns(A, tau.data());
  if (free && detail::is_tall<T>(A.rows(), A.cols())) {
    matrix<T> triangle(n, n);
    return factor_tall(A, tau.data(), triangle.view());
  }
  const index_t wide = n <= 1500 ? 48 : n <= 6000 ? 96 : 192;
  const index_t block = std::min(options.block == 0 ? wide : options.block, A.cols());
  qr_by_columns<T>(A, tau.data(), block).run(options.report);
}

template <scalar T>
void ormqr(side where, op how, input<T> QR, std::span<const T> tau, matrix_view<T> C) {
  const auto count = static_cast<index_t>(tau.size());
  const index_t order = where == side::left ? C.rows() : C.cols();
  require(QR.rows() == order && count <= std::min(QR.rows(), QR.cols()), "ormqr",
          "the reflectors must be as long as C has rows (left) or columns (right)");
  require(!is_complex<T> || how != op::transpose, "ormqr",
          "of complex numbers only Q and its conjugate transpose can be applied");
  const bool turned = how != op::none;
  if (where == side::left && few(order, count, C.cols(), 2600)) {
    return apply_singly(QR, tau, turned, C);
  }
  const bool forwards = turned == (where == side::left);
  const index_t block = reflector_block(order), groups = (count + block - 1) / block;
  for (index_t g = 0; g < groups; ++g) {
    const index_t k = (forwards ? g : groups - 1 - g) * block;
    const reflector_group<T> group(QR, tau.data(), k, std::min(block, count - k));
    if (where == side::left) {
      apply_left(group, turned, C.block(k, 0, order - k, C.cols()));
    } else {
      apply_right(group, turned, C.columns(k, order - k));
    }
  }
}

template <scalar T>
void orgqr(matrix_view<T> A, std::span<const T> tau) {
  const auto count = static_cast<index_t>(tau.size());
  require(A.cols() <= A.rows() && count <= A.cols(), "orgqr",
          "A must have no more columns than rows, and no fewer than there are reflectors");
  const matrix<T> reflectors(const_view<T>(A.columns(0, count)));
  scale(T{}, A);
  for (index_t i = 0; i < A.cols(); ++i) A(i, i) = T{1};
  // From the last reflector to the first: above these rows, columns further left are still those of
  // the identity.
  if (few(A.rows(), count, A.cols(), 4200)) {
    for (index_t k = count - 1; k >= 0; --k) {
      const index_t below = A.rows() - k - 1;
      apply_reflector(below, reflectors.view().column(k) + k + 1, tau[static_cast<std::size_t>(k)],
                      A.block(k, k, below + 1, A.cols() - k));
    }
    return;
  }
  const index_t block = reflector_block(A.rows()), groups = (count + block - 1) / block;
  for (index_t g = groups - 1; g >= 0; --g) {
    const index_t k = g * block;
    const reflector_group<T> group(reflectors.view(), tau.data(), k, std::min(block, count - k));
    apply_left(group, false, A.block(k, k, A.rows() - k, A.cols() - k));
  }
}

#define CREEK_INSTANTIATE(letter, T)                                                   \
  template void geqrf<T>(matrix_view<T>, std::span<T>, const qr_options&);             \
  template void ormqr<T>(side, op, const_view<T>, std::span<const T>, matrix_view<T>); \
  template void orgqr<T>(matrix_view<T>, std::span<const T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
