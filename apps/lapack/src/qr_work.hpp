// SPDX-License-Identifier: Apache-2.0
// Block widths and operations of LAPACK's routines for QR and LQ factorizations.
#pragma once

#include <algorithm>

#include "workspace.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// LAPACK's own block width, which determines the workspace that its routines ask for.
constexpr double lapack_block = 32;

inline double qr_flops(double m, double n) {
  const double least = std::min(m, n);
  return 2 * least * least * (std::max(m, n) - least / 3);
}
/// Returns the operations to apply k reflectors of m rows to n columns.
inline double reflector_flops(double m, double n, double k) {
  return 2 * n * k * (2 * m - k);
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
