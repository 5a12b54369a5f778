// SPDX-License-Identifier: Apache-2.0
// SPC on creek: spawn in a loop, then taskwait.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::spc {
namespace {

template <class Task>
sample run(const settings& s, Task task) {
  marks done(s.n);
  sample result{.work = static_cast<double>(s.n)};
  inside(s, [&] {
    result.total_ns = timed([&] {
      for (std::int64_t i = 0; i < s.n; ++i) {
        creek::spawn([task, slot = done.slot(i)] { task(slot); });
      }
      creek::taskwait();
    });
  });
  result.answer = done.sum();
  return result;
}

const registration with_empty{empty, [](const settings& s) { return run(s, empty_task{}); }};
const registration with_1us{one_us, [](const settings& s) { return run(s, busy_task{s.grain}); }};

}  // namespace
}  // namespace bench::spc
