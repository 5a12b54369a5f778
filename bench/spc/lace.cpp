// SPDX-License-Identifier: Apache-2.0
// SPC on Lace: spawns in a loop, then as many joins. The deque must hold all tasks.
#include "config.hpp"
#include "harness/lace_runtime.hpp"

namespace bench::spc {
namespace {

VOID_TASK_1(lace_empty, std::uint8_t*, slot) {
  empty_task{}(slot);
}
VOID_TASK_2(lace_busy, std::int64_t, grain, std::uint8_t*, slot) {
  busy_task{grain}(slot);
}

VOID_TASK_2(lace_produce_empty, marks*, done, std::int64_t, n) {
  for (std::int64_t i = 0; i < n; ++i) SPAWN(lace_empty, done->slot(i));
  for (std::int64_t i = 0; i < n; ++i) SYNC(lace_empty);
}
VOID_TASK_3(lace_produce_busy, marks*, done, std::int64_t, n, std::int64_t, grain) {
  for (std::int64_t i = 0; i < n; ++i) SPAWN(lace_busy, grain, done->slot(i));
  for (std::int64_t i = 0; i < n; ++i) SYNC(lace_busy);
}

template <class Produce>
sample run(const settings& s, const Produce& produce) {
  start_lace(s, static_cast<std::size_t>(s.n) + 1000);
  marks done(s.n);
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = timed([&] { produce(&done); });
  result.answer = done.sum();
  return result;
}

const registration with_empty{empty, [](const settings& s) {
                                return run(
                                    s, [&](marks* done) { RUN(lace_produce_empty, done, s.n); });
                              }};
const registration with_1us{
    one_us, [](const settings& s) {
      return run(s, [&](marks* done) { RUN(lace_produce_busy, done, s.n, s.grain); });
    }};

}  // namespace
}  // namespace bench::spc
