// SPDX-License-Identifier: Apache-2.0
// Clock and voltage of a core (power.hpp), and requests to change them.
#pragma once

#include <creek/core/units.hpp>
#include <creek/scc/core_view.hpp>
#include <creek/scc/power.hpp>

namespace creek::scc_backend {

/// A tile has one clock and an island one voltage. No request makes a clock faster than the voltage
/// of its island allows.
class dvfs_control : public core_view {
 public:
  explicit dvfs_control(const core_view& core) noexcept : core_view(core) {}

  /// Returns the core's voltage island; its cores share a supply.
  [[nodiscard]] int power_domain() const noexcept;
  [[nodiscard]] clock_period clock() const;
  [[nodiscard]] units::volts voltage() const;
  /// Returns whether the divider's clock is safe at the island's voltage, now and after all
  /// requests under way. Throws usage_error if the chip has no such divider.
  [[nodiscard]] bool is_safe(int divider) const;
  /// Divides the clock of the core's tile anew; the core stops for the change, about 20 cycles. The
  /// tile's other cores go on at the new clock with their next operation. Throws usage_error if the
  /// divider is outside the chip's range, or if is_safe() does not hold when the change is due.
  void set_frequency_divider(int divider) const;
  /// Like set_frequency_divider(), for all tiles of the core's island.
  void set_island_divider(int divider) const;
  /// Reads a tile's clock register.
  [[nodiscard]] clock_period clock_of_tile(int tile) const;
  /// Begins to bring the island to the divider's clock at the lowest voltage that allows it, and
  /// returns at once. To a lower clock, all tiles of the island change now and the voltage follows;
  /// to a higher one, the voltage is raised first and the clocks change in wait_power(). The chip
  /// changes one voltage at a time, 1 ms each, in the order of requests. A later request of the
  /// same island replaces the frequency of this one. Throws usage_error, with nothing changed, if
  /// the divider is outside the range or no voltage allows its clock.
  [[nodiscard]] power_request request_power(int divider) const;
  /// Polls until the request's voltage is there, then changes the clocks if that is still to do.
  /// Throws usage_error unless called on a core of the request's island.
  void wait_power(const power_request& request) const;
};

}  // namespace creek::scc_backend
