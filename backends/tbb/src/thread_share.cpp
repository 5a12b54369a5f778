// SPDX-License-Identifier: Apache-2.0
// One tbb::global_control for all runtimes of this backend: if there are several, oneTBB obeys the
// smallest. And an arena that never has work, but only asks for threads.
#include "thread_share.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace creek::onetbb {

namespace {

std::atomic<unsigned> runtimes{0};
/// A thread has been called and has not come yet. It will look into all arenas when it comes, so no
/// other need be called.
std::atomic<bool> called{false};

struct shared_pool {
  std::mutex mutex;
  std::size_t claimed = 0;
  std::unique_ptr<tbb::global_control> control;
  std::unique_ptr<tbb::task_arena> bell;  ///< has as many slots as there may be threads

  void change(std::size_t claimed_now) {
    claimed = claimed_now;
    bell.reset();
    control.reset();
    if (claimed == 0) return;
    // Threads that the program's own use of oneTBB may hold come on top.
    const std::size_t most =
        claimed + static_cast<std::size_t>(tbb::info::default_concurrency()) - 1;
    control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    most + 1);  // a caller's thread counts too
    bell = std::make_unique<tbb::task_arena>(static_cast<int>(most), 0);
  }

  void ring() {
    const std::lock_guard lock(mutex);
    if (bell) bell->enqueue([] { called.exchange(false); });
  }
};

/// Never destroyed: a runtime may be a static object.
shared_pool& pool() {
  static auto* all = new shared_pool;
  return *all;
}

}  // namespace

thread_share::thread_share(unsigned workers) : workers_(workers) {
  const std::lock_guard lock(pool().mutex);
  ++runtimes;
  pool().change(pool().claimed + workers_);
}

thread_share::~thread_share() {
  const std::lock_guard lock(pool().mutex);
  pool().change(pool().claimed - workers_);
  --runtimes;
}

void call_a_thread() noexcept {
  if (runtimes.load() > 1 && !called.exchange(true)) pool().ring();
}

}  // namespace creek::onetbb
