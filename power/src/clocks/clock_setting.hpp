// SPDX-License-Identifier: Apache-2.0
// Sets the clock of one cpufreq policy, and restores the original contents of its files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cpufreq.hpp"
#include "sysfs.hpp"

namespace creek::power {

/// Two ways: the governor `userspace` with scaling_setspeed, one write per change; otherwise both
/// limits at the wished clock, which every driver obeys, and the governor stays as it is. Files are
/// kept open; nothing is changed before the first set(). Clocks are in kHz.
class clock_setting {
 public:
  explicit clock_setting(const cpufreq_policy& policy);
  clock_setting(const clock_setting&) = delete;
  clock_setting& operator=(const clock_setting&) = delete;

  /// Returns why set() would fail, in one line with the remedy; empty if it may work.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }
  [[nodiscard]] bool by_userspace() const noexcept {
    return userspace_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const cpufreq_policy& policy() const noexcept { return policy_; }
  /// Returns the policy's clock for a wish: the lowest that is not below it, or the highest.
  [[nodiscard]] std::uint64_t nearest(std::uint64_t wish) const noexcept;

  /// Sets a clock of nearest(). One thread at a time; no allocation. Returns false: see failure().
  bool set(std::uint64_t clock) noexcept;
  /// Restores the state found before the first set(), if anything was set since. Any thread, any
  /// signal handler, more than once.
  void put_back() noexcept;
  /// Called by a thread that was in set() during a put_back(): undoes its later writes, too.
  void put_back_again() noexcept;
  /// Returns the writes that put_back() failed to make; empty if there are none.
  [[nodiscard]] std::string left_behind() const;

  /// Returns the actual clock as the hardware or the kernel reports it, 0 if not reported. Any
  /// thread; may take 20 ms in some kernels.
  [[nodiscard]] std::uint64_t effective() const noexcept;
  /// Records that `effective` was read of a busy CPU while `asked` was set. Any thread. Returns
  /// true if the clock misses the one asked for.
  bool check(std::uint64_t asked, std::uint64_t effective) noexcept;

  /// Returns the failures since the start: writes refused, limits that others changed, clocks that
  /// were not reached; empty if there are none. Any thread; reads files.
  [[nodiscard]] std::string failure() const;

 private:
  enum which : int { governor, lower, upper, speed, files, lock = files };
  using text = std::array<char, 40>;  // the longest governor has 16 characters
  struct order {                      // prepared write, for signal handlers
    which to = governor;
    text bytes{};
    std::size_t size = 0;
  };

  bool engage() noexcept;
  bool read_before(std::uint64_t& low, std::uint64_t& high, std::string_view& before,
                   text& space) noexcept;
  bool take_over(std::string_view governor_before) noexcept;
  bool set_limits(std::uint64_t clock) noexcept;
  bool write(which to, std::uint64_t clock) noexcept;
  bool write(which to, std::string_view word) noexcept;
  bool fail(which at, int error) noexcept;
  void add_order(which to, std::string_view word) noexcept;
  void add_order(which to, std::uint64_t clock) noexcept;
  [[nodiscard]] std::string path(which of) const;
  void keep(std::string_view governor_before) noexcept;
  [[nodiscard]] std::string misread() const;

  cpufreq_policy policy_;
  std::array<sysfs::file, files> files_;
  sysfs::file effective_;
  std::atomic<bool> userspace_{false};
  std::string why_not_;

  // Used by the thread in set().
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;

  // Built by the first set() and never changed, because signal handlers read them at any time.
  std::array<order, 5> before_{};
  std::size_t orders_ = 0;
  std::atomic<bool> engaged_{false};      // publishes the orders
  std::atomic<std::uint64_t> asked_{0};   // last successful set(); 0: none since put_back()
  std::atomic<std::uint32_t> failed_{0};  // first failure: which << 16 | errno
  std::atomic<std::uint32_t> left_{0};    // last put_back() failure, likewise
  std::atomic<std::uint64_t> missed_{0};  // last miss: asked << 32 | effective
  std::atomic<std::uint32_t> checks_{0};
  std::atomic<std::uint32_t> misses_{0};
};

}  // namespace creek::power
