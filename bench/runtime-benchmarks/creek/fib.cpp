// SPDX-License-Identifier: Apache-2.0
// fib N [THREADS]: the Fibonacci number by fork and join, no cutoff.
#include <creek/tasking.hpp>
#include <utility>

#include "benchmark.hpp"

namespace {

std::size_t fib(std::size_t n) {
  if (n < 2) return n;
  const auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

std::size_t fib_by_loop(std::size_t n) {
  std::size_t a = 0;
  std::size_t b = 1;
  for (; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("Usage: fib <n-th fibonacci number requested> [threads]\n");
    return 0;
  }
  const unsigned n = benchmark::argument(argc, argv, 1, 0);
  const unsigned threads = benchmark::threads(argc, argv, 2);
  std::printf("threads: %u\n", threads);
  creek::runtime runtime({.workers = threads});
  runtime.run([&] {
    benchmark::check(fib(30), fib_by_loop(30));  // warm-up
    std::size_t result = 0;
    benchmark::run("iteration_count", 1, [&] { result = fib(n); });
    std::printf("output: %zu\n", result);
    benchmark::check(result, fib_by_loop(n));
  });
}
