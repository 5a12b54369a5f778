// SPDX-License-Identifier: Apache-2.0
// Tasks enqueued in an arena of one worker, in any order; the last one to run signals it.
#include <atomic>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::invoke_post {
namespace {

sample measure(const settings& s) {
  one_worker there;
  counter object;
  std::atomic<bool> done{false};
  sample result = run(
      s,
      [&] {
        there.arena.enqueue([&] {
          object.add();
          if (object.calls == static_cast<std::uint64_t>(s.n)) {
            done.store(true, std::memory_order_release);
          }
        });
      },
      [&] {
        while (!done.load(std::memory_order_acquire)) {
        }
      });
  result.answer = object.calls;
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_post
