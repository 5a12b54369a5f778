// SPDX-License-Identifier: Apache-2.0
// Turn-taking of the messages to one object.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/ext/remote_message.hpp>

namespace creek::ext {

enum class admission {
  runs,   ///< the caller runs the message, and then what next() returns
  waits,  ///< whoever runs a message now runs this one later
  refused,
};

/// Messages of one object. They run one at a time, in the order in which they came. Invariant:
/// messages wait only while one runs. A lock guards that where any thread may bring messages;
/// otherwise only the object's worker calls.
class mailbox {
 public:
  explicit mailbox(bool is_shared) noexcept : is_shared_(is_shared) {}

  bool is_shared() const noexcept { return is_shared_; }
  /// Lets a message run if none runs. Otherwise a copy of it waits, unless `is_refused()`.
  template <class IsRefused>
  [[nodiscard]] admission admit(const std::byte* message, std::size_t bytes,
                                const IsRefused& is_refused) {
    return guarded([&] {
      if (!std::exchange(is_running_, true)) return admission::runs;
      if (is_refused()) return admission::refused;
      waiting_.push(new kept_message(message, bytes));
      return admission::waits;
    });
  }
  /// Ends the running message if none waits. Otherwise it counts as running until next(), and
  /// false is returned.
  [[nodiscard]] bool end_if_last() noexcept {
    return guarded([&] {
      if (waiting_.empty()) is_running_ = false;
      return !is_running_;
    });
  }
  /// Ends the running message. Returns the next one, which then runs, or null if none waits.
  std::unique_ptr<kept_message> next() noexcept {
    return std::unique_ptr<kept_message>(guarded([&] {
      kept_message* const first = waiting_.pop();
      is_running_ = first != nullptr;
      return first;
    }));
  }

 private:
  template <class F>
  std::invoke_result_t<const F&> guarded(const F& f) {
    if (!is_shared_) return f();
    const std::lock_guard lock(lock_);
    return f();
  }

  const bool is_shared_;
  spin_lock lock_;
  bool is_running_ = false;
  message_queue waiting_;
};

}  // namespace creek::ext
