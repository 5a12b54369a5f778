// SPDX-License-Identifier: Apache-2.0
// run() from outside while all workers sleep.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::wakeup {
namespace {

sample measure(const settings& s) {
  return run(s, [&](auto started) { kept_runtime(s).run(started); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::wakeup
