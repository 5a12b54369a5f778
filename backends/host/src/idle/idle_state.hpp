// SPDX-License-Identifier: Apache-2.0
// Numbers of sleepers and searchers in one word, so that waking is exact: the waker takes one
// sleeper out of the count and counts it as a searcher, then hands over a permit. Model:
// tests/model/idle.pml.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/tasking/options.hpp>

#include "workers/worker_place.hpp"

namespace creek::host_backend {

class idle_state {
 public:
  /// `consumers` is the number of workers that may sleep or search.
  explicit idle_state(std::uint32_t consumers) noexcept : consumers_(consumers) {}

  std::uint32_t sleepers() const noexcept {
    return sleepers_of(word_.load(std::memory_order_acquire));
  }
  std::uint32_t searching() const noexcept {
    return searching_of(word_.load(std::memory_order_relaxed));
  }

  /// Returns the number of workers that sleep or search.
  std::uint32_t idle() const noexcept {
    const std::uint64_t now = word_.load(std::memory_order_seq_cst);
    return sleepers_of(now) + searching_of(now);
  }

  /// Returns false only if no worker sleeps or is about to. On a line of its own: pushes read it,
  /// and starting or ending a search does not write it.
  bool maybe_sleepers() const noexcept { return asleep_.load(std::memory_order_relaxed) != 0; }

