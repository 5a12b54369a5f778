// SPDX-License-Identifier: Apache-2.0
// A system with one right-hand side by creek.
#include "config.hpp"
#include "harness/creek_dense.hpp"

namespace bench::lu_solve {
namespace {

sample measure(const settings& s) {
  std::vector<creek::linalg::index_t> pivots(static_cast<std::size_t>(s.n));
  return run(s, dense::inside_runtime(s, [&pivots](operands& o) {
               const creek::linalg::matrix_view<double> x(o.x.data(), o.n, 1, o.n);
               dense::require_success(static_cast<int>(creek::linalg::gesv(
                   dense::view(o.a, o.n), std::span<creek::linalg::index_t>(pivots), x)));
             }));
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::lu_solve
