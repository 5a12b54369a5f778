// SPDX-License-Identifier: Apache-2.0
// Reader of a machine's cpufreq on Linux: its policies (groups of CPUs with one
// setting), their drivers and their clocks. Reads only. Source: [Linux
// cpufreq].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace creek::power {

/// Clocks are in kHz here, as in the files.
struct cpufreq_policy {
  std::string folder;
  std::vector<int> cpus;  ///< that the setting acts on now
  std::string driver;     ///< such as intel_pstate, acpi-cpufreq; empty: not told
  std::string governor;
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::vector<std::uint64_t> clocks;  ///< those of a table, lowest first; empty: any in the range
  bool userspace = false;             ///< a program may set the clock itself
  std::string problem;                ///< a file that is wrong or missing; empty: none

  [[nodiscard]] std::string file(std::string_view name) const;
};

/// All policies below `root`/devices/system/cpu, in the order of their first CPUs; none: there is
/// no cpufreq. What is wrong with one is told in `problem`.
[[nodiscard]] std::vector<cpufreq_policy> read_cpufreq(const std::string& root);

/// CPUs whose cores run at one clock, whatever their policies are set to: those of `policy` and
/// those that the hardware coordinates with them or that are threads of their cores.
[[nodiscard]] std::vector<int> share_clock_with(const std::string& root,
                                                const cpufreq_policy& policy);

}  // namespace creek::power
