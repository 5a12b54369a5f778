// SPDX-License-Identifier: Apache-2.0
// Lengths of the workspaces of gesdd, gesvd and gelsd, which LAPACK's routines require and
// recommend with blocks of 32 columns. They depend on the shorter side k and the longer side l.
#pragma once

#include <algorithm>
#include <cmath>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

struct work_lengths {
  double least;
  double best;
};

inline constexpr double svd_block = 32;

/// job is one of N, S, A and O.
template <scalar T>
work_lengths gesdd_lengths(char job, double k, double l) {
  if (k == 0) return {1, 1};
  const double vectors = is_complex<T> ? 2 * k : 3 * k;  // tau of both factors, and e
  const double reduction = vectors + 2 * svd_block * k, square = k * k;
  const bool is_tall = l >= std::floor(is_complex<T> ? k * 17 / 9 : k * 11 / 6);
  const double values = is_complex<T> ? 0 : job == 'N' ? 7 * k : 3 * square + 4 * k;
  work_lengths of{};
  if (is_tall) {
    if (job == 'N') {
      of = is_complex<T> ? work_lengths{3 * k, reduction}
                         : work_lengths{values + k, std::max(reduction, values + k)};
    } else {
      const double columns = job == 'A' ? l : k;
      const double most = std::max({k + svd_block * columns, reduction, vectors + values});
      of.least = values + square + 3 * k;
      of.best = most + square;
      if (job == 'O') {
        of.least += square;
        of.best += is_complex<T> ? l * k : square;
      }
      if (job == 'A') of.least = square + std::max(3 * k + values, k + l);
    }
  } else {
    const double extra = job == 'O' ? square : 0;
    of.best = std::max(vectors + svd_block * (l + k), vectors + values);
    of.least = vectors + (is_complex<T> ? l + extra : std::max(l, extra + values));
    if (job == 'O') of.best += l * k;
  }
  return {of.least, std::max(of.best, of.least)};
}

template <scalar T>
work_lengths gesvd_lengths(bool left, bool right, bool is_wide, double k, double l) {
  if (k == 0) return {1, 1};
  const double vectors = is_complex<T> ? 2 * k : 3 * k, values = is_complex<T> ? 0 : 5 * k;
  const bool is_tall = l >= std::floor(1.6 * k), longer = is_wide ? right : left;
  if (!is_tall) {
    const double least = std::max(vectors + l, values);
    return {least, std::max(vectors + svd_block * (l + k), least)};
  }
  const double least = longer ? std::max(vectors + l, values) : is_complex<T> ? 3 * k : 5 * k;
  const double squares = longer ? 2 * k * k : 0;
  return {least,
          std::max(squares + std::max(vectors + 2 * svd_block * k, k + svd_block * l), least)};
}

struct gelsd_lengths {
  work_lengths work;
  double integers;
  double reals;  ///< of rwork, for complex numbers
};

template <scalar T>
gelsd_lengths lengths_of_gelsd(double m, double n, double right_sides) {
  constexpr double leaf = 25;
  const double k = std::min(m, n), l = std::max(m, n), r = right_sides;
  if (k == 0) return {{1, 1}, is_complex<T> ? 1.0 : 11.0, 1};
  const double levels = std::max(0.0, std::trunc(std::log(k / (leaf + 1)) / std::log(2.0)) + 1);
  const double nodes = 2 * k * leaf + 8 * k * levels;
  const bool is_tall = l >= std::floor(1.6 * k), is_wide = n > m;
  const double vectors = is_complex<T> ? 2 * k : 3 * k;
  const double solving = is_complex<T> ? k * r : 9 * k + nodes + k * r + (leaf + 1) * (leaf + 1);
  const double rows = is_tall && !is_wide ? k : l;
  work_lengths work{};
  if (is_wide && is_tall) {
    work.best =
        std::max({k + svd_block * k, k * k + 4 * k + svd_block * std::max(2 * k, r),
                  k * k + k + k * r, k * k + 2 * k, k + svd_block * r, k * k + 4 * k + solving,
                  4 * k + k * k + std::max({k, 2 * k - 4, r, l - 3 * k})});
  } else {
    work.best = std::max({vectors + svd_block * std::max(rows + k, r), vectors + solving,
                          is_tall ? k + svd_block * std::max(k, r) : 1.0});
  }
  if (is_complex<T>) {
    work.least = vectors + std::max(is_wide ? l : rows, solving);
  } else {
    work.least = vectors + std::max({is_wide ? k : rows, r, solving});
  }
  work.least = std::min(work.least, work.best);
  const double reals =
      10 * k + nodes + 3 * leaf * r + std::max((leaf + 1) * (leaf + 1), n * (1 + r) + 2 * r);
  return {work, 3 * k * levels + 11 * k, reals};
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
