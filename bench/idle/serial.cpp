// SPDX-License-Identifier: Apache-2.0
// A process without a runtime: the cost of the measurement itself.
#include "config.hpp"

namespace bench::idle {
namespace {

sample measure(const settings& s) {
  return run(s, [&] { busy(1000 * s.grain, 1); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::idle
