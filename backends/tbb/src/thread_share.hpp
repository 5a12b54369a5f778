// SPDX-License-Identifier: Apache-2.0
// oneTBB's threads are one pool for the whole process; the runtimes of this backend make sure that
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

/// Called after work was handed to oneTBB that a thread has to come for: makes sure that one comes,
/// while there are several runtimes. README.md of this folder explains why none would.
void call_a_thread() noexcept;

}  // namespace creek::onetbb
