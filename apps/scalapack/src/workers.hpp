// SPDX-License-Identifier: Apache-2.0
// The workers of this process.
#pragma once

#include <creek/linalg/grids.hpp>

#include "call.hpp"

namespace creek::scalapack {

/// Returns the options for a call that needs so many operations at all processes together. The
/// first large one starts the workers, which live as long as the process: as many as CREEK_WORKERS
/// says, or as this process has processors for itself. For one worker or little work the options
/// name none. Throws usage_error for a wrong CREEK_WORKERS, and creek::error if threads cannot be
/// started.
[[nodiscard]] linalg::grid_options workers_for(const call& of, double operations);

/// Returns the number of workers that were started.
[[nodiscard]] unsigned worker_count() noexcept;

/// Operations on T for sizes, as real ones.
template <class T>
inline constexpr double operations_on = linalg::is_complex<T> ? 4 : 1;

/// Multiplications and additions of LU; QR takes twice as many.
template <class T>
[[nodiscard]] double operations_of_lu(double m, double n) noexcept {
  const double less = std::min(m, n);
  return operations_on<T> * less * less * (std::max(m, n) - less / 3);
}
template <class T>
[[nodiscard]] double operations_of_product(double m, double n, double k) noexcept {
  return operations_on<T> * 2 * m * n * k;
}

}  // namespace creek::scalapack
