// SPDX-License-Identifier: Apache-2.0
// Shared parts of the dense linear algebra workloads: inputs that are the same for each size, the
// number of calls per process, and the check of results. Matrices are n by n, column-major, with n
// elements from column to column. bench/peers/faer has the same in Rust.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/median.hpp"
#include "workload.hpp"

namespace bench::dense {

/// The matrix or vector of a workload that an element belongs to.
enum class input : std::uint64_t { a = 1, b = 2, c = 3, right_side = 4 };

/// Returns element `index` of an input, uniform in [-0.5, 0.5).
inline double element(input which, std::uint64_t index) {
  std::uint64_t z = ((static_cast<std::uint64_t>(which) << 56) + index) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

void fill(input which, std::span<double> x);
std::vector<double> filled(input which, std::int64_t size);
inline std::vector<double> square(input which, std::int64_t n) {
  return filled(which, n * n);
}
/// Fills a symmetric matrix, positive definite because n on the diagonal outweighs its row.
void fill_positive_definite(std::span<double> a, std::int64_t n);

/// Computes y += factor * m x.
void add_product(std::span<double> y, double factor, std::span<const double> m,
                 std::span<const double> x);
/// Returns the largest magnitude, or NaN if an element is NaN.
double norm(std::span<const double> x);
/// Returns the largest sum of the magnitudes of a row.
double row_norm(std::span<const double> m, std::int64_t n);

/// Overwrite x with the solution of L x = x, L in the lower triangle of `a`, with ones on the
/// diagonal if `unit`; of L^T x = x; of U x = x.
void solve_lower(std::span<const double> a, std::span<double> x, bool unit);
void solve_lower_transposed(std::span<const double> a, std::span<double> x);
void solve_upper(std::span<const double> a, std::span<double> x);

/// Returns the answer, n, if the error is what a backward stable algorithm may leave: `error` /
/// (eps n `scale`) is below 16. Throws otherwise.
std::uint64_t accepted(std::int64_t n, double error, double scale);
/// Does the same for a solution of A x = b with b the right side of size n; error and scale are
/// those of HPL: ||A x - b|| and ||A|| ||x|| + ||b||.
std::uint64_t accepted_solution(std::span<const double> a, std::span<const double> x);

/// Throws unless `info`, as LAPACK defines it, means success.
inline void require_success(int info) {
  if (info != 0) throw std::runtime_error("info is " + std::to_string(info));
}

/// Makes an untimed call at up to 2000, then as many at n as take some tenths of a second (three at
/// test sizes); the figure is their median. `make(n)` returns operands for one call, untimed;
/// `call(operands)` is timed; `check(operands)`, after the last call, returns the answer.
template <class Make, class Call, class Check>
sample measure(const settings& s, double flops, const Make& make, const Call& call,
               const Check& check) {
  {
    auto first = make(std::min<std::int64_t>(s.n, 2000));
    call(first);
  }
  const double most = s.n < 500 ? 3 : 51;
  const auto calls = static_cast<int>(std::clamp(4e10 / flops, 1.0, most));
  std::vector<double> times;
  sample result{.work = flops};
  for (int i = 0; i < calls; ++i) {
    auto operands = make(s.n);
    times.push_back(timed([&] { call(operands); }));
    if (i == calls - 1) result.answer = check(operands);
  }
  result.total_ns = median(std::move(times));
  return result;
}

/// Returns a number of floating-point operations: `factor` times n^3.
inline double cubic(double factor, std::int64_t n) {
  const auto x = static_cast<double>(n);
  return factor * x * x * x;
}

}  // namespace bench::dense
