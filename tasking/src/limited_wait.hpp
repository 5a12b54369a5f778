// SPDX-License-Identifier: Apache-2.0
// Waits that a deadline or a stop request may end.
//
// Three may end a wait: its source, which becomes ready, the time, a stop request. Each of them
// changes `phase_`; the first one ends the wait, and resumes the strand if it was suspended by
// then. The listener lies in the waiter's frame, so the waiter makes sure that nobody knows the
// frame any more before it leaves: suspend_until() returns when `expire` cannot be called, the stop
// callback's destructor waits for one that runs, and the listener is taken off the source's list.
// If the source became ready meanwhile, the listener cannot be taken off: then the waiter waits
// until it was notified, which is due. Model: tests/model/limited_wait.pml.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>

#include <creek/tasking/detail/future_state.hpp>

namespace creek::detail {

/// One wait. A source has `listen(ready_listener*)` and `unlisten(ready_listener*)`, with the
/// meaning that they have in future_state_base, texts that say what it is in reports, and
/// `reason(text)`, the wait for it in reports.
template <class Source>
class limited_wait : ready_listener, wait_limit {
 public:
  explicit limited_wait(Source& awaited) noexcept : awaited_(awaited) {
    notify = [](ready_listener* self) noexcept -> strand* {
      auto* me = static_cast<limited_wait*>(self);
      sanitizer::releases(&me->phase_);
      // The waiter may leave its frame after the exchange, unless it is suspended.
      return me->phase_.exchange(phase::ready, std::memory_order_acq_rel) == phase::suspended
                 ? me->suspended_
                 : nullptr;
    };
    expire = [](wait_limit* self) noexcept {
      return static_cast<limited_wait*>(self)->end(phase::timeout);
    };
  }

  wait_end wait(const std::chrono::nanoseconds* limit, const std::stop_token* stop) {
    {
      const auto on_stop = [this]() noexcept {
        if (strand* stopped = end(phase::stopped)) stopped->home->resume(stopped);
      };
      std::optional<std::stop_callback<decltype(on_stop)>> requested;
      if (stop != nullptr) requested.emplace(*stop, on_stop);
      if (limit != nullptr) {
        span = *limit;
        suspend_here_until(&limited_wait::publish, this,
                           awaited_.reason(awaited_.text_for_a_limited_time), *this);
      } else {
        suspend_here(&limited_wait::publish, this,
                     awaited_.reason(stop != nullptr ? awaited_.text_or_a_stop : awaited_.text));
      }
    }
    const phase ended_by = phase_.load(std::memory_order_acquire);
    sanitizer::acquired(&phase_);
    if (ended_by == phase::ready || withdraw()) return wait_end::ready;
    return ended_by == phase::timeout ? wait_end::timeout : wait_end::stopped;
  }

 private:
  enum class phase : std::uint8_t { running, suspended, ready, timeout, stopped };

  static bool publish(void* argument, strand* self) {
    auto* me = static_cast<limited_wait*>(argument);
    me->suspended_ = self;
    me->listens_ = me->awaited_.listen(me);
    if (!me->listens_) {
      me->phase_.store(phase::ready, std::memory_order_relaxed);
      return false;
    }
    phase expected = phase::running;
    return me->phase_.compare_exchange_strong(expected, phase::suspended,
                                              std::memory_order_acq_rel);
  }

  /// Ends the wait unless it has ended; returns the strand if it has to be resumed.
  strand* end(phase how) noexcept {
    sanitizer::releases(&phase_);
    phase seen = phase::running;
    while (!phase_.compare_exchange_weak(seen, how, std::memory_order_acq_rel)) {
      if (seen != phase::running && seen != phase::suspended) return nullptr;
    }
    return seen == phase::suspended ? suspended_ : nullptr;
  }

  /// Takes the listener off, or waits until it was notified; returns true in the second case.
  bool withdraw() {
    if (!listens_ || awaited_.unlisten(this)) return false;
    const auto publish_again = [](void* argument, strand* self) {
      auto* me = static_cast<limited_wait*>(argument);
      me->suspended_ = self;
      phase seen = me->phase_.load(std::memory_order_acquire);
      return seen != phase::ready &&
             me->phase_.compare_exchange_strong(seen, phase::suspended, std::memory_order_acq_rel);
    };
    if (phase_.load(std::memory_order_acquire) != phase::ready)
      suspend_here(publish_again, this, awaited_.text);
    sanitizer::acquired(&phase_);
    return true;
  }

  Source& awaited_;
  strand* suspended_ = nullptr;
  std::atomic<phase> phase_{phase::running};
  bool listens_ = false;
};

}  // namespace creek::detail
