// SPDX-License-Identifier: Apache-2.0
// The stall detector: finds which invocation keeps a worker busy without suspending, and for how
// long. Each worker notes what it runs; a thread looks at the notes, or the worker itself does as
// its clock moves, on a backend that keeps its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <creek/tasking/options.hpp>

namespace creek::ext {

class executor;
struct activation;
struct task_type;

/// Detectors in this process. On a line that is hardly ever written, as every invocation reads it.
alignas(64) inline constinit std::atomic<unsigned> stall_watches{0};

class stall_watch {
 public:
  /// The invocation that a worker runs; without a method: it runs none.
  struct invocation {
    const char* method = nullptr;
    std::uint64_t object = 0;
  };

  /// Throws usage_error if the limit is negative.
  stall_watch(const scheduler_options& options, unsigned workers);
  virtual ~stall_watch();
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;

  /// Begins to count for `next`; returns what ran before. Called by the worker itself.
  invocation exchange(unsigned worker, invocation next) noexcept;

 protected:
  /// Returns the time by a clock of the detector's own, never 0.
  virtual std::chrono::nanoseconds now() const noexcept = 0;
  /// Called after an invocation was noted.
  virtual void begun() noexcept {}

  /// Returns whether the worker runs an invocation. Reports it once if over the limit. Any thread.
  bool look_at(unsigned worker) noexcept;
  unsigned workers() const noexcept { return workers_; }
  std::chrono::nanoseconds limit() const noexcept { return limit_; }

 private:
  /// Written by the worker: sets `since` to 0 first, and last to when the invocation began.
  struct alignas(128) note {
    std::atomic<std::int64_t> since{0};
    std::atomic<const char*> method{nullptr};
    std::atomic<std::uint64_t> object{0};
    std::int64_t reported = 0;  ///< `since` of the last report; used by the looking thread
  };
  void report(const stall_report& found) const noexcept;

  unsigned workers_;
  std::chrono::nanoseconds limit_;
  std::function<void(const stall_report&)> on_stall_;
  std::unique_ptr<note[]> notes_;
};

/// Makes a detector in wall time, with a thread that starts with the first invocation and sleeps
/// while there is none. Returns null if the options turn the detector off.
std::unique_ptr<stall_watch> make_stall_watch(const scheduler_options& options);

/// Marks an invocation on its worker for the life of this object.
class invocation_mark {
 public:
  invocation_mark(const activation& here, const task_type* type) noexcept {
    if (stall_watches.load(std::memory_order_relaxed) != 0) [[unlikely]]
      begin(here, type);
  }
  ~invocation_mark() {
    if (watch_ != nullptr) [[unlikely]]
      end();
  }
  invocation_mark(const invocation_mark&) = delete;
  invocation_mark& operator=(const invocation_mark&) = delete;

 private:
  void begin(const activation& here, const task_type* type) noexcept;
  void end() noexcept;

  stall_watch* watch_ = nullptr;
  int worker_ = -1;
  stall_watch::invocation before_;
};

/// Excludes the time that a strand of `home` is suspended.
class stall_pause {
 public:
  explicit stall_pause(executor& home) noexcept {
    if (stall_watches.load(std::memory_order_relaxed) != 0) [[unlikely]]
      begin(home);
  }
  ~stall_pause() {
    if (paused_.method != nullptr) [[unlikely]]
      end();
  }
  stall_pause(const stall_pause&) = delete;
  stall_pause& operator=(const stall_pause&) = delete;

 private:
  void begin(executor& home) noexcept;
  void end() noexcept;

  executor* home_ = nullptr;
  stall_watch::invocation paused_;
};

}  // namespace creek::ext
