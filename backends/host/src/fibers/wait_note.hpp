// SPDX-License-Identifier: Apache-2.0
// Note of what a suspended fiber waits for.
#pragma once

#include <atomic>
#include <cstdint>

#include <creek/core/measuring/clock.hpp>
#include <creek/tasking/ext/executor.hpp>

namespace creek::host_backend {

/// Kind and subject of a wait_reason, in one word.
class wait_subject {
 public:
  /// The strand runs, or other tasks run on top of its wait.
  constexpr wait_subject() noexcept = default;
  /// A strand that is off its stack.
  explicit wait_subject(const ext::wait_reason& why) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(why.subject) |
              (static_cast<std::uintptr_t>(why.of) + 1)) {}

  bool is_off_stack() const noexcept { return word_ != 0; }
  /// Returns what the word was made of, with the given text.
  ext::wait_reason reason(const char* what) const noexcept {
    return {what, static_cast<ext::wait_reason::kind>((word_ & kind_mask) - 1),
            reinterpret_cast<const void*>(word_ & ~kind_mask)};
  }

 private:
  static constexpr std::uintptr_t kind_mask = 7;  ///< a subject is aligned to 8 bytes
  std::uintptr_t word_ = 0;
};

/// Written by the fiber's strand, read by any thread for reports: parts of different waits may
/// then be read together. The texts live for ever, the subject as fiber_pool::look says.
class wait_note {
 public:
  struct wait {
    const char* what = nullptr;  ///< null: the strand does not wait
    const char* task = nullptr;  ///< name of the kind of task that waits; null: of run()
    ticks since{};
    wait_subject subject{};
  };

  void set(const wait& now) noexcept {
    task_.store(now.task, std::memory_order_relaxed);
    since_.store(now.since, std::memory_order_relaxed);
    subject_.store(now.subject, std::memory_order_release);
    what_.store(now.what, std::memory_order_release);
  }
  void clear() noexcept {
    subject_.store({}, std::memory_order_release);
    what_.store(nullptr, std::memory_order_release);
  }
  bool is_set() const noexcept { return what_.load(std::memory_order_relaxed) != nullptr; }
  wait get() const noexcept {
    const char* const what = what_.load(std::memory_order_acquire);
    return {what, task_.load(std::memory_order_relaxed), since_.load(std::memory_order_relaxed),
            subject_.load(std::memory_order_acquire)};
  }

 private:
  std::atomic<const char*> what_{nullptr};
  std::atomic<const char*> task_{nullptr};
  std::atomic<ticks> since_{};
  std::atomic<wait_subject> subject_{};
};

}  // namespace creek::host_backend
