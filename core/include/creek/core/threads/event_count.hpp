// SPDX-License-Identifier: Apache-2.0
// An event count: sleeping until a condition on other shared memory may have become true, without a
// lock around that condition and without losing a wake-up. core/README.md shows the protocol.
//
//     waiter                                    notifier
//     auto key = ec.prepare_wait();             make the condition true (any store)
//     if (condition) ec.cancel_wait();          ec.notify_one();
//     else           ec.wait(key);              (nobody registered: one plain load)
//
// Sources: [Reed 1979] has the idea;
// [Vyukov] gave it this form for schedulers.
#pragma once

#include <climits>
#include <concepts>

#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/futex.hpp>

namespace creek {

/// Policy: decides which side pays for the store-load fence between registering and notifying.
template <typename Policy>
concept fence_policy = requires {
  { Policy::notifier_fence() }
  noexcept;  // after the condition's store, before reading `waiters`
  { Policy::waiter_fence() }
  noexcept;  // after registering, before reading the condition
};

/// Notifying is free, a waiter pays a membarrier (0.5-10 us) before it sleeps. For hot notifiers.
struct asymmetric_fences {
  static void notifier_fence() noexcept { light_fence(); }
  static void waiter_fence() noexcept { heavy_fence(); }
};

/// Both sides pay a fence (about 5 ns). For waits that are as frequent as the notifications.
struct symmetric_fences {
  static void notifier_fence() noexcept { full_fence(); }
  static void waiter_fence() noexcept { full_fence(); }
};

/// Any number of waiters and notifiers, any threads. Must outlive the last call by either side.
///
/// Why no wake-up is lost: registering and the condition's store meet in the store-load pattern of
/// the two fences. Either the notifier sees the waiter registered, then it bumps the epoch, which
/// makes the waiter's sleep return at once or wakes it; or the waiter's check after prepare_wait()
/// sees the condition. A waiter that takes its key after the bump has acquired the condition's
/// store with it.
///
/// A notification also makes every thread that is between prepare_wait() and wait() return from
/// wait() at once: those re-check and, if need be, register again. That is the only spurious cost.
template <fence_policy Fences>
class basic_event_count {
 public:
  /// The epoch a waiter registered in. Good for one wait() or cancel_wait().
  class key {
    friend class basic_event_count;
    explicit key(std::uint32_t epoch) noexcept : epoch_(epoch) {}
    std::uint32_t epoch_;
  };

  basic_event_count() = default;
  basic_event_count(const basic_event_count&) = delete;
  basic_event_count& operator=(const basic_event_count&) = delete;

  /// Registers the intent to wait. Check the condition after this, with at least acquire loads if
  /// data hang on it, then call exactly one of cancel_wait(), wait(), wait_until().
  [[nodiscard]] key prepare_wait() noexcept {
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    Fences::waiter_fence();
    return key{epoch_.load(std::memory_order_acquire)};
  }

  /// Withdraws the intent: the condition holds, or the caller found other work.
  void cancel_wait() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }

  /// Sleeps until a notification that came after prepare_wait(); withdraws the intent.
  /// Wrong only if exactly a multiple of 2^32 notifications pass between the two calls.
  void wait(key registered) noexcept {
    while (epoch_.load(std::memory_order_acquire) == registered.epoch_) {
      futex_wait(epoch_, registered.epoch_);
    }
    cancel_wait();
  }

  /// Like wait(), but returns false at `deadline`. True means that this thread may have
  /// consumed a notify_one(): act on the condition, or notify on.
  [[nodiscard]] bool wait_until(key registered, deadline_clock::time_point deadline) noexcept {
    bool notified = true;
    while (epoch_.load(std::memory_order_acquire) == registered.epoch_) {
      if (futex_wait_until(epoch_, registered.epoch_, deadline) == futex_status::timed_out) {
        notified = epoch_.load(std::memory_order_acquire) != registered.epoch_;
        break;
      }
    }
    cancel_wait();
    return notified;
  }

  [[nodiscard]] bool wait_for(key registered, std::chrono::nanoseconds limit) noexcept {
    return wait_until(registered, deadline_clock::now() + limit);
  }

  /// Blocks until `condition()` is true. It is called any number of times by this thread; if it
  /// throws, the intent is withdrawn.
  template <std::predicate Condition>
  void await(Condition condition) {
    while (!condition()) {
      registration intent{*this};
      const key registered = intent.prepare();
      if (condition()) return;
      wait(registered);
      intent.done();
    }
  }

  /// Like await(), but until `deadline` at the latest; returns the last value of `condition()`.
  template <std::predicate Condition>
  [[nodiscard]] bool await_until(Condition condition, deadline_clock::time_point deadline) {
    while (!condition()) {
      registration intent{*this};
      const key registered = intent.prepare();
      if (condition()) return true;
      const bool notified = wait_until(registered, deadline);
      intent.done();
      if (!notified) return condition();
    }
    return true;
  }

  /// Wakes one sleeper, if there is one, after the caller made the condition true. One plain load
  /// when nobody is registered (behind the policy's fence), else a read-modify-write and a system
  /// call. Returns how many threads the kernel woke.
  unsigned notify_one() noexcept { return notify(1); }

  /// Wakes every sleeper.
  unsigned notify_all() noexcept { return notify(INT_MAX); }

  /// Wakes up to `count` sleepers, longest sleeper first.
  unsigned notify(unsigned count) noexcept {
    Fences::notifier_fence();
    if (waiters_.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    return bump_and_wake(count);
  }

  /// Returns how many threads are registered: asleep, or between prepare_wait() and its end; a hint
  [[nodiscard]] std::uint32_t waiters() const noexcept {
    return waiters_.load(std::memory_order_relaxed);
  }

 private:
  // Withdraws the intent when the condition turns out true, or throws.
  class registration {
   public:
    explicit registration(basic_event_count& owner) noexcept : owner_(&owner) {}
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;
    ~registration() {
      if (owner_ != nullptr) owner_->cancel_wait();
    }
    key prepare() noexcept { return owner_->prepare_wait(); }
    void done() noexcept { owner_ = nullptr; }

   private:
    basic_event_count* owner_;
  };

  [[gnu::noinline]] unsigned bump_and_wake(unsigned count) noexcept {
    // Release: a waiter whose key is this epoch sees what was stored before the notification.
    epoch_.fetch_add(1, std::memory_order_release);
    return futex_wake(epoch_, count);
  }

  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> waiters_{0};
};

using event_count = basic_event_count<asymmetric_fences>;
using symmetric_event_count = basic_event_count<symmetric_fences>;

}  // namespace creek
