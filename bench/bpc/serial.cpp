// SPDX-License-Identifier: Apache-2.0
// Serial BPC: producers call each other, then their consumers.
#include "config.hpp"

namespace bench::bpc {
namespace {

template <class Task>
void produce(std::int64_t level, marks& done, Task task) {
  if (level > 0) produce(level - 1, done, task);
  for (std::int64_t i = 0; i < consumers; ++i) task(slot(done, level, i));
}

template <class Task>
sample run(const settings& s, Task task) {
  marks done(depth * consumers);
  const double ns = timed_chains(s, [&] { produce(depth - 1, done, task); });
  return {ns, tasks(s), done.sum()};
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::bpc
