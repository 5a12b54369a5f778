// SPDX-License-Identifier: Apache-2.0
// Sets the clock of one cpufreq policy, and restores the original contents of its files.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "clock_checks.hpp"
#include "cpufreq.hpp"
#include "setting_files.hpp"

namespace creek::power {

/// Two ways: the governor `userspace` with scaling_setspeed, one write per change; otherwise both
/// limits at the wished clock, which every driver obeys, and the governor stays as it is. Files are
/// kept open; nothing is changed before the first set(). Clocks are in kHz.
class clock_setting {
 public:
  explicit clock_setting(const cpufreq_policy& policy);

  /// Returns why set() would fail, in one line with the remedy; empty if it may work.
  [[nodiscard]] std::string why_not() const { return files_.why_not(); }
  [[nodiscard]] bool by_userspace() const noexcept {
    return userspace_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const cpufreq_policy& policy() const noexcept { return policy_; }

  /// Sets a clock of policy().nearest(). One thread at a time; no allocation. Returns false: see
  /// failure().
  bool set(std::uint64_t clock) noexcept;
  /// Restores the state found before the first set(), if anything was set since. Any thread, any
  /// signal handler, more than once.
  void put_back() noexcept;
  /// Called by a thread that was in set() during a put_back(): undoes its later writes, too.
  void put_back_again() noexcept;
  /// Returns the writes that put_back() failed to make; empty if there are none.
  [[nodiscard]] std::string left_behind() const { return before_.left_behind(files_); }

  /// Returns the checks of the actual clock.
  [[nodiscard]] clock_checks& checks() noexcept { return checks_; }

  /// Returns the failures since the start: writes refused, limits that others changed, clocks that
  /// were not reached; empty if there are none. Any thread; reads files.
  [[nodiscard]] std::string failure() const;

 private:
  bool engage() noexcept;
  bool read_before(std::uint64_t& low, std::uint64_t& high, std::string_view& before,
                   setting_text& space) noexcept;
  bool take_over(std::string_view governor_before) noexcept;
  bool set_limits(std::uint64_t clock) noexcept;
  void keep(std::string_view governor_before) noexcept;
  [[nodiscard]] std::string misread() const;

  const cpufreq_policy policy_;
  setting_files files_;
  std::atomic<bool> userspace_;

  // Used by the thread in set().
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;

  saved_settings before_;                // built by the first set()
  std::atomic<bool> engaged_{false};     // publishes `before_`
  std::atomic<std::uint64_t> asked_{0};  // last successful set(); 0: none since put_back()
  clock_checks checks_;
};

}  // namespace creek::power
