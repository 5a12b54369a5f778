// SPDX-License-Identifier: Apache-2.0
// Increments by fetch_add, which only works for a counter, not for longer sections.
#include <atomic>

#include "threads.hpp"

namespace bench::delegated_counter {
namespace {

sample measure(const settings& s) {
  alignas(64) std::atomic<std::uint64_t> value{0};
  sample result = run_threads(s, [&] { value.fetch_add(1, std::memory_order_relaxed); });
  result.answer = value.load();
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::delegated_counter
