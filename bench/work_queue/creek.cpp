// SPDX-License-Identifier: Apache-2.0
// The queue is an object on worker 0, the producer's: put is a post, take a call.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::work_queue {
namespace {

struct remote_queue {
  template <class Task>
  static sample measure(const settings& s, const Task& task) {
    marks done(s.n);
    sample result{.work = static_cast<double>(s.n)};
    inside(s, [&] {
      const auto there = creek::make_on<queue>(creek::core_id{0}, s.n);
      result.total_ns = time_workers(s, [&](unsigned w) {
        produce_or_consume(
            s, w, done, task, [&](std::int64_t added) { there.post(&queue::put, added); },
            [&] { return there.call(&queue::take); });
      });
    });
    result.answer = done.sum();
    return result;
  }
};

const both_registered<remote_queue> registered;

}  // namespace
}  // namespace bench::work_queue
