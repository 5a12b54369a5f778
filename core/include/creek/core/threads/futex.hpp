// SPDX-License-Identifier: Apache-2.0
// Blocking a thread in the kernel on the value of a 32-bit word: the one primitive on which every
// sleep in creek is built (event_count.hpp). Any thread may use it, workers and foreign ones alike.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

/// The clock of every deadline in creek: CLOCK_MONOTONIC.
using deadline_clock = std::chrono::steady_clock;

enum class futex_status {
  woken,      ///< by futex_wake, by a signal, or spuriously: check the condition again
  changed,    ///< the word did not hold the expected value; did not sleep
  timed_out,  ///< the deadline passed and nobody woke this thread
};

/// Sleeps while `word` holds `expected`, until futex_wake on the same word.
/// Any thread of this process (the futex is private). The comparison and the falling asleep are one
/// step for every futex_wake, but order nothing else: read the condition again with the ordering
/// you need. May return early; never fails.
/// With `bits`, only a futex_wake that names one of them ends it.
futex_status futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint32_t bits = ~0U) noexcept;

/// Like futex_wait, but returns `timed_out` once `deadline` has passed. A wake-up counted by
/// futex_wake is never reported as `timed_out`.
[[nodiscard]] futex_status futex_wait_until(const std::atomic<std::uint32_t>& word,
                                            std::uint32_t expected,
                                            deadline_clock::time_point deadline,
                                            std::uint32_t bits = ~0U) noexcept;

/// Wakes up to `count` threads that sleep on `word`, longest sleeper first; returns how many.
/// Costs a system call (about 0.1-1 us with nobody asleep). The word need not be alive any more:
/// a stale address wakes nobody, or wakes a later sleeper on the same address spuriously. With
/// `bits`, only those that wait for one of them.
unsigned futex_wake(const std::atomic<std::uint32_t>& word, unsigned count,
                    std::uint32_t bits = ~0U) noexcept;

/// Wakes every thread that sleeps on `word`; returns how many.
unsigned futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace creek
