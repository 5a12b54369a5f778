// SPDX-License-Identifier: Apache-2.0
#include "flops.hpp"

#include <algorithm>

namespace creek::tool::dense {
namespace {

/// Returns the operations of xGETRF; the transpose needs the same number.
operations lu(double m, double n) noexcept {
  const double k = std::min(m, n), l = std::max(m, n);
  return {0.5 * k * (k * (l - k / 3 - 1) + l) + 2 * k / 3, 0.5 * k * (k * (l - k / 3) - l) + k / 6};
}

/// Returns the operations of xGEQRF.
operations qr(double m, double n) noexcept {
  if (m > n) {
    return {n * (n * (0.5 - n / 3 + m) + m + 23.0 / 6), n * (n * (0.5 - n / 3 + m) + 5.0 / 6)};
  }
  return {m * (m * (-0.5 - m / 3 + n) + 2 * n + 23.0 / 6),
          m * (m * (-0.5 - m / 3 + n) + n + 5.0 / 6)};
}

/// Returns the operations of xPOTRF.
operations cholesky(double n) noexcept {
  return {n * ((n / 6 + 0.5) * n + 1.0 / 3), n * (n * n / 6 - 1.0 / 6)};
}

}  // namespace

operations factoring(method how, index_t rows, index_t cols) noexcept {
  const auto m = static_cast<double>(rows), n = static_cast<double>(cols);
  return how == method::lu ? lu(m, n) : how == method::chol ? cholesky(n) : qr(m, n);
}

operations solving(method how, index_t rows, index_t cols, index_t rhs) noexcept {
  const auto m = static_cast<double>(std::max(rows, cols));
  const auto n = static_cast<double>(std::min(rows, cols));
  const auto k = static_cast<double>(rhs);
  switch (how) {
    case method::lu:  // xGETRS
      return {k * n * n, k * n * (n - 1)};
    case method::chol:  // xPOTRS
      return {k * n * (n + 1), k * n * (n - 1)};
    case method::qr:  // xUNMQR and xTRTRS
      return {k * n * (2 * m - 0.5 * n + 2.5), k * n * (2 * m - 0.5 * n + 0.5)};
  }
  return {};
}

double flops_of(const problem& what) noexcept {
  // Systems with a wide matrix are solved by QR of its conjugate transpose.
  const bool turned = what.solves && what.how == method::qr && what.cols > what.rows;
  operations all = turned ? factoring(what.how, what.cols, what.rows)
                          : factoring(what.how, what.rows, what.cols);
  if (what.solves) all = all + solving(what.how, what.rows, what.cols, what.rhs);
  return all.flops(is_complex(what.type));
}

double gemm_flops(index_t n, bool complex) noexcept {
  const auto d = static_cast<double>(n);
  return operations{d * d * d, d * d * d}.flops(complex);
}

}  // namespace creek::tool::dense
