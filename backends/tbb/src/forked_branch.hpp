// SPDX-License-Identifier: Apache-2.0
// The right branch of a fork: the first to claim it runs it, its maker or a thief.
#pragma once

#include <oneapi/tbb/task_group.h>

#include <atomic>

#include <creek/tasking/ext/executor.hpp>

namespace creek::onetbb {

/// Lives in the frame of its maker, which leaves when the branch has ended and oneTBB has released
/// the group's task.
struct forked_branch {
  void (*run)(void*) noexcept;
  void* argument;
  /// Set by the thread that runs the branch.
  std::atomic<bool> claimed{false};
  /// Null, the strand that waits for the thief, or `ended`.
  std::atomic<ext::strand*> joiner{nullptr};
  /// True in the list of passed-on branches; written by the group's task, read when that has ended.
  bool passed_on = false;
  forked_branch* next = nullptr;
  forked_branch* previous = nullptr;
  /// It is never cancelled, so it need not be bound to the contexts around it.
  tbb::task_group_context context{tbb::task_group_context::isolated};
  tbb::task_group group{context};

  forked_branch(void (*function)(void*) noexcept, void* data) : run(function), argument(data) {}

  [[nodiscard]] bool claim() noexcept { return !claimed.exchange(true, std::memory_order_acq_rel); }
  bool has_ended() const noexcept { return joiner.load(std::memory_order_acquire) == ended(); }
  /// Called by the thief, last; the branch may be gone then. Returns the strand to resume, or null.
  [[nodiscard]] ext::strand* end() noexcept {
    return joiner.exchange(ended(), std::memory_order_acq_rel);
  }
  /// A publish_fn for the maker: returns false if the thief has ended meanwhile.
  static bool publish(void* self, ext::strand* maker) {
    ext::strand* nobody = nullptr;
    return static_cast<forked_branch*>(self)->joiner.compare_exchange_strong(
        nobody, maker, std::memory_order_acq_rel);
  }

 private:
  static ext::strand* ended() noexcept {
    static constinit ext::strand mark;
    return &mark;
  }
};

}  // namespace creek::onetbb
