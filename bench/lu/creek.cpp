// SPDX-License-Identifier: Apache-2.0
// LU by creek.
#include "config.hpp"
#include "harness/creek_dense.hpp"

namespace bench::lu {
namespace {

sample measure(const settings& s) {
  std::vector<creek::linalg::index_t> pivots(static_cast<std::size_t>(s.n));
  return run(s, dense::inside_runtime(s, [&pivots](operands& o) {
               dense::require_success(static_cast<int>(creek::linalg::getrf(
                   dense::view(o.a, o.n), std::span<creek::linalg::index_t>(pivots))));
               dense::to_fortran(pivots, o.pivots);
             }));
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::lu
