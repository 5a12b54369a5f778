// SPDX-License-Identifier: Apache-2.0
// Section under the peer's lock.
#include "config.hpp"
#include "harness/threads.hpp"
#include BENCH_RUNTIME

namespace bench::delegated_section {
namespace {

struct locked {
  template <std::size_t Number>
  static sample measure(const settings& s) {
    struct alignas(64) {
      bench::lock lock;
    } own_line;
    state data(variants[Number].lines);
    const std::int64_t steps = steps_of(variants[Number], s);
    sample result{.work = static_cast<double>(s.n)};
    result.total_ns = time_threads(s.workers, [&](unsigned w) {
      const part_of_work mine = part_of(s, w);
      for (std::int64_t i = mine.first; i < mine.last; ++i) {
        const std::lock_guard hold(own_line.lock);
        std::uint64_t seen = data.enter(steps);
        asm volatile("" : "+r"(seen) : : "memory");
      }
    });
    result.answer = data.sum();
    return result;
  }
};

const all_registered<locked> registered;

}  // namespace
}  // namespace bench::delegated_section
