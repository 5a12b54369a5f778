// SPDX-License-Identifier: Apache-2.0
// Level 3 products: each passes its operands to the one blocked product.
#include <creek/linalg/blas3.hpp>

#include "checks.hpp"
#include "kernels/product.hpp"
#include "level3.hpp"

namespace creek::linalg {
namespace {

using namespace detail;

/// Product of a symmetric or Hermitian matrix with a general one.
template <scalar T>
void structured(const char* routine, structure shape, side where, triangle stored, T alpha,
                const_view<T> A, const_view<T> B, T beta, matrix_view<T> C) {
  const index_t order = where == side::left ? C.rows() : C.cols();
  require(A.rows() == order && A.cols() == order, routine,
          "A must be square, of the order of the rows (left) or columns (right) of C");
  require(B.rows() == C.rows() && B.cols() == C.cols(), routine,
          "B and C must have the same shape");
  strided<T> a{A.data(), 1, A.leading()};
  a.shape = shape;
  a.stored_low = stored == triangle::lower;
  const strided<T> b{B.data(), 1, B.leading()};
  scale(beta, C);
  if (where == side::left) {
    multiply_add(alpha, a, b, order, C);
  } else {
    multiply_add(alpha, b, a, order, C);
  }
}

template <scalar T>
void check_update(const char* routine, op how, const_view<T> A, const_view<T> B, matrix_view<T> C) {
  require(C.rows() == C.cols(), routine, "C must be square");
  require(rows_of(A, how) == C.rows() && A.rows() == B.rows() && A.cols() == B.cols(), routine,
          "op(A) and op(B) must have as many rows as C, and A and B the same shape");
}

}  // namespace

namespace detail {

template <class Workers, scalar T>
void herk_by(triangle stored, op how, real<T> alpha, const_view<T> A, real<T> beta,
             matrix_view<T> C) {
  make_diagonal_real(C);
  scale<T>(T{beta}, C, part_of(stored));
  multiply_add_by<Workers>(T{alpha}, strided_of<T>(A, how), strided_of<T>(A, other(how, true)),
                           cols_of(A, how), C, part_of(stored));
  make_diagonal_real(C);
}

}  // namespace detail

template <scalar T>
void gemm(op how_a, op how_b, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  const index_t depth = cols_of(A, how_a);
  require(
      rows_of(A, how_a) == C.rows() && cols_of(B, how_b) == C.cols() && rows_of(B, how_b) == depth,
      "gemm", "op(A) must be m x k, op(B) k x n and C m x n");
  scale<T>(beta, C);
  multiply_add<T>(alpha, strided_of<T>(A, how_a), strided_of<T>(B, how_b), depth, C);
}

template <scalar T>
void symm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  structured<T>("symm", structure::symmetric, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void hemm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  structured<T>("hemm", structure::hermitian, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void syrk(triangle stored, op how, factor<T> alpha, input<T> A, factor<T> beta, matrix_view<T> C) {
  check_update<T>("syrk", how, A, A, C);
  require(!is_complex<T> || how != op::conjugate_transpose, "syrk",
          "A^H A of complex numbers is Hermitian: use herk");
  scale<T>(beta, C, part_of(stored));
  multiply_add<T>(alpha, strided_of<T>(A, how), strided_of<T>(A, other(how, false)),
                  cols_of(A, how), C, part_of(stored));
}

template <scalar T>
void herk(triangle stored, op how, real<T> alpha, input<T> A, real<T> beta, matrix_view<T> C) {
  check_update<T>("herk", how, A, A, C);
  require(!is_complex<T> || how != op::transpose, "herk",
          "A^T A of complex numbers is symmetric: use syrk");
  herk_by<all_workers, T>(stored, how, alpha, A, beta, C);
}

template <scalar T>
void syr2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
           matrix_view<T> C) {
  check_update<T>("syr2k", how, A, B, C);
  require(!is_complex<T> || how != op::conjugate_transpose, "syr2k",
          "A^H B + B^H A of complex numbers is Hermitian: use her2k");
  const op back = other(how, false);
  const index_t depth = cols_of(A, how);
  scale<T>(beta, C, part_of(stored));
  multiply_add<T>(alpha, strided_of<T>(A, how), strided_of<T>(B, back), depth, C, part_of(stored));
  multiply_add<T>(alpha, strided_of<T>(B, how), strided_of<T>(A, back), depth, C, part_of(stored));
}

template <scalar T>
void her2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, real<T> beta,
           matrix_view<T> C) {
  check_update<T>("her2k", how, A, B, C);
  require(!is_complex<T> || how != op::transpose, "her2k",
          "A^T B + B^T A of complex numbers is symmetric: use syr2k");
  const op back = other(how, true);
  const index_t depth = cols_of(A, how);
  T swapped = alpha;
  if constexpr (is_complex<T>) swapped = std::conj(alpha);
  make_diagonal_real(C);
  scale<T>(T{beta}, C, part_of(stored));
  multiply_add<T>(alpha, strided_of<T>(A, how), strided_of<T>(B, back), depth, C, part_of(stored));
  multiply_add<T>(swapped, strided_of<T>(B, how), strided_of<T>(A, back), depth, C,
                  part_of(stored));
  make_diagonal_real(C);
}

const char* kernel_instructions() noexcept {
  return micro_kernels_of<double>().name;
}

template <scalar T>
micro_tile_shape micro_tile() noexcept {
  const auto& kernels = micro_kernels_of<real<T>>();
  return {kernels.rows / reals<T>, kernels.cols};
}

#define CREEK_INSTANTIATE(letter, T)                                                           \
  template micro_tile_shape micro_tile<T>() noexcept;                                          \
  template void detail::herk_by<all_workers, T>(triangle, op, real<T>, const_view<T>, real<T>, \
                                                matrix_view<T>);                               \
  template void detail::herk_by<this_thread, T>(triangle, op, real<T>, const_view<T>, real<T>, \
                                                matrix_view<T>);                               \
  template void gemm<T>(op, op, T, const_view<T>, const_view<T>, T, matrix_view<T>);           \
  template void symm<T>(side, triangle, T, const_view<T>, const_view<T>, T, matrix_view<T>);   \
  template void hemm<T>(side, triangle, T, const_view<T>, const_view<T>, T, matrix_view<T>);   \
  template void syrk<T>(triangle, op, T, const_view<T>, T, matrix_view<T>);                    \
  template void herk<T>(triangle, op, real<T>, const_view<T>, real<T>, matrix_view<T>);        \
  template void syr2k<T>(triangle, op, T, const_view<T>, const_view<T>, T, matrix_view<T>);    \
  template void her2k<T>(triangle, op, T, const_view<T>, const_view<T>, real<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
