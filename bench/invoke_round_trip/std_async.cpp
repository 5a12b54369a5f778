// SPDX-License-Identifier: Apache-2.0
// std::async, which starts one thread per call.
#include <future>

#include "config.hpp"

namespace bench::invoke_round_trip {
namespace {

sample measure(const settings& s) {
  counter object;
  sample result = run(s, [&] { std::async(std::launch::async, &counter::add, &object).get(); });
  result.answer = object.calls;
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_round_trip
