// SPDX-License-Identifier: Apache-2.0
// group::step from worker 0. Workers poll unless told otherwise.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::group_step {
namespace {

sample measure(const settings& given) {
  settings s = given;
  if (s.idle.empty()) s.idle = "poll";
  sample result;
  inside(s, [&] {
    const auto all = creek::make_group<counter>();
    creek::call_on(creek::core_id{0},
                   [&] { result = median_of_parts(s.n, [&] { all.step(&counter::add); }); });
    result.answer = agreed(all.map(&counter::get));
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::group_step
