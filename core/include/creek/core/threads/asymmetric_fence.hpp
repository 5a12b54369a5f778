// SPDX-License-Identifier: Apache-2.0
// A fence whose cost falls on one side. In the store-load pattern (Dekker)
//
//     often:   x.store(1, relaxed); light_fence(); if (y.load(relaxed)) ...
//     rarely:  y.store(1, relaxed); heavy_fence(); if (x.load(relaxed)) ...
//
// at least one of the two loads sees the other side's store, as with two sequentially consistent
// fences, but the frequent side pays nothing: the rare side makes every other running thread of the
// process pass a fence (membarrier(2)).
#pragma once

#include <atomic>

#include <creek/core/threads/sanitizer.hpp>

namespace creek {

/// A sequentially consistent fence. ThreadSanitizer does not model std::atomic_thread_fence (and
/// compilers warn about it), so that build emits the instruction alone: the machine orders as
/// usual, and the sanitizer draws happens-before from the atomics on both sides of the fence.
inline void full_fence() noexcept {
#if defined(CREEK_SANITIZES_THREADS) && defined(__x86_64__)
  asm volatile("lock; orq $0, (%%rsp)" ::: "memory", "cc");
#elif defined(CREEK_SANITIZES_THREADS)
  __sync_synchronize();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// True where light_fence() costs no instruction.
#if defined(__x86_64__) && defined(__linux__)
inline constexpr bool light_fence_is_free = true;
#else
inline constexpr bool light_fence_is_free = false;
#endif

/// The frequent side: a compiler barrier on x86-64 Linux, a full fence elsewhere.
inline void light_fence() noexcept {
  if constexpr (light_fence_is_free) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full_fence();
  }
}

/// Ways in which heavy_fence() reaches the other threads.
enum class fence_strategy : int {
  undecided,
  membarrier,  ///< membarrier(PRIVATE_EXPEDITED): an interrupt to each CPU that runs this process
  tlb_shootdown,  ///< mprotect on a touched page: the kernel interrupts the same CPUs to flush it
  migrate,        ///< visiting every CPU, so that each switches context
  symmetric,      ///< a fence on both sides (light_fence_is_free == false)
};

/// The rare side. Any thread; returns after every other thread of the process has passed a full
/// fence since the call, as the caller has. 0.5-10 us with membarrier, a few more with
/// tlb_shootdown, and tens of microseconds per CPU with migrate. Safe after fork(): keeps no lock,
/// and a child whose registration is gone registers again. Ends the program if no strategy works,
/// since continuing would lose wake-ups silently.
void heavy_fence() noexcept;

/// Chooses the strategy and registers for membarrier, which takes the kernel tens of milliseconds
/// once the process has several threads: call it early. Idempotent, any thread. Returns the choice.
fence_strategy prepare_heavy_fence() noexcept;

/// Returns the strategy's name: "membarrier", "tlb_shootdown", ...
const char* to_string(fence_strategy strategy) noexcept;

namespace detail {
/// Executes one heavy fence by the given strategy; returns false if the system refuses. For tests.
bool heavy_fence_by(fence_strategy strategy) noexcept;
}  // namespace detail

}  // namespace creek
