// SPDX-License-Identifier: Apache-2.0
// Least squares with constants that may not be negative. There are four, so all choices of the
// nonzero ones are tried, each by its normal equations.
#include <creek/scc/power_fit.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

namespace {

constexpr std::size_t unknowns = 4;
using vector = std::array<double, unknowns>;
using matrix = std::array<vector, unknowns>;

/// Solves for the unknowns of `chosen` by Gauss-Jordan; others are zero. Nothing if singular.
std::optional<vector> solve(matrix a, vector y, unsigned chosen) {
  const auto in = [=](std::size_t i) { return (chosen >> i & 1U) != 0; };
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (!in(i)) continue;
    if (std::abs(a[i][i]) < 1e-12) return {};
    for (std::size_t k = 0; k < unknowns; ++k) {
      if (k == i || !in(k)) continue;
      const double factor = a[k][i] / a[i][i];
      for (std::size_t j = 0; j < unknowns; ++j) a[k][j] -= factor * a[i][j];
      y[k] -= factor * y[i];
    }
  }
  vector x{};
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (in(i)) x[i] = y[i] / a[i][i];
  }
  return x;
}

/// Returns the power that one unit of each constant adds to a point, relative to the measured one.
/// The second is the switching that a halted core keeps: of running cores it is part of the first.
vector shares(const power_point& p, int tiles) {
  const double switching = p.voltage.value * p.voltage.value * p.core.value * tiles;
  const bool halted = p.doing == activity::halted;
  return {(halted ? 0 : switching) / p.measured.value * 1e-9, switching / p.measured.value * 1e-9,
          p.voltage.value * p.voltage.value * tiles / p.measured.value,
          p.mesh.value * tiles / p.measured.value * 1e-9};
}

}  // namespace

const std::array<power_point, 4>& published_power() {
  using units::megahertz, units::volts, units::watts;
  static const std::array<power_point, 4> points{{
      {"all cores run", "[H]", volts{0.7}, megahertz(125), megahertz(250), activity::busy,
       watts{25}},
      {"all cores run", "[H]", volts{1.14}, megahertz(1000), megahertz(2000), activity::busy,
       watts{125}},
      {"all cores busy-wait", "[R12]", volts{1.1}, megahertz(800), megahertz(1600),
       activity::waiting, watts{120}},
      {"all cores halted", "[R12]", volts{1.1}, megahertz(800), megahertz(1600), activity::halted,
       watts{60}},
  }};
  return points;
}

units::watts chip_power_at(const power_point& at, const power_model& model) {
  chip all = chip::scc_800();
  all.power.model = model;
  all.clocks.mesh = period_of(at.mesh);
  return all.cores() * 1.0 *
             (switching_power(all, at.doing, at.voltage, period_of(at.core)) +
              leakage_power(all, at.voltage)) +
         uncore_power(all);
}

power_model fit_power_model() {
  const chip scc = chip::scc_800();
  matrix normal{};
  vector right{};
  std::vector<vector> rows;
  for (const power_point& p : published_power()) {
    const vector row = rows.emplace_back(shares(p, scc.columns * scc.rows));
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) normal[i][j] += row[i] * row[j];
      right[i] += row[i];
    }
  }
  vector best{};
  double least = INFINITY;
  for (unsigned chosen = 1; chosen < 1U << unknowns; ++chosen) {
    const auto x = solve(normal, right, chosen);
    if (!x || *std::min_element(x->begin(), x->end()) < 0) continue;
    double squares = 0;
    for (const vector& row : rows) {
      double error = -1;
      for (std::size_t i = 0; i < unknowns; ++i) error += row[i] * (*x)[i];
      squares += error * error;
    }
    if (squares < least) least = squares, best = *x;
  }
  power_model model;
  const double capacitance = best[0] + best[1];  // nF
  model.tile_capacitance = switched_capacitance{capacitance * 1e-9};
  model.tile_leakage = leakage_conductance{best[2]};
  model.router_cycle = energy_per_cycle{best[3] * 1e-9};
  const double halted = best[1] / capacitance;
  model.share = {1, 1, halted, halted};
  return model;
}

}  // namespace creek::scc_backend
