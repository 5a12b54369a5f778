// SPDX-License-Identifier: Apache-2.0
// dgetrf of the loaded library.
#include "config.hpp"
#include "harness/blas_runtime.hpp"

namespace bench::lu {
namespace {

using function = void(const int*, const int*, double*, const int*, int*, int*);

sample measure(const settings& s) {
  auto* const dgetrf = blas::routine<function>("dgetrf");
  return run(s, [&](operands& o) {
    const int n = blas::integer(o.n);
    int info = 0;
    dgetrf(&n, &n, o.a.data(), &n, o.pivots.data(), &info);
    dense::require_success(info);
  });
}

const blas::registration registered{what, measure, "dgetrf"};

}  // namespace
}  // namespace bench::lu
