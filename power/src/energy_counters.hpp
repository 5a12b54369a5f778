// SPDX-License-Identifier: Apache-2.0
// Counters of energy that a machine offers, of whatever kind: domains with names, and joules that
// only grow.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <creek/core/units.hpp>

namespace creek::power::detail {

struct energy_domain {
  std::string name;
  bool counted = true;  ///< see domain_figure::counted
};

enum class sampled_domains : bool { counted, all };

/// Open counters. Not for several threads at once.
class energy_counters {
 public:
  virtual ~energy_counters() = default;
  /// The same ones, in the same order, as long as it lives; at least one is counted.
  [[nodiscard]] virtual std::span<const energy_domain> domains() const noexcept = 0;
  /// Reads the counters into `joules`, a place for each domain; those not asked for keep what they
  /// had, and one that is not counted and has failed gets no_joules. Joules since some moment
  /// before the first sample. Returns what went wrong, in one line; empty: nothing.
  [[nodiscard]] virtual std::string sample(sampled_domains which,
                                           std::span<units::joules> joules) = 0;
};

/// Counters, or why there are none and how to get them.
struct opened_counters {
  std::unique_ptr<energy_counters> counters;
  std::string why_not;
};

/// Powercap zones of RAPL below SYSFS/class/powercap.
[[nodiscard]] opened_counters open_rapl(const std::string& sysfs);
/// The energy events of the kernel's perf; SYSFS/bus/event_source/devices/power describes them.
[[nodiscard]] opened_counters open_perf(const std::string& sysfs);
/// All GPUs that NVIDIA's management library shows.
[[nodiscard]] opened_counters open_nvml();

}  // namespace creek::power::detail
