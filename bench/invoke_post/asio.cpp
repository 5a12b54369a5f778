// SPDX-License-Identifier: Apache-2.0
// Closures posted to another thread's io_context, and finally one with a future.
#include "config.hpp"
#include "harness/asio_runtime.hpp"

namespace bench::invoke_post {
namespace {

sample measure(const settings& s) {
  counter object;
  io_thread there;
  sample result = run(
      s, [&] { there.post([&] { object.add(); }); }, [&] { there.call([] {}); });
  result.answer = object.calls;
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_post
