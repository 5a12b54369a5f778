// SPDX-License-Identifier: Apache-2.0
// Energy counters of a machine, of any kind: named domains with joules that only
// grow.
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

/// Open counters; used by one thread at a time.
class energy_counters {
 public:
  virtual ~energy_counters() = default;
  /// Returns the domains, always the same ones in the same order; at least one is counted.
  [[nodiscard]] virtual std::span<const energy_domain> domains() const noexcept = 0;
  /// Reads the counters into `joules`, one element per domain, counted from some moment before the
  /// first sample. Domains not requested keep their value; a failed one that is not counted gets
  /// no_joules. Returns what went wrong, in one line, or an empty string.
  [[nodiscard]] virtual std::string sample(sampled_domains which,
                                           std::span<units::joules> joules) = 0;
};

/// Counters, or the reason why there are none and how to get them.
struct opened_counters {
  std::unique_ptr<energy_counters> counters;
  std::string why_not;
};

/// Opens the powercap zones of RAPL below SYSFS/class/powercap.
[[nodiscard]] opened_counters open_rapl(const std::string& sysfs);
/// Opens the kernel's perf energy events, described in SYSFS/bus/event_source/devices/power.
[[nodiscard]] opened_counters open_perf(const std::string& sysfs);
/// Opens all GPUs that NVIDIA's management library shows.
[[nodiscard]] opened_counters open_nvml();

}  // namespace creek::power::detail
