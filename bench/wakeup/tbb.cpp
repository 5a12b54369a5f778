// SPDX-License-Identifier: Apache-2.0
// A task enqueued in an arena without a slot for the caller, so that a worker must wake.
#include <oneapi/tbb/task_group.h>

#include <atomic>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::wakeup {
namespace {

sample measure(const settings& s) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, s.workers + 1);
  tbb::task_arena workers(static_cast<int>(s.workers), 0);
  return run(s, [&](auto started) {
    std::atomic<bool> done{false};
    workers.enqueue([&] {
      started();
      done.store(true);
      done.notify_one();
    });
    done.wait(false);
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::wakeup
