// SPDX-License-Identifier: Apache-2.0
// oneTBB's threads are one pool for the whole process; the runtimes of this backend see to it that
// the pool is large enough for all of them together, and that a thread comes where work waits.
#pragma once

namespace creek::onetbb {

/// A runtime's claim to `workers` of oneTBB's threads, while it lives. Without it a machine of two
/// CPUs gives the arenas one thread between them, and a task that waits for a runtime inside
/// another might wait for the thread that it has itself. Any thread. A smaller
/// tbb::global_control of the program still wins.
class thread_share {
 public:
  explicit thread_share(unsigned workers);
  ~thread_share();
  thread_share(const thread_share&) = delete;
  thread_share& operator=(const thread_share&) = delete;

 private:
  unsigned workers_;
};

// oneTBB wakes a thread of the pool when the arenas ask for more threads than are active, and takes
// a thread for active that sleeps below a suspended stack, bound to its arena, although an arena
// without work asks for none (oneapi-src/oneTBB issue 1909). So work of one arena would wait for
// ever while threads sleep in others. Both sides therefore say what they are about to do, and the
// later of two asks for as many threads more as may sleep.

/// Around handing work to oneTBB that a thread must come for. The runtime may be gone at the end.
class offer_of_work {
 public:
  offer_of_work() noexcept;
  ~offer_of_work();
  offer_of_work(const offer_of_work&) = delete;
  offer_of_work& operator=(const offer_of_work&) = delete;

  /// By the thread that came.
  static void taken() noexcept;
};

/// Around giving a stack up.
class resting_stack {
 public:
  resting_stack() noexcept;
  ~resting_stack();
  resting_stack(const resting_stack&) = delete;
  resting_stack& operator=(const resting_stack&) = delete;
};

}  // namespace creek::onetbb
