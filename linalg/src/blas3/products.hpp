// SPDX-License-Identifier: Apache-2.0
// The routines of level 3 that are products, written once: they check the shapes, name the operands
// and leave the rest to the one blocked product, of matrices or of matrices of tiles.
#pragma once

#include "checks.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "workers.hpp"

namespace creek::linalg::detail {

/// op(A), or a symmetric or Hermitian A with one stored triangle.
template <scalar T>
struct matrix_operand {
  const_view<T> A;
  op how = op::none;
  structure shape = structure::general;
  bool stored_low = false;

  strided<T> elements() const noexcept {
    strided<T> all = strided_of(A, how);
    all.shape = shape;
    all.stored_low = stored_low;
    return all;
  }
};

/// C = beta C + alpha a b, only the part `which` of C. The fields are those of tile_product.
template <scalar T>
struct matrix_product {
  const char* name;
  T alpha;
  matrix_operand<T> a, b;
  T beta;
  matrix_view<T> C;
  part which = part::all;
  bool real_before = false;
  bool real_after = false;
};

/// Computes products of matrices by the policy `Workers`.
template <class Workers, scalar T>
struct matrix_target {
  using element = T;
  using operand = matrix_operand<T>;
  using product = matrix_product<T>;

  template <class... Views>
  void check_tiles(const char*, const Views&...) const {}
  void run(const product& what) const {
    if (what.real_before) make_diagonal_real(what.C);
    const strided<T> a = what.a.elements(), b = what.b.elements();
    const index_t depth = cols_of(what.a.A, what.a.how);
    if (what.beta == T{} && what.which == part::all) {
      multiply_by<Workers>(what.alpha, a, b, depth, what.C);
    } else {
      scale_by<Workers>(what.beta, what.C, what.which);
      multiply_add_by<Workers>(what.alpha, a, b, depth, what.C, what.which);
    }
    if (what.real_after) make_diagonal_real(what.C);
  }
};

/// gemm of checked shapes: in place, without naming the operands, if they are small.
template <class Workers, scalar T>
void multiply(op how_a, op how_b, T alpha, const_view<T> A, const_view<T> B, T beta,
              matrix_view<T> C) {
  if (multiply_in_place<Workers>(alpha, strided_of(A, how_a), strided_of(B, how_b),
                                 cols_of(A, how_a), beta, C))
    return;
  matrix_target<Workers, T>{}.run(
      {.name = "gemm", .alpha = alpha, .a = {A, how_a}, .b = {B, how_b}, .beta = beta, .C = C});
}

/// The routines, over a target that runs or enqueues a product.
template <class Target>
struct products {
  using T = typename Target::element;
  Target target;

  /// C = alpha op(A) op(B) + beta C. op(A) is m x k, op(B) k x n, C m x n.
  template <class Input, class Output>
  void gemm(op how_a, op how_b, T alpha, Input A, Input B, T beta, Output C) const {
    check_product("gemm", how_a, how_b, A, B, C);
    target.check_tiles("gemm", C, A, B);
    target.run(
        {.name = "gemm", .alpha = alpha, .a = {A, how_a}, .b = {B, how_b}, .beta = beta, .C = C});
  }

  /// symm and hemm: C = alpha A B + beta C, or alpha B A + beta C. B and C are m x n.
  template <class Input, class Output>
  void structured(structure shape, side where, triangle stored, T alpha, Input A, Input B, T beta,
                  Output C) const {
    const char* const routine = shape == structure::symmetric ? "symm" : "hemm";
    const bool left = where == side::left;
    const index_t order = left ? C.rows() : C.cols();
    require(A.rows() == order && A.cols() == order, routine,
            "A must be square, of the order of the rows (left) or columns (right) of C");
    require(B.rows() == C.rows() && B.cols() == C.cols(), routine,
            "B and C must have the same shape");
    target.check_tiles(routine, C, A, B);
    const typename Target::operand a{A, op::none, shape, stored == triangle::lower}, b{B};
    target.run({.name = routine,
                .alpha = alpha,
                .a = left ? a : b,
                .b = left ? b : a,
                .beta = beta,
                .C = C});
  }

  /// syrk and herk: C = alpha op(A) op(A)^T + beta C. op(A) is n x k, C n x n. With `hermitian`,
  /// ^T is ^H and the diagonal becomes real.
  template <class Input, class Output>
  void rank_k(bool hermitian, triangle stored, op how, T alpha, Input A, T beta, Output C) const {
    const char* const routine = hermitian ? "herk" : "syrk";
    check_update(routine, hermitian, how, A, A, C);
    target.run({.name = routine,
                .alpha = alpha,
                .a = {A, how},
                .b = {A, other(how, hermitian)},
                .beta = beta,
                .C = C,
                .which = part_of(stored),
                .real_before = hermitian,
                .real_after = hermitian});
  }

  /// syr2k and her2k: C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, or with ^H and
  /// conj(alpha) in the second product.
  template <class Input, class Output>
  void rank_2k(bool hermitian, triangle stored, op how, T alpha, Input A, Input B, T beta,
               Output C) const {
    const char* const routine = hermitian ? "her2k" : "syr2k";
    check_update(routine, hermitian, how, A, B, C);
    const op back = other(how, hermitian);
    target.run({.name = routine,
                .alpha = alpha,
                .a = {A, how},
                .b = {B, back},
                .beta = beta,
                .C = C,
                .which = part_of(stored),
                .real_before = hermitian});
    target.run({.name = routine,
                .alpha = hermitian ? conjugated(alpha) : alpha,
                .a = {B, how},
                .b = {A, back},
                .beta = T{1},
                .C = C,
                .which = part_of(stored),
                .real_after = hermitian});
  }

 private:
  template <class Input, class Output>
  void check_update(const char* routine, bool hermitian, op how, Input A, Input B, Output C) const {
    require(C.rows() == C.cols(), routine, "C must be square");
    require(rows_of(A, how) == C.rows() && A.rows() == B.rows() && A.cols() == B.cols(), routine,
            "op(A) and op(B) must have as many rows as C, and A and B the same shape");
    require(!is_complex<T> || how != (hermitian ? op::transpose : op::conjugate_transpose), routine,
            hermitian ? "of complex numbers: none or conjugate_transpose; see syrk and syr2k"
                      : "of complex numbers: none or transpose; see herk and her2k");
    target.check_tiles(routine, C, A, B);
  }
};

}  // namespace creek::linalg::detail
