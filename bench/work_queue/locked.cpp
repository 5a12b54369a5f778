// SPDX-License-Identifier: Apache-2.0
// Queue under the peer's lock.
#include "config.hpp"
#include "harness/threads.hpp"
#include BENCH_RUNTIME

namespace bench::work_queue {
namespace {

struct locked {
  template <class Task>
  static sample measure(const settings& s, const Task& task) {
    marks done(s.n);
    struct alignas(64) shared_queue {
      bench::lock lock;
      queue tasks;
    } shared{{}, queue(s.n)};
    sample result{.work = static_cast<double>(s.n)};
    result.total_ns = time_threads(s.workers, [&](unsigned w) {
      produce_or_consume(
          s, w, done, task,
          [&](std::int64_t added) {
            const std::lock_guard hold(shared.lock);
            shared.tasks.put(added);
          },
          [&] {
            const std::lock_guard hold(shared.lock);
            return shared.tasks.take();
          });
    });
    result.answer = done.sum();
    return result;
  }
};

const both_registered<locked> registered;

}  // namespace
}  // namespace bench::work_queue
