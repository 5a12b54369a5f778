// SPDX-License-Identifier: Apache-2.0
// The two ways in which the engine uses the runtime.
#pragma once

#include <atomic>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>
#include <exception>
#include <mutex>

namespace creek::mapreduce::detail {

/// Calls `f(i)` for i in [0, n), each as a piece of work worth stealing.
template <class F>
void for_each_index(std::size_t n, F&& f) {
  creek::parallel_for(std::size_t{0}, n, f, {.grain = 1});
}

/// Hands out 0, 1, ... n-1 in order to `takers` tasks that ask again when they are done, so that
/// the long pieces that an input puts first do not come last. `f(taker, i)`: a taker is one task,
/// so what is indexed by it needs no lock, wherever the task migrates. After an exception no more
/// is handed out; of several the one of the least i comes out, so that it does not depend on who
/// was faster: all below an i have been handed out when it is, and go on to their end.
template <class F>
void deal(std::size_t n, std::size_t takers, F&& f) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // guards the two below
  std::size_t failed = n;
  std::exception_ptr why;
  for_each_index(takers, [&](std::size_t taker) {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) {
      try {
        f(taker, i);
      } catch (...) {
        next.store(n, std::memory_order_relaxed);
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          why = std::current_exception();
        }
        return;
      }
    }
  });
  if (why) std::rethrow_exception(why);
}

}  // namespace creek::mapreduce::detail
