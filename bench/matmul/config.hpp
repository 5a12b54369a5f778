// SPDX-License-Identifier: Apache-2.0
// Recursive matrix multiply, C += A B, n by n doubles, row-major: quadrants down to tiles of 32,
// the four quadrants of C in parallel and the two products of each quadrant in sequence. One unit
// of work is one tile product (2 * 32^3 flops). n is 32 times a power of two. The peers differ in
// `fork`, the function that runs two closures in parallel; the algorithm is written once here. Only
// peers whose tasks are coroutines write it again.
#pragma once
#include "harness/workload.hpp"

namespace bench::matmul {

inline constexpr description what{.name = "matmul",
                                  .about = "recursive matrix multiply, tiles of 32",
                                  .unit = "ns/tile",
                                  .full = 1024,
                                  .quick = 256,
                                  .smoke = 64};

inline constexpr std::int64_t tile = 32;

/// A square block of a row-major matrix whose rows are `stride` elements apart.
struct block {
  double* at;
  std::int64_t stride;
  [[nodiscard]] block quadrant(std::int64_t row, std::int64_t column, std::int64_t half) const {
    return {at + row * half * stride + column * half, stride};
  }
};

inline void multiply_tile(block c, block a, block b) {
  for (std::int64_t i = 0; i < tile; ++i) {
    double* __restrict row = c.at + i * c.stride;
    for (std::int64_t k = 0; k < tile; ++k) {
      const double factor = a.at[i * a.stride + k];
      const double* other = b.at + k * b.stride;
      for (std::int64_t j = 0; j < tile; ++j) row[j] += factor * other[j];
    }
  }
}

/// Multiplies; `fork(f, g)` runs both and returns when both are done.
template <class Fork>
void multiply(const Fork& fork, block c, block a, block b, std::int64_t n) {
  if (n == tile) return multiply_tile(c, a, b);
  const std::int64_t half = n / 2;
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto part = [&, k](std::int64_t i, std::int64_t j) {
      multiply(fork, c.quadrant(i, j, half), a.quadrant(i, k, half), b.quadrant(k, j, half), half);
    };
    fork([&] { fork([&] { part(0, 0); }, [&] { part(0, 1); }); },
         [&] { fork([&] { part(1, 0); }, [&] { part(1, 1); }); });
  }
}

/// The matrices of a run; small integers, so that every order of summing gives the same bits.
class matrices {
 public:
  explicit matrices(std::int64_t n) : n_(n), a_(size()), b_(size()), c_(size()) {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      a_[i] = static_cast<double>(i % 7) - 3;
      b_[i] = static_cast<double>(i % 5) - 2;
    }
  }
  block a() { return {a_.data(), n_}; }
  block b() { return {b_.data(), n_}; }
  block c() { return {c_.data(), n_}; }

  [[nodiscard]] std::uint64_t answer() const {
    std::uint64_t hash = 0;
    for (const double x : c_)
      hash = hash * 31 + static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    return hash;
  }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n_ * n_); }
  std::int64_t n_;
  std::vector<double> a_, b_, c_;
};

inline double tiles(std::int64_t n) {
  const auto side = static_cast<double>(n / tile);
  return side * side * side;
}

/// Runs once: `enter(settings, f)` enters the runtime, `product(c, a, b, n)` multiplies there.
template <class Enter, class Product>
sample run_product(const settings& s, const Enter& enter, const Product& product) {
  matrices m(s.n);
  sample result{.work = tiles(s.n)};
  enter(s, [&] { result.total_ns = timed([&] { product(m.c(), m.a(), m.b(), s.n); }); });
  result.answer = m.answer();
  return result;
}

/// Runs once, for a peer that forks two closures by `fork`.
template <class Enter, class Fork>
sample run(const settings& s, const Enter& enter, const Fork& fork) {
  return run_product(
      s, enter, [&](block c, block a, block b, std::int64_t n) { multiply(fork, c, a, b, n); });
}

}  // namespace bench::matmul
