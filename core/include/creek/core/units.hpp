// SPDX-License-Identifier: Apache-2.0
// Physical quantities as types: the compiler knows what may be added, and what a product or
// quotient is. Doubles in SI units, for power, energy and rates. Counts of cycles, and times that
// must not drift, are whole numbers: cycles and exact_time.
#pragma once

#include <compare>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

namespace units {

/// A quantity in units of s^Time J^Energy V^Voltage cycle^Cycle byte^Byte. Sums of equal
/// quantities, products and quotients of any; a quotient of equals is a plain number.
template <int Time, int Energy, int Voltage, int Cycle, int Byte>
struct quantity {
  double value = 0;

  constexpr quantity() = default;
  constexpr explicit quantity(double in_si_units) noexcept : value{in_si_units} {}

  friend constexpr quantity operator+(quantity a, quantity b) noexcept {
    return quantity{a.value + b.value};
  }
  friend constexpr quantity operator-(quantity a, quantity b) noexcept {
    return quantity{a.value - b.value};
  }
  friend constexpr quantity operator*(double factor, quantity a) noexcept {
    return quantity{factor * a.value};
  }
  friend constexpr quantity operator*(quantity a, double factor) noexcept { return factor * a; }
  friend constexpr quantity operator/(quantity a, double divisor) noexcept {
    return quantity{a.value / divisor};
  }
  constexpr quantity& operator+=(quantity b) noexcept { return *this = *this + b; }
  constexpr quantity& operator-=(quantity b) noexcept { return *this = *this - b; }
  friend constexpr auto operator<=>(quantity, quantity) = default;
};

template <int T, int E, int V, int C, int B, int T2, int E2, int V2, int C2, int B2>
constexpr auto operator*(quantity<T, E, V, C, B> a, quantity<T2, E2, V2, C2, B2> b) noexcept {
  if constexpr (T + T2 == 0 && E + E2 == 0 && V + V2 == 0 && C + C2 == 0 && B + B2 == 0) {
    return a.value * b.value;
  } else {
    return quantity<T + T2, E + E2, V + V2, C + C2, B + B2>{a.value * b.value};
  }
}
template <int T, int E, int V, int C, int B>
constexpr auto operator/(double number, quantity<T, E, V, C, B> a) noexcept {
  return quantity<-T, -E, -V, -C, -B>{number / a.value};
}
template <int T, int E, int V, int C, int B, int T2, int E2, int V2, int C2, int B2>
constexpr auto operator/(quantity<T, E, V, C, B> a, quantity<T2, E2, V2, C2, B2> b) noexcept {
  return a * (1.0 / b);
}

using seconds = quantity<1, 0, 0, 0, 0>;
using joules = quantity<0, 1, 0, 0, 0>;
using watts = quantity<-1, 1, 0, 0, 0>;
using volts = quantity<0, 0, 1, 0, 0>;
using hertz = quantity<-1, 0, 0, 1, 0>;  ///< cycles per second
using bytes = quantity<0, 0, 0, 0, 1>;
using bytes_per_second = quantity<-1, 0, 0, 0, 1>;

constexpr hertz megahertz(double number) noexcept {
  return hertz{number * 1e6};
}

}  // namespace units

/// A whole number of clock cycles; the context says of which clock. Protocols state in this unit
/// what their bookkeeping costs.
struct cycles {
  std::int64_t count = 0;

  friend constexpr cycles operator+(cycles a, cycles b) noexcept { return {a.count + b.count}; }
  friend constexpr cycles operator-(cycles a, cycles b) noexcept { return {a.count - b.count}; }
  friend constexpr cycles operator*(std::int64_t factor, cycles a) noexcept {
    return {factor * a.count};
  }
  friend constexpr auto operator<=>(cycles, cycles) = default;
};

/// A point or a span of time in whole femtoseconds, so that sums are exact: the periods of all
/// clocks that are divided out of one reference are multiples of it. Range: 2.5 hours.
struct exact_time {
  std::int64_t femtoseconds = 0;

  friend constexpr exact_time operator+(exact_time a, exact_time b) noexcept {
    return {a.femtoseconds + b.femtoseconds};
  }
  friend constexpr exact_time operator-(exact_time a, exact_time b) noexcept {
    return {a.femtoseconds - b.femtoseconds};
  }
  friend constexpr exact_time operator*(std::int64_t factor, exact_time a) noexcept {
    return {factor * a.femtoseconds};
  }
  /// Returns how often `b` fits into `a`.
  friend constexpr std::int64_t operator/(exact_time a, exact_time b) noexcept {
    return a.femtoseconds / b.femtoseconds;
  }
  constexpr exact_time& operator+=(exact_time b) noexcept { return *this = *this + b; }
  friend constexpr auto operator<=>(exact_time, exact_time) = default;

  [[nodiscard]] constexpr units::seconds in_seconds() const noexcept {
    return units::seconds{static_cast<double>(femtoseconds) * 1e-15};
  }
};

constexpr exact_time nearest_exact_time(units::seconds span) noexcept {
  const double femtoseconds = span.value * 1e15;
  return {static_cast<std::int64_t>(femtoseconds + (femtoseconds < 0 ? -0.5 : 0.5))};
}

/// A clock as time sees it: how long one of its cycles takes.
struct clock_period {
  exact_time length;

  friend constexpr exact_time operator*(cycles count, clock_period clock) noexcept {
    return count.count * clock.length;
  }
  [[nodiscard]] constexpr units::hertz frequency() const noexcept {
    return units::hertz{1e15 / static_cast<double>(length.femtoseconds)};
  }
  friend constexpr auto operator<=>(clock_period, clock_period) = default;
};

/// Returns the period of one cycle, rounded to a femtosecond.
constexpr clock_period period_of(units::hertz frequency) noexcept {
  return {nearest_exact_time(units::seconds{1.0 / frequency.value})};
}

}  // namespace creek
