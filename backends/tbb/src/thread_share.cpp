// SPDX-License-Identifier: Apache-2.0
// One tbb::global_control for all runtimes of this backend: of several, oneTBB obeys the smallest.
#include "thread_share.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>

#include <cstddef>
#include <memory>
#include <mutex>

namespace creek::onetbb {

namespace {

struct shared_control {
  std::mutex mutex;
  std::size_t claimed = 0;
  std::unique_ptr<tbb::global_control> control;

  void change(std::size_t claimed_now) {
    claimed = claimed_now;
    control.reset();
    if (claimed == 0) return;
    // What the program's own use of oneTBB may hold comes on top.
    control = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism,
        claimed + static_cast<std::size_t>(tbb::info::default_concurrency()));
  }
};

/// Never destroyed: a runtime may be a static object.
shared_control& all_shares() {
  static auto* shares = new shared_control;
  return *shares;
}

}  // namespace

thread_share::thread_share(unsigned workers) : workers_(workers) {
  shared_control& shares = all_shares();
  const std::lock_guard lock(shares.mutex);
  shares.change(shares.claimed + workers_);
}

thread_share::~thread_share() {
  shared_control& shares = all_shares();
  const std::lock_guard lock(shares.mutex);
  shares.change(shares.claimed - workers_);
}

}  // namespace creek::onetbb
