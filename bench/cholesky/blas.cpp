// SPDX-License-Identifier: Apache-2.0
// dpotrf of the loaded library; the length of a Fortran character argument comes last.
#include "config.hpp"
#include "harness/blas_runtime.hpp"

namespace bench::cholesky {
namespace {

using function = void(const char*, const int*, double*, const int*, int*, std::size_t);

sample measure(const settings& s) {
  auto* const dpotrf = blas::routine<function>("dpotrf");
  return run(s, [&](operands& o) {
    const int n = blas::integer(o.n);
    int info = 0;
    dpotrf("L", &n, o.a.data(), &n, &info, 1);
    dense::require_success(info);
  });
}

const blas::registration registered{what, measure, "dpotrf"};

}  // namespace
}  // namespace bench::cholesky
