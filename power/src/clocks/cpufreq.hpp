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

/// A cpufreq policy. Clocks are in kHz, as in the files.
struct cpufreq_policy {
  std::string folder;
  std::vector<int> cpus;  ///< CPUs that the setting affects now
  std::string driver;     ///< such as intel_pstate, acpi-cpufreq; empty: unknown
  std::string governor;
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
  std::vector<std::uint64_t> clocks;  ///< clocks of a table, lowest first; empty: any in the range
  bool userspace = false;             ///< whether a program may set the clock itself
  std::string problem;                ///< unusable or missing file; empty: none

  /// Returns the policy's clock for a wish: the lowest that is not below it, or the highest.
  [[nodiscard]] std::uint64_t nearest(std::uint64_t wish) const noexcept;
  [[nodiscard]] std::string file(std::string_view name) const;
};

/// Returns all policies below `root`/devices/system/cpu, in the order of their first CPUs; empty
/// without cpufreq. `problem` describes what is wrong with a policy.
[[nodiscard]] std::vector<cpufreq_policy> read_cpufreq(const std::string& root);

/// Returns the CPUs whose cores run at one clock, whatever their policies: those of `policy`, and
/// those that the hardware coordinates with them or that are threads of their cores.
[[nodiscard]] std::vector<int> share_clock_with(const std::string& root,
                                                const cpufreq_policy& policy);

}  // namespace creek::power
