// SPDX-License-Identifier: Apache-2.0
// A matrix reduced to bidiagonal form, if it is tall by way of its QR factors.
#pragma once

#include <span>

#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"

namespace creek::linalg::detail {

/// A = Q B P^H for m >= n, B upper bidiagonal.
template <scalar T>
class bidiagonalization {
 public:
  /// Overwrites A, which must live as long. Products of elements must neither overflow nor
  /// underflow.
  explicit bidiagonalization(matrix_view<T> A);

  real<T>* diagonal() const noexcept { return values_.data(); }
  real<T>* above() const noexcept { return values_.data() + A_.cols(); }

  /// C = op(Q) C; C has m rows. how is none or conjugate_transpose.
  void apply_left(op how, matrix_view<T> C) const;
  /// C = op(P) C; C has n rows.
  void apply_right(op how, matrix_view<T> C) const;

 private:
  bool is_tall() const noexcept { return reduced_.data() != A_.data(); }

  matrix_view<T> A_;
  pack_array<real<T>> values_;
  pack_array<T> tau_;       ///< of the QR factors, of Q and of P
  pack_array<T> triangle_;  ///< R, if A is tall
  matrix_view<T> reduced_;  ///< the bidiagonal matrix and its reflectors
};

}  // namespace creek::linalg::detail
