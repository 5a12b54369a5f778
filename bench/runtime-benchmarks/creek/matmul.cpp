// SPDX-License-Identifier: Apache-2.0
// matmul SIZE [THREADS]: the product of two square matrices of integers, a power of two in size, by
// quadrants down to 32. The matrices are made within the timed part, as in the suite.
#include <bit>
#include <creek/tasking.hpp>
#include <vector>

#include "benchmark.hpp"

namespace {

constexpr std::size_t smallest = 32;

/// C += A B for blocks of n by n integers in matrices whose rows have `stride` elements.
void multiply_serially(const int* a, const int* b, int* c, std::size_t n, std::size_t stride) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
      }
    }
  }
}

void multiply(const int* a, const int* b, int* c, std::size_t n, std::size_t stride) {
  if (n <= smallest) return multiply_serially(a, b, c, n, stride);
  const std::size_t half = n / 2;
  const auto quadrant = [&](std::size_t row, std::size_t column) {
    return row * half * stride + column * half;
  };
  // The two products of a quadrant of C one after the other, since both write it.
  for (std::size_t k = 0; k < 2; ++k) {
    creek::fork_all(4, [&](std::size_t part) {
      const std::size_t i = part / 2;
      const std::size_t j = part % 2;
      multiply(a + quadrant(i, k), b + quadrant(k, j), c + quadrant(i, j), half, stride);
    });
  }
}

std::vector<int> product_of_ones(std::size_t n) {
  const std::vector<int> a(n * n, 1);
  const std::vector<int> b(n * n, 1);
  std::vector<int> c(n * n, 0);
  multiply(a.data(), b.data(), c.data(), n, n);
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("Usage: matmul <matrix size (power of 2)> [threads]\n");
    return 0;
  }
  const unsigned n = benchmark::argument(argc, argv, 1, 0);
  const unsigned threads = benchmark::threads(argc, argv, 2);
  if (!std::has_single_bit(n)) {
    std::fprintf(stderr, "matmul: the size must be a power of two, got %u\n", n);
    return 2;
  }
  std::printf("threads: %u\n", threads);
  creek::runtime runtime({.workers = threads});
  runtime.run([&] {
    product_of_ones(n);  // warm-up
    std::vector<int> c;
    benchmark::run("matrix_size", n, [&] { c = product_of_ones(n); });
    for (const int element : c) benchmark::check(element, static_cast<int>(n));
  });
}
