// SPDX-License-Identifier: Apache-2.0
// The peers of this workload that share memory.
#pragma once
#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::delegated_counter {

/// Runs once: every worker calls `increment()` as often as its share says.
template <class Increment>
sample run_threads(const settings& s, const Increment& increment) {
  const double ns = time_threads(s.workers, [&](unsigned w) {
    for (std::int64_t i = share(s, w); i > 0; --i) increment();
  });
  return {.total_ns = ns, .work = static_cast<double>(s.n)};
}

/// Does the same with increments under a lock.
template <class Lock>
sample run_locked(const settings& s) {
  struct alignas(64) {
    Lock lock;
    std::uint64_t value = 0;
  } shared;
  sample result = run_threads(s, [&] {
    shared.lock.lock();
    ++shared.value;
    asm volatile("" : : : "memory");
    shared.lock.unlock();
  });
  result.answer = shared.value;
  return result;
}

}  // namespace bench::delegated_counter
