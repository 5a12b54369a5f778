// SPDX-License-Identifier: Apache-2.0
// remote::post from worker 0 to an object on worker 1. Calls of one caller run in order, so a call
// that waits comes last.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::invoke_post {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    const auto there = creek::make_on<counter>(creek::core_id{1});
    creek::call_on(creek::core_id{0}, [&] {
      result = run(
          s, [&] { there.post(&counter::add); }, [&] { there.call(&counter::get); });
    });
    result.answer = there.call(&counter::get);
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_post
