// SPDX-License-Identifier: Apache-2.0
// A task enqueued in an arena of one worker, without a slot for the caller, which spins for the
// answer.
#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::invoke_wake {
namespace {

sample measure(const settings& s) {
  one_worker there;
  counter object;
  sample result = run(s, [&] { there.call([&] { object.add(); }); });
  result.answer = object.calls;
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_wake
