// SPDX-License-Identifier: Apache-2.0
// dgesv of the loaded library.
#include "config.hpp"
#include "harness/blas_runtime.hpp"

namespace bench::lu_solve {
namespace {

using function = void(const int*, const int*, double*, const int*, int*, double*, const int*, int*);

sample measure(const settings& s) {
  auto* const dgesv = blas::routine<function>("dgesv");
  return run(s, [&](operands& o) {
    const int n = blas::integer(o.n), columns = 1;
    int info = 0;
    dgesv(&n, &columns, o.a.data(), &n, o.pivots.data(), o.x.data(), &n, &info);
    dense::require_success(info);
  });
}

const blas::registration registered{what, measure, "dgesv"};

}  // namespace
}  // namespace bench::lu_solve
