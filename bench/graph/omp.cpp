// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks with dependences, made anew in each round.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::graph {
namespace {

sample run(const settings& s, const edges& before) {
  marks done(static_cast<std::int64_t>(before.size()));
  sample result;
  inside(s, [&] {
    result = measure(done, before.size(), [&] {
      std::uint8_t* const mark = done.slot(0);
      for (std::size_t i = 0; i < before.size(); ++i) {
        const std::int64_t* const from = before[i].data();
        const auto edges_in = static_cast<std::int64_t>(before[i].size());
#pragma omp task firstprivate(i) depend(iterator(std::int64_t k = 0 \
                                                 : edges_in),       \
                                        in                          \
                                        : mark[from[k]]) depend(out \
                                                                : mark[i])
        count_run(mark + i);
      }
#pragma omp taskwait
    });
  });
  return result;
}

const shapes<run> registered;

}  // namespace
}  // namespace bench::graph
