// SPDX-License-Identifier: Apache-2.0
// Clock control of a Linux machine, through cpufreq's files in /sys, or in the directory that
// CREEK_SYSFS names instead. docs/power/clocks.md describes what may be set where.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/core/units.hpp>

namespace creek::power {

/// CPUs of the workers, and granularity of the control.
struct linux_clocks_options {
  /// Number of workers that set wishes; 0: as many as `cpus`.
  unsigned workers = 0;
  /// Worker i stays on the i-th of `cpus` (modulo their number), as with scheduler_options::pin:
  /// workers whose CPUs share a clock form a domain. Otherwise a worker may be on any of them at
  /// any time, so that all of them form a single domain.
  bool pinned = false;
  /// CPUs in ascending order; empty: those that the process may use.
  std::vector<int> cpus = {};
  /// Number of clocks to offer between the lowest and the highest if the driver has no table of
  /// clocks: 2 to 64.
  unsigned steps = 8;
  /// Time that a worker must have computed at one clock before its CPU is asked for the actual
  /// clock. Kernels average over some milliseconds.
  std::chrono::nanoseconds settle = std::chrono::milliseconds(20);
};

/// Returns a control that uses the governor `userspace` if a driver has it, else both limits. It
/// changes nothing before the first wish; the changes are undone when the runtime of the wishing
/// workers ends, when the control is destroyed, at exit() and quick_exit(), and before a signal
/// ends the process: by the process that made them, not by its children. Only one control per
/// process, and one process, can act at a time; failed() of others reports it.
///
/// A worker without a wish does not count. wish() is a load if the wish repeats, a few atomic
/// operations if it changes nothing in its domain, and else one or two system calls per policy of
/// the domain, which another worker of the domain may make instead. At most every 100 ms it also
/// asks the CPU for the actual clock.
///
/// failed() reads files: not for hot paths. It reports the first refused write, else limits that
/// others have set, else an actual clock that missed a wish by more than 5 %.
///
/// Without permission or cpufreq, returns a control without clocks. Throws usage_error if an option
/// is out of range or CREEK_SYSFS does not name a directory.
[[nodiscard]] std::shared_ptr<clock_control> linux_clocks(const linux_clocks_options& options = {});

/// CPUs that share one cpufreq setting.
struct linux_clock_policy {
  std::vector<int> cpus = {};
  std::string driver = {};    ///< such as intel_pstate
  std::string governor = {};  ///< current one
  units::hertz lowest{};
  units::hertz highest{};
  std::size_t table = 0;     ///< number of clocks in the driver's table; 0: any in the range
  bool userspace = false;    ///< set by scaling_setspeed, else by limits
  std::string why_not = {};  ///< why this process cannot set it; empty if it can
};

/// Returns all policies; only reads. Empty if the machine has no cpufreq.
[[nodiscard]] std::vector<linux_clock_policy> linux_clock_policies();

}  // namespace creek::power
