// SPDX-License-Identifier: Apache-2.0
// Where the figures of a meter come from: one class for each kind of source, chosen once.
#pragma once

#include <memory>
#include <string>

#include <creek/power/meter.hpp>

#include "energy_counters.hpp"

namespace creek::power::detail {

/// For one span at a time.
class figure_source {
 public:
  virtual ~figure_source() = default;
  /// Begins a span.
  virtual void begin() = 0;
  /// Fills in `into.energy`, for sampled_domains::all `into.domains`, and `into.wall` where it is
  /// not that of this machine. `into` has wall and CPU time of this machine already.
  virtual void read(sampled_domains which, meter_reading& into) = 0;
  /// Whether a figure depends on CPU time, a system call that the figure alone can do without.
  [[nodiscard]] virtual bool needs_cpu_time() const noexcept { return false; }
};

/// Creates the source that the options name. Throws usage_error for an invalid model.
[[nodiscard]] std::unique_ptr<figure_source> make_figure_source(const meter_options& options);

/// Sources that meter_source::automatic tries, in order.
inline constexpr meter_source asked_in_order[] = {meter_source::rapl, meter_source::perf};

/// Opens the counters of rapl, perf or nvml.
[[nodiscard]] opened_counters open_counters(meter_source source, const std::string& sysfs);

}  // namespace creek::power::detail
