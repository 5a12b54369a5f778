// SPDX-License-Identifier: Apache-2.0
// SPC on OpenMP tasks.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::spc {
namespace {

template <class Task>
sample run(const settings& s, Task task) {
  marks done(s.n);
  sample result{.work = static_cast<double>(s.n)};
  inside(s, [&] {
    result.total_ns = timed([&] {
      for (std::int64_t i = 0; i < s.n; ++i) {
        std::uint8_t* slot = done.slot(i);
#pragma omp task firstprivate(task, slot)
        task(slot);
      }
#pragma omp taskwait
    });
  });
  result.answer = done.sum();
  return result;
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::spc
