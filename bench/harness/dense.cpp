// SPDX-License-Identifier: Apache-2.0
#include "dense.hpp"

#include <algorithm>
#include <limits>

namespace bench::dense {
namespace {

std::span<const double> column(std::span<const double> m, std::size_t rows, std::size_t j) {
  return m.subspan(j * rows, rows);
}

/// Computes x[first, last) -= factor * m[first, last).
void subtract(std::span<double> x, double factor, std::span<const double> m, std::size_t first,
              std::size_t last) {
  for (std::size_t i = first; i < last; ++i) x[i] -= factor * m[i];
}

}  // namespace

void fill(input which, std::span<double> x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(which, i);
}

std::vector<double> filled(input which, std::int64_t size) {
  std::vector<double> x(static_cast<std::size_t>(size));
  fill(which, x);
  return x;
}

void fill_positive_definite(std::span<double> a, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      a[i + j * size] = element(input::a, std::min(i, j) * size + std::max(i, j));
    }
    a[j + j * size] += static_cast<double>(n);
  }
}

void add_product(std::span<double> y, double factor, std::span<const double> m,
                 std::span<const double> x) {
  for (std::size_t j = 0; j < x.size(); ++j) {
    subtract(y, -factor * x[j], column(m, y.size(), j), 0, y.size());
  }
}

double norm(std::span<const double> x) {
  double most = 0;
  for (const double value : x) {
    if (!(std::fabs(value) <= most)) most = std::fabs(value);
    if (std::isnan(most)) return most;
  }
  return most;
}

double row_norm(std::span<const double> m, std::int64_t n) {
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::size_t j = 0; j * sums.size() < m.size(); ++j) {
    const auto values = column(m, sums.size(), j);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::fabs(values[i]);
  }
  return norm(sums);
}

void solve_lower(std::span<const double> a, std::span<double> x, bool unit) {
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto values = column(a, x.size(), j);
    if (!unit) x[j] /= values[j];
    subtract(x, x[j], values, j + 1, x.size());
  }
}

void solve_lower_transposed(std::span<const double> a, std::span<double> x) {
  for (std::size_t j = x.size(); j-- > 0;) {
    const auto values = column(a, x.size(), j);
    for (std::size_t i = j + 1; i < x.size(); ++i) x[j] -= values[i] * x[i];
    x[j] /= values[j];
  }
}

void solve_upper(std::span<const double> a, std::span<double> x) {
  for (std::size_t j = x.size(); j-- > 0;) {
    const auto values = column(a, x.size(), j);
    x[j] /= values[j];
    subtract(x, x[j], values, 0, j);
  }
}

std::uint64_t accepted(std::int64_t n, double error, double scale) {
  const double residual =
      error / (std::numeric_limits<double>::epsilon() * static_cast<double>(n) * scale);
  if (!(residual < 16)) {
    throw std::runtime_error("the scaled residual is " + std::to_string(residual) +
                             ", not below 16");
  }
  return static_cast<std::uint64_t>(n);
}

std::uint64_t accepted_solution(std::span<const double> a, std::span<const double> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto b = filled(input::right_side, n);
  auto r = b;
  add_product(r, -1, a, x);
  return accepted(n, norm(r), row_norm(a, n) * norm(x) + norm(b));
}

}  // namespace bench::dense
