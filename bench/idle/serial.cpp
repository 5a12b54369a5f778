// SPDX-License-Identifier: Apache-2.0
// A process without a runtime: what measuring itself costs.
#include "config.hpp"

namespace bench::idle {
namespace {

const registration registered{
    what, [](const settings& s) { return run(s, [&] { busy(1000 * s.grain, 1); }); }};

}  // namespace
}  // namespace bench::idle
