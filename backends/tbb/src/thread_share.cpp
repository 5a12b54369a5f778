// SPDX-License-Identifier: Apache-2.0
// One tbb::global_control for all runtimes of this backend: of several, oneTBB obeys the smallest.
// And arenas without work, whose requests for threads make up for sleeping ones.
#include "thread_share.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace creek::onetbb {

namespace {

// Of all runtimes. Sequentially consistent: of an offer and a stack that comes to rest, one sees
// the other.
std::atomic<unsigned> runtimes{0};
std::atomic<unsigned> resting{0};
std::atomic<unsigned> offers{0};

struct shared_pool {
  std::mutex mutex;
  std::size_t claimed = 0;
  std::unique_ptr<tbb::global_control> control;
  std::map<unsigned, tbb::task_arena> without_work;  ///< by number of threads asked for

  void change(std::size_t claimed_now) {
    claimed = claimed_now;
    if (claimed == 0) {
      control.reset();
      without_work.clear();
      return;
    }
    // What the program's own use of oneTBB may hold comes on top.
    control = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism,
        claimed + static_cast<std::size_t>(tbb::info::default_concurrency()));
  }

  /// Makes oneTBB wake a thread that looks for work in all arenas, though `asleep` threads count as
  /// active.
  void ask_for_thread(std::size_t asleep) {
    const std::lock_guard lock(mutex);
    if (claimed == 0) return;
    const auto wanted = static_cast<unsigned>(std::bit_ceil(std::min(asleep, claimed) + 1));
    auto [arena, fresh] = without_work.try_emplace(wanted, static_cast<int>(wanted), 0);
    arena->second.enqueue([] {});
  }
};

/// Never destroyed: a runtime may be a static object.
shared_pool& pool() {
  static auto* all = new shared_pool;
  return *all;
}

void bring_both_together() noexcept {
  if (runtimes.load() < 2 || offers.load() == 0) return;  // its own sleepers an arena wakes
  if (const unsigned asleep = resting.load(); asleep > 0) pool().ask_for_thread(asleep);
}

}  // namespace

thread_share::thread_share(unsigned workers) : workers_(workers) {
  const std::lock_guard lock(pool().mutex);
  pool().change(pool().claimed + workers_);
  ++runtimes;
}

thread_share::~thread_share() {
  const std::lock_guard lock(pool().mutex);
  --runtimes;
  pool().change(pool().claimed - workers_);
}

offer_of_work::offer_of_work() noexcept {
  ++offers;
}

offer_of_work::~offer_of_work() {
  bring_both_together();
}

void offer_of_work::taken() noexcept {
  --offers;
}

resting_stack::resting_stack() noexcept {
  ++resting;
  bring_both_together();
}

resting_stack::~resting_stack() {
  --resting;
}

}  // namespace creek::onetbb
