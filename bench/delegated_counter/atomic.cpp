// SPDX-License-Identifier: Apache-2.0
// Increments by fetch_add, which only works for a counter, not for longer sections.
#include <atomic>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::delegated_counter {
namespace {

sample measure(const settings& s) {
  alignas(64) std::atomic<std::uint64_t> value{0};
  const double ns = time_threads(s.workers, [&](unsigned w) {
    for (std::int64_t i = share(s, w); i > 0; --i) value.fetch_add(1, std::memory_order_relaxed);
  });
  return {ns, static_cast<double>(s.n), value.load()};
}

const registration registered{what, measure};
const registration again{merged, measure};

}  // namespace
}  // namespace bench::delegated_counter
