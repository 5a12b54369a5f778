// SPDX-License-Identifier: Apache-2.0
// Arguments and workspaces of LAPACK's routines for eigenvalues.
#pragma once

#include <creek/linalg/eigen.hpp>

#include "workspace.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// LAPACK's own block width of the reduction to tridiagonal form and of its reflectors.
constexpr double lapack_reduction_block = 32;

inline std::optional<linalg::eigen_job> parse_job(char letter) noexcept {
  return parse_letter(letter, linalg::eigen_job::values, linalg::eigen_job::vectors);
}

/// Returns the operations of the reduction, and with vectors of its reflectors and the products of
/// divide and conquer.
inline double eigen_flops(linalg::eigen_job job, double n) noexcept {
  return (job == linalg::eigen_job::vectors ? 14.0 : 4.0) / 3 * n * n * n;
}

/// Least lengths of WORK, RWORK and IWORK, and LAPACK's best one of WORK.
struct space_lengths {
  double work, rwork, iwork, best_work;
};

/// Returns the lengths of LAPACK's divide and conquer for matrices of order n; the best one of WORK
/// is the least one.
template <scalar T>
space_lengths divide_and_conquer_lengths(bool vectors, double n) noexcept {
  if (n <= 1) return {1, 1, 1, 1};
  space_lengths need{};
  if constexpr (is_complex<T>) {
    need.work = vectors ? 2 * n + n * n : n + 1;
    need.rwork = vectors ? 1 + 5 * n + 2 * n * n : n;
  } else {
    need.work = vectors ? 1 + 6 * n + 2 * n * n : 2 * n + 1;
  }
  need.iwork = vectors ? 3 + 5 * n : 1;
  need.best_work = need.work;
  return need;
}

/// WORK, for complex numbers RWORK, and IWORK. A query of one asks for all.
template <scalar T>
class eigen_space {
 public:
  /// Enough room for everything, for LAPACKE's functions without workspaces.
  eigen_space() noexcept {}
  eigen_space(T* work, blas_int lwork, blas_int* iwork, blas_int liwork) noexcept
      : work_(work), iwork_(iwork), lwork_(lwork), liwork_(liwork) {}
  eigen_space(T* work, blas_int lwork, real<T>* rwork, blas_int lrwork, blas_int* iwork,
              blas_int liwork) noexcept
      : work_(work),
        rwork_(rwork),
        iwork_(iwork),
        lwork_(lwork),
        lrwork_(lrwork),
        liwork_(liwork) {}

  /// Returns 0, or -i if the length that is argument i is too small; `first` is that of LWORK.
  blas_int check(const space_lengths& need, blas_int first) const noexcept {
    if (asked() || work_ == nullptr) return 0;  // linalg has its own memory
    if (lwork_ < need.work) return -first;
    if (is_complex<T> && lrwork_ < need.rwork) return -(first + 2);
    const blas_int last = is_complex<T> ? first + 4 : first + 2;
    return liwork_ < need.iwork ? -last : 0;
  }
  /// Writes the best lengths; returns whether only they were asked for.
  bool tell(const space_lengths& need) const noexcept {
    if (work_ == nullptr) return false;
    workspace<T>(work_, lwork_).tell_length(need.best_work, static_cast<index_t>(need.work));
    if (is_complex<T>) {
      workspace<real<T>>(rwork_, lrwork_).tell_length(need.rwork, static_cast<index_t>(need.rwork));
    }
    *iwork_ = static_cast<blas_int>(need.iwork);
    return asked();
  }

 private:
  static constexpr blas_int enough = std::numeric_limits<blas_int>::max();
  bool asked() const noexcept { return lwork_ == -1 || lrwork_ == -1 || liwork_ == -1; }

  T* work_ = nullptr;
  real<T>* rwork_ = nullptr;
  blas_int* iwork_ = nullptr;
  blas_int lwork_ = enough, lrwork_ = enough, liwork_ = enough;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
