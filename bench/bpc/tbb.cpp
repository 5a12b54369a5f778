// SPDX-License-Identifier: Apache-2.0
// BPC on oneTBB: one task_group per producer.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::bpc {
namespace {

template <class Task>
void produce(std::int64_t level, marks& done, Task task) {
  tbb::task_group group;
  if (level > 0) group.run([=, &done] { produce(level - 1, done, task); });
  for (std::int64_t i = 0; i < consumers; ++i) {
    group.run([task, mark = slot(done, level, i)] { task(mark); });
  }
  group.wait();
}

template <class Task>
sample run(const settings& s, Task task) {
  marks done(depth * consumers);
  sample result{.work = tasks(s)};
  inside(s, [&] { result.total_ns = timed_chains(s, [&] { produce(depth - 1, done, task); }); });
  result.answer = done.sum();
  return result;
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::bpc
