// SPDX-License-Identifier: Apache-2.0
// Data on the last worker: the section is posted to it or, if its result is wanted, called. Each
// worker waits for its own posts at the end.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::delegated_section {
namespace {

constexpr auto enter_here = [](state& data, std::int64_t steps) { return data.enter(steps); };

struct delegated {
  template <std::size_t Number>
  static sample measure(const settings& s) {
    sample result{.work = static_cast<double>(s.n)};
    inside(s, [&] {
      constexpr variant what = variants[Number];
      const auto there =
          creek::make_on<state>(creek::core_id{static_cast<int>(s.workers) - 1}, what.lines);
      const std::int64_t steps = steps_of(what, s);
      result.total_ns = time_workers(s, [&](unsigned w) {
        const part_of_work mine = part_of(s, w);
        for (std::int64_t i = mine.first; i < mine.last; ++i) {
          if constexpr (what.answered) {
            std::uint64_t seen = there.call(enter_here, steps);
            asm volatile("" : "+r"(seen));
          } else {
            there.post(enter_here, steps);
          }
        }
        there.call(&state::sum);
      });
      result.answer = there.call(&state::sum);
    });
    return result;
  }
};

const all_registered<delegated> registered;

}  // namespace
}  // namespace bench::delegated_section
