// SPDX-License-Identifier: Apache-2.0
// SPC on oneTBB: task_group::run in a loop, then wait.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::spc {
namespace {

template <class Task>
sample run(const settings& s, Task task) {
  marks done(s.n);
  sample result{.work = static_cast<double>(s.n)};
  inside(s, [&] {
    result.total_ns = timed([&] {
      tbb::task_group group;
      for (std::int64_t i = 0; i < s.n; ++i) group.run([task, slot = done.slot(i)] { task(slot); });
      group.wait();
    });
  });
  result.answer = done.sum();
  return result;
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::spc
