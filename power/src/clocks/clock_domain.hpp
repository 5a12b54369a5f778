// SPDX-License-Identifier: Apache-2.0
// Workers that share a clock: a thread that changes a wish makes sure that the settings follow the
// highest wish of all.
//
// No thread waits for another one. A worker stores its wish and then increments `requests_`. The
// thread that increments it from zero serves: it reads all wishes, sets the clock, and resets the
// count to zero only if it has not changed since before the read; otherwise it reads again. So no
// request between the read and the end of the service is lost, and only one thread at a time,
// `writer_`, changes settings. undo() in a signal handler waits for it for a while.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/units.hpp>

#include "clock_setting.hpp"

namespace creek::power {

/// State shared by a control's domains: a flag that stops changes, and the number of undos so far.
class control_gate {
 public:
  std::atomic<bool> closed{false};
  std::atomic<std::uint32_t> undone{0};
  /// Called before each change; returns false if another control or process owns the clocks.
  virtual bool may_change() noexcept = 0;

 protected:
  ~control_gate() = default;
};

class clock_domain {
 public:
  static constexpr std::uint32_t no_step = ~std::uint32_t{0};  ///< no wish yet

  clock_domain(control_gate& gate, std::vector<std::unique_ptr<clock_setting>> settings)
      : gate_(gate), settings_(std::move(settings)) {}

  /// Adds slots for workers; called before the first wish.
  void add_workers(std::size_t count, const std::vector<units::hertz>& steps);
  [[nodiscard]] std::size_t workers() const noexcept { return wishes_.size(); }

  [[nodiscard]] std::uint32_t wish_of(std::size_t place) const noexcept {
    return wishes_[place].load(std::memory_order_relaxed);
  }
  void wish(std::size_t place, std::uint32_t step) noexcept;
  /// Removes all wishes; must not run concurrently with wish().
  void forget_wishes() noexcept;

  /// Counts changes of the clock; if two calls return the same number, the clock did not change.
  [[nodiscard]] std::uint32_t changes() const noexcept {
    return changes_.load(std::memory_order_acquire);
  }
  /// Returns the clock that was set or, if that was found wrong, the actual clock; 0 Hz: unknown.
  [[nodiscard]] units::hertz clock() const noexcept {
    return units::hertz{1e3 * static_cast<double>(clock_.load(std::memory_order_relaxed))};
  }

  /// Checks the actual clock of the caller's CPU, which has computed for a while at this clock.
  void check(int cpu) noexcept;

  /// Called by signal handlers, with the gate closed. Checks for a writer `patience` times.
  void undo(int& patience) noexcept;
  [[nodiscard]] std::string failure() const;
  /// Returns a list of the settings that undo() could not put back.
  [[nodiscard]] std::string left_behind() const;
  [[nodiscard]] bool holds(int cpu) const noexcept;

 private:
  [[nodiscard]] std::uint32_t highest_wish() const noexcept;
  void serve() noexcept;
  void apply(std::uint32_t step) noexcept;
  void set_all(std::uint32_t step) noexcept;

  control_gate& gate_;
  std::vector<std::unique_ptr<clock_setting>> settings_;
  std::vector<std::vector<std::uint64_t>> clocks_;  // in kHz, per setting and step
  std::vector<std::atomic<std::uint32_t>> wishes_;

  std::atomic<std::uint32_t> requests_{0};
  std::atomic<std::uintptr_t> writer_{0};  // thread, or 0
  // Used by the serving thread only.
  std::uint32_t applied_ = no_step;
  std::uint32_t applied_undone_ = 0;

  std::atomic<std::uint32_t> step_{no_step};  // applied_, for check()
  std::atomic<std::uint32_t> changes_{0};
  std::atomic<std::uint64_t> clock_{0};
};

}  // namespace creek::power
