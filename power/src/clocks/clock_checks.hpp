// SPDX-License-Identifier: Apache-2.0
// Compares the actual clock of a cpufreq policy with the one that was set.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cpufreq.hpp"
#include "sysfs.hpp"

namespace creek::power {

/// Clocks within 5% count as the same clock: drivers round to the steps of the hardware, and an
/// average over milliseconds includes some idle ones.
[[nodiscard]] bool close_to(std::uint64_t asked, std::uint64_t found) noexcept;

/// The checks of one policy, which must outlive this. Any thread. Clocks are in kHz.
class clock_checks {
 public:
  explicit clock_checks(const cpufreq_policy& policy);

  /// Returns the actual clock as the hardware or the kernel reports it, 0 if not reported. May take
  /// 20 ms in some kernels.
  [[nodiscard]] std::uint64_t effective() const noexcept;
  /// Records that `effective` was read of a busy CPU while `asked` was set. Returns true if the
  /// clock misses the one asked for.
  bool add(std::uint64_t asked, std::uint64_t effective) noexcept;
  /// Describes the last miss; empty if there was none.
  [[nodiscard]] std::string failure() const;

 private:
  const cpufreq_policy& policy_;
  sysfs::file effective_;
  std::atomic<std::uint64_t> missed_{0};  // last miss: asked << 32 | effective
  std::atomic<std::uint32_t> checks_{0};
  std::atomic<std::uint32_t> misses_{0};
};

}  // namespace creek::power
