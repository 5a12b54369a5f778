// SPDX-License-Identifier: Apache-2.0
// The product by creek.
#include "config.hpp"
#include "harness/creek_dense.hpp"

namespace bench::dgemm {
namespace {

sample measure(const settings& s) {
  return run(s, dense::inside_runtime(s, [](operands& o) {
               using creek::linalg::op;
               creek::linalg::gemm(op::none, op::none, 1.0, dense::view(o.a, o.n),
                                   dense::view(o.b, o.n), 1.0, dense::view(o.c, o.n));
             }));
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::dgemm
