// SPDX-License-Identifier: Apache-2.0
// QR by creek.
#include "config.hpp"
#include "harness/creek_dense.hpp"

namespace bench::qr {
namespace {

sample measure(const settings& s) {
  return run(s, dense::inside_runtime(s, [](operands& o) {
               creek::linalg::geqrf(dense::view(o.a, o.n), std::span<double>(o.tau));
             }));
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::qr
