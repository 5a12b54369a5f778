// SPDX-License-Identifier: Apache-2.0
// dgemm of the loaded library; the lengths of Fortran character arguments come last.
#include "config.hpp"
#include "harness/blas_runtime.hpp"

namespace bench::dgemm {
namespace {

using function = void(const char*, const char*, const int*, const int*, const int*, const double*,
                      const double*, const int*, const double*, const int*, const double*, double*,
                      const int*, std::size_t, std::size_t);

sample measure(const settings& s) {
  auto* const dgemm = blas::routine<function>("dgemm");
  return run(s, [&](operands& o) {
    const int n = blas::integer(o.n);
    const double one = 1;
    dgemm("N", "N", &n, &n, &n, &one, o.a.data(), &n, o.b.data(), &n, &one, o.c.data(), &n, 1, 1);
  });
}

const blas::registration registered{what, measure, "dgemm"};

}  // namespace
}  // namespace bench::dgemm
