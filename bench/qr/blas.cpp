// SPDX-License-Identifier: Apache-2.0
// dgeqrf of the loaded library, with as much workspace as it asks for.
#include "config.hpp"
#include "harness/blas_runtime.hpp"

namespace bench::qr {
namespace {

using function = void(const int*, const int*, double*, const int*, double*, double*, const int*,
                      int*);

sample measure(const settings& s) {
  auto* const dgeqrf = blas::routine<function>("dgeqrf");
  std::vector<double> workspace(1);
  const auto call = [&](operands& o, int size) {
    const int n = blas::integer(o.n);
    int info = 0;
    dgeqrf(&n, &n, o.a.data(), &n, o.tau.data(), workspace.data(), &size, &info);
    dense::require_success(info);
  };
  // Enough for the first, untimed call as well, which is never larger.
  operands asking{s.n, {}, {}};
  call(asking, -1);
  workspace.resize(static_cast<std::size_t>(workspace[0]));
  return run(s, [&](operands& o) { call(o, static_cast<int>(workspace.size())); });
}

const blas::registration registered{what, measure, "dgeqrf"};

}  // namespace
}  // namespace bench::qr
