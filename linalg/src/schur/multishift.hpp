// SPDX-License-Identifier: Apache-2.0
// Parts of the QR iteration on a Hessenberg matrix: for small matrices, sweeps of many shifts,
// deflation windows, and the exchange of diagonal blocks.
//
// In all of them Z holds the rows that the transformations are accumulated in, with a column per
// column of H; it has no rows if they are not wanted. `whole` asks for the Schur form T; without it
// only the eigenvalues are right in the end. Indices are from 0, ranges are half open.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

#include <creek/linalg/matrix.hpp>

#include "small_reflector.hpp"

namespace creek::linalg::detail {

/// A QR iteration: the Hessenberg matrix, and where its results go.
template <scalar T>
struct schur_iteration {
  matrix_view<T> H;
  matrix_view<T> Z;
  bool whole;
  std::complex<real<T>>* w;  ///< an eigenvalue per column of H

  index_t order() const noexcept { return H.rows(); }
  /// Returns whether rows [first, end) of H are finite. A NaN would keep an iteration from ever
  /// deflating.
  bool is_finite(index_t first, index_t end) const noexcept {
    for (index_t j = first; j < end; ++j) {
      for (index_t i = first; i < std::min(j + 2, end); ++i) {
        if (!std::isfinite(size_of(H(i, j)))) return false;
      }
    }
    return true;
  }
};

/// Maximum order of a matrix or window that is iterated with two shifts (one if complex) at a time:
/// measured where many shifts become faster.
inline constexpr index_t max_double_shift = 150;

/// Iterates on rows [first, end). Returns 0, or `k` if only eigenvalues [k, end) were found within
/// the limit of iterations.
/// Source: LAPACK's lahqr, with the deflation criterion of [Ahues 1997].
template <scalar T>
index_t double_shift_qr(const schur_iteration<T>& of, index_t first, index_t end);

/// The same for any order: sweeps of many shifts and aggressive early deflation.
/// Source: [Braman 2002], as in LAPACK's laqr0.
template <scalar T>
index_t multishift_qr(const schur_iteration<T>& of, index_t first, index_t end);

/// A sweep that chases bulges for shifts.size() / 2 pairs through rows [top, end). Complex shifts
/// of a real matrix come in conjugate pairs.
template <scalar T>
void multishift_sweep(const schur_iteration<T>& of, index_t top, index_t end,
                      std::span<const std::complex<real<T>>> shifts);

/// Result of a deflation window: eigenvalues that deflated at its end, and those above them in w
/// that can be shifts.
struct deflation {
  index_t shifts = 0;
  index_t deflated = 0;
};

/// Aggressive early deflation in the last `window` of the rows [top, end). The eigenvalues of the
/// window are stored in w.
/// Source: [Braman 2002], as in LAPACK's laqr3.
template <scalar T>
deflation deflate_early(const schur_iteration<T>& of, index_t top, index_t end, index_t window);

/// Moves the diagonal block at row `from` of the quasi-triangular T to row `to` by exchanges of
/// neighbours, with the columns of Q. Returns false if two blocks were too close to be exchanged;
/// `to` is the row where the block is now.
/// Source: [Bai 1993], as in LAPACK's trexc.
template <scalar T>
bool move_block(matrix_view<T> A, matrix_view<T> Q, index_t from, index_t& to);

}  // namespace creek::linalg::detail
