// SPDX-License-Identifier: Apache-2.0
// Cholesky by creek.
#include "config.hpp"
#include "harness/creek_dense.hpp"

namespace bench::cholesky {
namespace {

sample measure(const settings& s) {
  return run(s, dense::inside_runtime(s, [](operands& o) {
               dense::require_success(static_cast<int>(
                   creek::linalg::potrf(creek::linalg::triangle::lower, dense::view(o.a, o.n))));
             }));
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::cholesky
