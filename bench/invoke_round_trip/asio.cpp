// SPDX-License-Identifier: Apache-2.0
// A std::packaged_task posted to another thread's io_context, and its future.
#include "config.hpp"
#include "harness/asio_runtime.hpp"

namespace bench::invoke_round_trip {
namespace {

sample measure(const settings& s) {
  counter object;
  io_thread there;
  sample result = run(s, [&] { there.call([&] { object.add(); }); });
  result.answer = object.calls;
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_round_trip
