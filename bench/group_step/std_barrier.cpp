// SPDX-License-Identifier: Apache-2.0
// libstdc++'s std::barrier of as many threads as workers.
#include <barrier>
#include <thread>

#include "config.hpp"

namespace bench::group_step {
namespace {

sample measure(const settings& s) {
  std::vector<counter> counters(s.workers);
  std::barrier all(static_cast<std::ptrdiff_t>(s.workers));
  sample result;
  {
    std::vector<std::jthread> others;
    for (unsigned thread = 1; thread < s.workers; ++thread) {
      others.emplace_back([&, thread] {
        for (std::int64_t i = 0; i < repeats(s.n); ++i) {
          counters[thread].add();
          all.arrive_and_wait();
        }
      });
    }
    result = median_of_parts(s.n, [&] {
      counters[0].add();
      all.arrive_and_wait();
    });
  }
  result.answer = agreed(calls_of(counters));
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::group_step
