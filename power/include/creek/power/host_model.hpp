// SPDX-License-Identifier: Apache-2.0
// Model of the draw of an ordinary machine's core: computing, polling or asleep, by its clock. For
// machines whose counters cannot be read, and for policies that plan. A model's joules are not
// measured: output must label them `modelled`.
#pragma once

#include <creek/core/units.hpp>

namespace creek::power {

/// Activity of a machine's cores in a span of time.
struct core_activity {
  units::seconds wall;       ///< length of the span
  units::seconds computing;  ///< sum over all cores
  units::seconds polling;    ///< searching for work
  unsigned cores = 1;        ///< charged cores; they sleep whenever they neither compute nor poll
  units::hertz clock;        ///< of computing or polling cores; 0 Hz: nominal
};

/// Draws of one core and of the parts that all cores share. A core that is awake draws leakage and
/// switching power; switching is proportional to the clock and to the square of the voltage, and
/// the voltage falls linearly with the clock to `lowest_voltage` of the nominal one at 0 Hz:
///
///     switching(f) = share * (f / nominal) * (v(f) / v(nominal))^2
///
/// The defaults are estimates for no machine in particular: a server core of about 2020, 10 to 16
/// nm, in a package of 16 such cores and 120 W. Basis of each estimate:
///  - `computing`: a package's rated power, less what it draws idle, over its cores, as vectorised
///    products of matrices reach it;
///  - `polling` 0.6 of it: a loop of loads and pauses keeps the vector units still, while the rest
///    of the core works;
///  - `asleep`: core C6 is power-gated; what remains is its share of caches and wake-ups;
///  - `shared`: last-level cache, memory controllers and links, awake while any core is;
///  - half of the voltage at a clock of 0: V from 0.65 to 1.1 over 1 to 3.5 GHz, extrapolated.
/// Set them for your machine if figures are compared with figures from elsewhere.
struct host_model {
  units::hertz nominal{2.5e9};  ///< clock at which the draws below hold
  units::watts computing{6.0};  ///< one core at the nominal clock
  units::watts polling{3.6};    ///< one core at the nominal clock
  units::watts asleep{0.1};     ///< one core in a deep sleep, at any clock
  units::watts shared{20.0};    ///< parts shared by all cores, all the time
  double leakage = 0.25;        ///< share of computing and polling that is independent of the clock
  double lowest_voltage = 0.5;  ///< share of the nominal voltage at a clock of 0

  /// Throws usage_error naming the field: a draw that is negative or not a number, a clock of 0, a
  /// share outside 0 to 1.
  void validate() const;

  /// Returns the draw of one core that computes at `clock`; 0 Hz: the nominal clock.
  [[nodiscard]] units::watts core_computing(units::hertz clock) const noexcept;
  [[nodiscard]] units::watts core_polling(units::hertz clock) const noexcept;

  /// Returns the energy of the cores and of the shared parts.
  [[nodiscard]] units::joules energy(const core_activity& what) const noexcept;
};

}  // namespace creek::power
