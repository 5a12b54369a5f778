// SPDX-License-Identifier: Apache-2.0
// remote::call from worker 0 to an object on worker 1. Workers poll unless told otherwise.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::invoke_round_trip {
namespace {

sample measure(const settings& given) {
  settings s = given;
  if (s.idle.empty()) s.idle = "poll";
  sample result;
  inside(s, [&] {
    const auto there = creek::make_on<counter>(creek::core_id{1});
    creek::call_on(creek::core_id{0}, [&] { result = run(s, [&] { there.call(&counter::add); }); });
    result.answer = there.call(&counter::get);
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_round_trip
