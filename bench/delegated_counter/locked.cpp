// SPDX-License-Identifier: Apache-2.0
// Increments under the peer's lock.
#include "config.hpp"
#include "harness/threads.hpp"
#include BENCH_RUNTIME

namespace bench::delegated_counter {
namespace {

sample measure(const settings& s) {
  struct alignas(64) {
    bench::lock lock;
    std::uint64_t value = 0;
  } shared;
  const double ns = time_threads(s.workers, [&](unsigned w) {
    for (std::int64_t i = share(s, w); i > 0; --i) {
      shared.lock.lock();
      ++shared.value;
      asm volatile("" : : : "memory");
      shared.lock.unlock();
    }
  });
  return {ns, static_cast<double>(s.n), shared.value};
}

const registration registered{what, measure};
const registration again{merged, measure};

}  // namespace
}  // namespace bench::delegated_counter
