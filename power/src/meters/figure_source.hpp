// SPDX-License-Identifier: Apache-2.0
// Sources of a meter's figures: one class per kind of source, chosen once.
#pragma once

#include <memory>
#include <string>

#include <creek/power/meter.hpp>

#include "energy_counters.hpp"

namespace creek::power::detail {

/// Source of figures; measures one span at a time.
class figure_source {
 public:
  virtual ~figure_source() = default;
  /// Begins a span.
  virtual void begin() = 0;
  /// Fills in `into.energy`, `into.domains` for sampled_domains::all, and a wall time other than
  /// this machine's. `into` already has wall and CPU time of this machine.
  virtual void read(sampled_domains which, meter_reading& into) = 0;
  /// Returns whether a figure needs CPU time; if not, the caller can save the system call.
  [[nodiscard]] virtual bool needs_cpu_time() const noexcept { return false; }
};

/// Creates the source that the options name. Throws usage_error for an invalid model.
[[nodiscard]] std::unique_ptr<figure_source> make_figure_source(const meter_options& options);

/// Sources that meter_source::automatic tries, in order.
inline constexpr meter_source asked_in_order[] = {meter_source::rapl, meter_source::perf};

/// Opens the counters of rapl, perf or nvml.
[[nodiscard]] opened_counters open_counters(meter_source source, const std::string& sysfs);

}  // namespace creek::power::detail
