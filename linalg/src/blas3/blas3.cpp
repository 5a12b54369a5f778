// SPDX-License-Identifier: Apache-2.0
// Level 3 products of matrices.
#include <creek/linalg/blas3.hpp>

#include "level3.hpp"
#include "products.hpp"

namespace creek::linalg {
namespace detail {
namespace {

template <scalar T>
constexpr products<matrix_target<all_workers, T>> on_matrices{};

}  // namespace

template <class Workers, scalar T>
void herk_by(triangle stored, op how, real<T> alpha, const_view<T> A, real<T> beta,
             matrix_view<T> C) {
  products<matrix_target<Workers, T>>{}.rank_k(true, stored, how, T{alpha}, A, T{beta}, C);
}

}  // namespace detail

using namespace detail;

template <scalar T>
void gemm(op how_a, op how_b, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  check_product("gemm", how_a, how_b, A, B, C);
  multiply<all_workers, T>(how_a, how_b, alpha, A, B, beta, C);
}

template <scalar T>
void symm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  on_matrices<T>.structured(structure::symmetric, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void hemm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C) {
  on_matrices<T>.structured(structure::hermitian, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void syrk(triangle stored, op how, factor<T> alpha, input<T> A, factor<T> beta, matrix_view<T> C) {
  on_matrices<T>.rank_k(false, stored, how, alpha, A, beta, C);
}

template <scalar T>
void herk(triangle stored, op how, real<T> alpha, input<T> A, real<T> beta, matrix_view<T> C) {
  on_matrices<T>.rank_k(true, stored, how, T{alpha}, A, T{beta}, C);
}

template <scalar T>
void syr2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
           matrix_view<T> C) {
  on_matrices<T>.rank_2k(false, stored, how, alpha, A, B, beta, C);
}

template <scalar T>
void her2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, real<T> beta,
           matrix_view<T> C) {
  on_matrices<T>.rank_2k(true, stored, how, alpha, A, B, T{beta}, C);
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