  /// Counts `workers` whose threads have not begun as sleepers with vacant places. Called before
  /// any thread begins.
  void begin_asleep(std::uint32_t workers) noexcept {
    asleep_.store(workers, std::memory_order_relaxed);
    word_.store(workers, std::memory_order_release);
  }
  /// Called when a worker runs out of work, before it starts to look.
  void begin_search() noexcept { word_.fetch_add(one_searching, std::memory_order_seq_cst); }
  /// Called when the search found work. Returns true if a worker may be woken, as is the case where
  /// none searches any more while others sleep: the caller then looks everywhere and hands over,
  /// since pushes relied on it.
  [[nodiscard]] bool end_search() noexcept {
    return may_wake(word_.fetch_sub(one_searching, std::memory_order_seq_cst) - one_searching, 0);
  }
  /// Makes a searcher a sleeper: in one step, before it arms the deques and looks again.
  void begin_sleep() noexcept {
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    word_.fetch_add(1 - one_searching, std::memory_order_seq_cst);
  }
  /// Makes a searcher a sleeper although there may be work, unless `most` sleep already. The
  /// workers that are awake look everywhere before the last of them sleeps.
  [[nodiscard]] bool begin_rest(std::uint32_t most) noexcept {
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (sleepers_of(seen) < most) {
      if (word_.compare_exchange_weak(seen, seen + 1 - one_searching, std::memory_order_seq_cst)) {
        return true;
      }
    }
    asleep_.fetch_sub(1, std::memory_order_seq_cst);
    return false;
  }
  /// Makes a sleeper that saw work after all a searcher again. Returns false if a permit is on its
  /// way: the caller must then take_permit(), which makes it a searcher as well.
  [[nodiscard]] bool cancel_sleep() noexcept {
    const bool was_counted = take_sleeper(one_searching, always);
    if (was_counted) asleep_.fetch_sub(1, std::memory_order_seq_cst);
    return was_counted;
  }
  /// Sleeps until a waker has made this worker, number `self`, a searcher, or until it was called
  /// and makes itself one. `called()` returns whether there is work that it alone can do; `sleep()`
  /// does what futex_wait() does.
  template <class Called, class Sleep>
  void take_permit(unsigned self, Called called, Sleep sleep) noexcept {
    for (;;) {
      std::uint32_t permits = 0;
      if (try_take(permits)) return;
      if (!called()) {
        sleep(permits_, permits, bit_of(self));
      } else if (cancel_sleep()) {
        return;
      } else {
        // A permit is on its way; if another that falls asleep just now takes it, its place in the
        // count is for this worker. Neither is sure to change the word, so do not sleep on it.
        cpu_pause();
      }
    }
  }
  /// The same for the worker's own thread, which leaves its `place` vacant meanwhile. If a borrower
  /// gives that back, the thread takes it and is a searcher.
  template <class Called, class Sleep>
  void take_permit(unsigned self, worker_place& place, Called called, Sleep sleep) noexcept {
    for (;; cpu_pause()) {
      std::uint32_t permits = 0;
      if (try_take(permits)) return;
      const bool is_called = called();
      if (is_called && cancel_sleep()) return;
      place.vacate();
      if (!is_called) sleep(permits_, permits, bit_of(self));
      if (!regain(place)) return;
    }
  }
  /// Takes the vacant place again; sleeps while it is lent. Returns false if a borrower has given
  /// it up: the thread is a searcher then, not a sleeper. Nobody waits for a permit while its place
  /// is lent, and a wake-up that came too late to be used may have been for a permit, so it is
  /// passed on. A thread that begins, whose worker is a sleeper already, calls it before
  /// take_permit().
  [[nodiscard]] bool regain(worker_place& place) noexcept {
    while (!place.take()) {
      const bool is_returned = place.take_back();
      if (permits_.load(std::memory_order_acquire) % one_call != 0) futex_wake(permits_, 1);
      if (is_returned) {
        begin_search();
        return false;
      }
      place.wait();
    }
    return true;
  }
  /// Takes one sleeper out of the counts, for a borrower of its place. Returns false if there is
  /// none: a permit for the thread in that place may be on its way.
  [[nodiscard]] bool begin_visit() noexcept {
    const bool was_counted = take_sleeper(0, always);
    if (was_counted) asleep_.fetch_sub(1, std::memory_order_seq_cst);
    return was_counted;
  }
  /// Makes the borrower's `place` a sleeper's again. Returns the number of other workers that slept
  /// or searched then.
  std::uint32_t end_visit(worker_place& place) noexcept {
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    place.leave();
    const std::uint64_t others = word_.fetch_add(1, std::memory_order_seq_cst);
    return sleepers_of(others) + searching_of(others);
  }
  /// Wakes worker `which`, for which the caller left something before, if it sleeps in
  /// take_permit(). It may also wake others, which sleep on.
  void call(unsigned which) noexcept {
    permits_.fetch_add(one_call, std::memory_order_release);
    futex_wake(permits_, ~0U, bit_of(which));
  }
  /// Wakes one sleeper unless enough search (may_wake()), or no more than `least` sleep. The caller
  /// made work visible and passed a full fence since. Returns true if one was woken.
  bool wake_one(std::uint32_t least) noexcept {
    return wake_one_if([this, least](std::uint64_t seen) { return may_wake(seen, least); });
  }
  /// Wakes one sleeper, if there is one, although a worker may search.
  void wake_one_anyway() noexcept { wake_one_if(always); }
  /// Wakes every sleeper, to stop.
  void wake_all() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);
    while (!word_.compare_exchange_weak(
        seen, sleepers_of(seen) * one_searching + searching_of(seen) * one_searching)) {
    }
    permits_.fetch_add(sleepers_of(seen), std::memory_order_release);
    futex_wake_all(permits_);
  }

 private:
  static constexpr std::uint32_t one_call = std::uint32_t{1} << 13;
  static_assert(one_call > scheduler_options::max_workers, "permits fit below");
  static constexpr std::uint32_t bit_of(unsigned worker) noexcept { return 1U << worker % 32; }
  static constexpr std::uint64_t one_searching = std::uint64_t{1} << 32;
  static constexpr std::uint32_t sleepers_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t searching_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr bool always(std::uint64_t) noexcept { return true; }
  /// A worker may be woken if none searches, or fewer than have work: so the number of those that
  /// work doubles with every wake-up, and no more look for work than would if it doubled again.
  bool may_wake(std::uint64_t seen, std::uint32_t least) const noexcept {
    const std::uint32_t searching = searching_of(seen);
    const std::uint32_t idle = sleepers_of(seen) + searching;
    const std::uint32_t busy = consumers_ - std::min(consumers_, idle);
    return sleepers_of(seen) > least && (searching == 0 || searching < busy);
  }
  /// Takes one sleeper out of the count, if there is one and `may(word)`, and adds `becomes` in the
  /// same step.
  template <class May>
  bool take_sleeper(std::uint64_t becomes, May may) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);
    while (sleepers_of(seen) != 0 && may(seen)) {
      if (word_.compare_exchange_weak(seen, seen - 1 + becomes, std::memory_order_seq_cst)) {
        return true;
      }
    }
    return false;
  }
  template <class May>
  bool wake_one_if(May may) noexcept {
    if (!take_sleeper(one_searching, may)) return false;
    permits_.fetch_add(1, std::memory_order_release);
    futex_wake(permits_, 1);
    return true;
  }
  /// Takes a permit; returns false if there is none, with the word that says so.
  bool try_take(std::uint32_t& permits) noexcept {
    permits = permits_.load(std::memory_order_acquire);
    while (permits % one_call != 0) {
      if (permits_.compare_exchange_weak(permits, permits - 1, std::memory_order_acquire)) {
        asleep_.fetch_sub(1, std::memory_order_seq_cst);
        return true;
      }
    }
    return false;
  }
  const std::uint32_t consumers_;
  std::atomic<std::uint64_t> word_{0};     ///< sleepers (low 32), searching (high 32)
  std::atomic<std::uint32_t> permits_{0};  ///< not taken (low 13 bits); calls, never reset
  alignas(64) std::atomic<std::uint32_t> asleep_{0};  ///< upper bound of the word's sleepers
};

}  // namespace creek::host_backend
