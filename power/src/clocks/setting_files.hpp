// SPDX-License-Identifier: Apache-2.0
// Files that set the clock of one cpufreq policy, and their contents to be restored.
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

enum class setting : int { governor, lower, upper, speed, lock };  // lock: no file, a failure only
inline constexpr std::size_t setting_count = 4;
using setting_text = std::array<char, 40>;  // the longest governor has 16 characters

/// Files of a policy, which must outlive this. They are kept open. Clocks are in kHz.
class setting_files {
 public:
  explicit setting_files(const cpufreq_policy& policy);

  [[nodiscard]] const sysfs::file& operator[](setting which) const noexcept {
    return files_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::string path(setting which) const;
  /// Returns why the clock cannot be set, in one line with the remedy; empty if it may work.
  [[nodiscard]] std::string why_not() const;

  /// Writes a value; returns false and records the failure if that is refused.
  bool write(setting to, std::uint64_t clock) noexcept;
  /// Records a failure, unless there was one before; returns false.
  bool fail(setting at, int error) noexcept;
  /// Describes the first failure; empty if there was none.
  [[nodiscard]] std::string failure() const;

 private:
  const cpufreq_policy& policy_;
  std::array<sysfs::file, setting_count> files_;
  std::atomic<std::uint32_t> failed_{0};  // first failure: setting << 16 | errno
};

/// Prepared writes that restore settings. Built by one thread, then never changed: signal handlers
/// read them at any time.
class saved_settings {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void add(setting to, std::string_view word) noexcept;
  void add(setting to, std::uint64_t clock) noexcept;
  /// Writes all, in the order in which they were added. Any thread, any signal handler.
  void restore(const setting_files& files) noexcept;
  /// Returns a write that the last restore() failed to make; empty if there is none.
  [[nodiscard]] std::string left_behind(const setting_files& files) const;

 private:
  struct order {
    setting to = setting::governor;
    setting_text bytes{};
    std::size_t size = 0;
  };
  std::array<order, 5> orders_{};
  std::size_t size_ = 0;
  std::atomic<std::uint32_t> left_{0};  // last failure: setting << 16 | errno
};

}  // namespace creek::power
