// SPDX-License-Identifier: Apache-2.0
// LQ factorization: the QR factorization of the conjugate transpose.
#include <creek/linalg/qr.hpp>

#include <algorithm>

#include "checks.hpp"
#include "conjugate_transpose.hpp"
#include "kernels/pack_memory.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// The conjugate transpose of a matrix that is not empty, in memory of its own.
template <scalar T>
class turned_matrix {
 public:
  explicit turned_matrix(const_view<T> A)
      : memory_(A.rows() * leading_for(A.cols())),
        view_(memory_.data(), A.cols(), A.rows(), leading_for(A.cols())) {
    conjugate_transpose_to<T>(A, view_);
  }
  matrix_view<T> view() const noexcept { return view_; }
  void write_back(matrix_view<T> A) const { conjugate_transpose_to<T>(view_, A); }

 private:
  /// Columns that are powers of two apart would share few lines of the cache.
  static index_t leading_for(index_t rows) noexcept { return rows % 64 == 0 ? rows + 8 : rows; }

  pack_array<T> memory_;
  matrix_view<T> view_;
};

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void gelqf(matrix_view<T> A, std::span<T> tau) {
  require(static_cast<index_t>(tau.size()) >= std::min(A.rows(), A.cols()), "gelqf",
          "tau must have as many places as A has rows, or columns where those are fewer");
  if (A.empty()) return;
  const turned_matrix<T> turned(A);
  geqrf(turned.view(), tau);
  turned.write_back(A);
}

template <scalar T>
void ormlq(side where, op how, input<T> LQ, std::span<const T> tau, matrix_view<T> C) {
  const auto count = static_cast<index_t>(tau.size());
  const index_t order = where == side::left ? C.rows() : C.cols();
  require(LQ.cols() == order && count <= std::min(LQ.rows(), LQ.cols()), "ormlq",
          "the reflectors must be as long as C has rows (left) or columns (right)");
  require(!is_complex<T> || how != op::transpose, "ormlq",
          "of complex numbers only Q and its conjugate transpose can be applied");
  if (count == 0 || C.empty()) return;
  const turned_matrix<T> turned(LQ.block(0, 0, count, order));
  ormqr<T>(where, how == op::none ? op::conjugate_transpose : op::none, turned.view(), tau, C);
}

template <scalar T>
void orglq(matrix_view<T> A, std::span<const T> tau) {
  const auto count = static_cast<index_t>(tau.size());
  require(A.rows() <= A.cols() && count <= A.rows(), "orglq",
          "A must have no more rows than columns, and no fewer than there are reflectors");
  if (A.empty()) return;
  const turned_matrix<T> turned(A);
  orgqr<T>(turned.view(), tau);
  turned.write_back(A);
}

#define CREEK_INSTANTIATE(letter, T)                                                   \
  template void gelqf<T>(matrix_view<T>, std::span<T>);                                \
  template void ormlq<T>(side, op, const_view<T>, std::span<const T>, matrix_view<T>); \
  template void orglq<T>(matrix_view<T>, std::span<const T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
