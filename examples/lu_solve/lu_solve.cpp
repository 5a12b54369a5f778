// SPDX-License-Identifier: Apache-2.0
// Factors a dense matrix on all cores, solves with it, and prints how accurate the solution is.
#include <cstdio>
#include <cstdlib>

#include <creek/linalg.hpp>
#include <creek/tasking.hpp>

int main(int count, char** arguments) {
  namespace la = creek::linalg;
  const la::index_t n = count > 1 ? std::atoi(arguments[1]) : 500;
  const la::matrix<double> A = la::generate<double>({.seed = 1}, n, n);
  const la::matrix<double> b = la::generate<double>({.seed = 2}, n, 1);

  creek::runtime rt;
  const double residual = rt.run([&] {
    const la::lu<double> factors(A);
    if (factors.info() != 0) return -1.0;  // singular
    const la::matrix<double> x = factors.solve(b);
    return la::solve_residual<double>(A.view(), x.view(), b.view());
  });
  if (residual < 0) {
    std::fputs("lu_solve: the matrix is singular\n", stderr);
    return 1;
  }
  std::printf("n = %d: scaled residual %.3f, accepted below 16\n", static_cast<int>(n), residual);
  return residual < 16 ? 0 : 1;
}
