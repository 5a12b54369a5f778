// SPDX-License-Identifier: Apache-2.0
// The clocks of a Linux machine, set through cpufreq's files in /sys, or in the folder that
// CREEK_SYSFS names in its place. docs/power/clocks.md says what may be set where.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/core/units.hpp>

namespace creek::power {

/// Where the workers run and how finely they are controlled.
struct linux_clocks_options {
  /// How many workers wish; 0: as many as there are `cpus`.
  unsigned workers = 0;
  /// Worker i stays on the i-th of `cpus`, counted around, as by scheduler_options::pin: workers
  /// whose CPUs share a clock are a domain. Otherwise a worker may be on any of them at any time,
  /// so that the only sound choice is one domain of them all.
  bool pinned = false;
  /// Ascending; empty: those that the process may use.
  std::vector<int> cpus = {};
  /// How many clocks to offer between the lowest and the highest where the driver has no table of
  /// them: 2 to 64.
  unsigned steps = 8;
  /// How long a worker must have computed at one clock before its CPU is asked what it really ran
  /// at. Kernels average over some milliseconds.
  std::chrono::nanoseconds settle = std::chrono::milliseconds(20);
};

/// Acts through the governor `userspace` where a driver has it, else through both limits. Nothing
/// is changed before the first wish; what is changed then is put back when the runtime ends whose
/// workers wished, when the control goes, at exit() and quick_exit(), and before a signal ends the
/// process: by the process that changed it, not by its children. One control of a process can act
/// at a time, and one process; another one's failed() says so.
///
/// A worker that has not wished yet does not count. wish() is a load if it repeats, a few atomic
/// operations if it changes nothing in its domain, and else one system call or two for each policy
/// of the domain, which another worker of the domain may make in its place. At most every 100 ms it
/// also asks the CPU what the last wish came to.
///
/// failed() reads files: not for hot paths. It tells the first write that was refused, else limits
/// that others have set, else a clock that was really run at if it missed a wish by more than 5 %.
///
/// Without permission or without cpufreq a control without clocks. Throws usage_error if an option
/// is out of its range or CREEK_SYSFS does not name a folder.
[[nodiscard]] std::shared_ptr<clock_control> linux_clocks(const linux_clocks_options& options = {});

/// CPUs that Linux gives one setting.
struct linux_clock_policy {
  std::vector<int> cpus = {};
  std::string driver = {};    ///< such as intel_pstate
  std::string governor = {};  ///< now
  units::hertz lowest{};
  units::hertz highest{};
  std::size_t table = 0;     ///< how many clocks the driver lists; 0: any in the range
  bool userspace = false;    ///< set by scaling_setspeed, else by limits
  std::string why_not = {};  ///< why this process cannot set it; empty: it can
};

/// Reads only. None: the machine has no cpufreq.
[[nodiscard]] std::vector<linux_clock_policy> linux_clock_policies();

}  // namespace creek::power
