// SPDX-License-Identifier: Apache-2.0
// Log of the process's phases: which are open, and when that changed, so that the work of any
// worker can be split at those moments afterwards.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/units.hpp>

namespace creek::power::detail {

/// Interned name of a phase; 0: no phase is open.
using phase_id = std::uint32_t;

/// Point in time of the accounted work: ticks of tick_clock, or picoseconds of the
/// clock of a meter.
using stamp = std::int64_t;

/// Returns the current time in ticks.
[[nodiscard]] stamp ticks_now() noexcept;
/// Returns the current time by the clock of the caller's meter, or 0 if it has none.
[[nodiscard]] stamp metered_now() noexcept;

class phase_log {
 public:
  static phase_log& of_process();

  /// Opens a phase; returns what close() takes.
  std::uint64_t open(std::string_view name);
  void close(std::uint64_t number);

  /// Returns the number of changes so far. Any thread; one load.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the CPU times of this process so far, by phase_id.
  [[nodiscard]] std::vector<units::seconds> cpu_times();
  /// Position in the log: the open phase, and the number of changes before it.
  struct position {
    std::uint64_t changes = 0;
    phase_id phase = 0;
  };
  [[nodiscard]] position now() const;

  /// Iterates over the changes that happened after `at` and until `end`: calls `spent(phase,
  /// until)` for the phase open before each, and advances `at`. Old changes are forgotten: the
  /// phase open before them counts until the oldest known change.
  template <class Spent>
  void walk(position& at, bool metered, stamp begin, stamp end, const Spent& spent) const {
    const std::lock_guard alone(lock_);
    const std::uint64_t all = changes_.load(std::memory_order_relaxed);
    const std::uint64_t oldest = all - log_.size();
    for (std::uint64_t i = std::max(at.changes, oldest); i < all; ++i) {
      const change& each = log_[static_cast<std::size_t>(i - oldest)];
      const stamp since = metered ? each.metered : each.ticks;
      if (since > end) return;  // change by a core that is ahead
      if (since > begin) spent(at.phase, since);
      at = {i + 1, each.phase};
    }
  }

 private:
  struct change {
    stamp ticks = 0;
    stamp metered = 0;  ///< by the clock of the caller's meter; 0: it had none
    phase_id phase = 0;
  };
  struct open_phase {
    std::uint64_t number;
    phase_id phase;
  };
  /// Bounds the memory of a program that changes phases for days.
  static constexpr std::size_t most_changes = 1 << 16;

  void changed_to(phase_id phase);
  void charge_cpu();

  mutable std::mutex lock_;
  std::map<std::string, phase_id, std::less<>> ids_;
  std::vector<std::string> names_{"no phase"};
  std::vector<units::seconds> cpu_{units::seconds{}};
  units::seconds cpu_charged_;
  std::vector<open_phase> open_;
  std::uint64_t opened_ = 0;
  std::deque<change> log_;
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace creek::power::detail
