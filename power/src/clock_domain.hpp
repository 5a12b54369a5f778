// SPDX-License-Identifier: Apache-2.0
// Workers that share a clock: whoever changes a wish sees to it that the settings follow the
// highest wish of all.
//
// Nobody waits for another. A worker stores its wish and then counts up `requests_`. Who counts up
// from zero serves: it looks at all wishes, sets the clock, and takes the count back to zero only
// if it is what it was before the look; else it looks again. So between the look and the end of the
// service no request is lost, and there is one thread in settings at a time, `writer_`, for which
// undo() in a handler of signals waits a while.
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
  /// Called before each change; false if the clocks are not this control's or this process's.
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

  /// Checks the CPU that the caller runs on and has computed on for a while at this clock.
  void check(int cpu) noexcept;

  /// For signal handlers, with the gate closed. Waits for a writer for up to `patience` looks.
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
  std::vector<std::vector<std::uint64_t>> clocks_;  // in kHz, by setting and step
  std::vector<std::atomic<std::uint32_t>> wishes_;

  std::atomic<std::uint32_t> requests_{0};
  std::atomic<std::uintptr_t> writer_{0};  // a thread, 0: none
  // Used by the serving thread only.
  std::uint32_t applied_ = no_step;
  std::uint32_t applied_undone_ = 0;

  std::atomic<std::uint32_t> step_{no_step};  // applied_, for check()
  std::atomic<std::uint32_t> changes_{0};
  std::atomic<std::uint64_t> clock_{0};
};

}  // namespace creek::power
