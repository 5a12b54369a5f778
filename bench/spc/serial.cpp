// SPDX-License-Identifier: Apache-2.0
// Serial SPC: the producer calls the tasks that the other peers spawn.
#include "config.hpp"

namespace bench::spc {
namespace {

template <class Task>
sample run(const settings& s, Task task) {
  marks done(s.n);
  const double ns = timed([&] {
    for (std::int64_t i = 0; i < s.n; ++i) task(done.slot(i));
  });
  return {ns, static_cast<double>(s.n), done.sum()};
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::spc
