// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-power`: compares the power model and changes of clocks with published figures.

#include "output/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/power_fit.hpp>
#include <creek/scc/spmd.hpp>

#include "command_line/command.hpp"
#include "json/json_value.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace scc_backend;

/// A published figure and the measurement of a simulated program.
struct latency {
  const char* what;
  const char* unit;
  const char* source;
  double paper;
  double simulated;
  [[nodiscard]] double error() const { return simulated / paper - 1; }
};

/// Runs `f` on core 0 of scc-533 alone.
template <class F>
void alone(F f) {
  run_cores({}, [&](memory& m) {
    if (m.self() == core_id{0}) f(m);
  });
}

/// Returns the cycles that a change of the divider adds to the one-way time of a write to the
/// tile's register; that time is half of the time between two writes.
double divider_change_cycles() {
  double cycles_spent = 0;
  alone([&](memory& m) {
    const auto in_cycles = [&](virtual_time span) {
      return double(span.femtoseconds) / double(dvfs_control(m).clock().length.femtoseconds);
    };
    const auto store = [&] { m.store(m.at(core_id{0}, 0).as<word>(), 1); };
    constexpr int writes = 64;
    store();
    virtual_time begin = m.now();
    for (int i = 0; i < writes; ++i) store();
    const double way = in_cycles(m.now() - begin) / writes / 2;
    m.charge(cycles{1000});
    begin = m.now();
    const auto before = dvfs_control(m).clock();
    dvfs_control(m).set_frequency_divider(4);
    cycles_spent =
        double((m.now() - begin).femtoseconds) / double(before.length.femtoseconds) - way;
  });
  return cycles_spent;
}

double voltage_change_ms() {
  double spent = 0;
  alone([&](memory& m) {
    const virtual_time begin = m.now();
    dvfs_control(m).wait_power(dvfs_control(m).request_power(2));
    spent = (m.now() - begin).in_seconds().value * 1e3;
  });
  return spent;
}

/// Returns the time if all islands ask at once; the chip serves one after the other.
double all_islands_ms() {
  const chip scc = chip::scc_533();
  std::vector<bool> asked(static_cast<std::size_t>(island_count(scc)));
  const run_report report = run_cores({}, [&](memory& m) {
    auto mine = asked.begin() + dvfs_control(m).power_domain();
    if (*mine) return;
    *mine = true;
    dvfs_control(m).wait_power(dvfs_control(m).request_power(2));
  });
  return report.length().in_seconds().value * 1e3;
}

std::vector<latency> measure_latencies() {
  return {{"divider change", "core cycles", "[M]", 20, divider_change_cycles()},
          {"voltage change, one island", "ms", "[M]", 1, voltage_change_ms()},
          {"voltage change, six islands at once", "ms", "[M]", 6, all_islands_ms()}};
}

double error_of(const power_point& p) {
  return chip_power_at(p, {}) / p.measured - 1;
}

bool is_fitted() {
  const power_model fitted = fit_power_model(), built_in;
  const auto same = [](double ratio) { return std::abs(ratio - 1) < 1e-5; };
  return same(built_in.tile_capacitance / fitted.tile_capacitance) &&
         same(built_in.tile_leakage / fitted.tile_leakage) &&
         same(built_in.router_cycle / fitted.router_cycle) && built_in.share == fitted.share;
}

void print(const std::vector<latency>& latencies) {
  fmt::print("Power of the chip, W\n{:<22}{:<8}{:>6}{:>10}{:>10}{:>9}{:>9}{:>9}\n", "", "source",
             "V", "core MHz", "mesh MHz", "paper", "model", "error");
  for (const power_point& p : published_power()) {
    fmt::print("{:<22}{:<8}{:>6.2f}{:>10.0f}{:>10.0f}{:>9.1f}{:>9.1f}{:>+8.1f}%\n", p.what,
               p.source, p.voltage.value, p.core.value / 1e6, p.mesh.value / 1e6, p.measured.value,
               chip_power_at(p, {}).value, 100 * error_of(p));
  }
  const power_model model;
  fmt::print(
      "\nConstants of a tile: {:.4f} nF switched, {:.4f} W/V^2 leakage, {:.4f} nJ a mesh cycle; "
      "{}\n\nLatency{:<29}{:<14}{:<8}{:>9}{:>11}{:>9}\n",
      model.tile_capacitance.value * 1e9, model.tile_leakage.value, model.router_cycle.value * 1e9,
      is_fitted() ? "as the fit gives them" : "NOT what the fit gives", "", "", "source", "paper",
      "simulated", "error");
  for (const latency& l : latencies) {
    fmt::print("{:<36}{:<14}{:<8}{:>9.1f}{:>11.3f}{:>+8.1f}%\n", l.what, l.unit, l.source, l.paper,
               l.simulated, 100 * l.error());
  }
}

void print_json(const std::vector<latency>& latencies) {
  json_value out{{"schema_version", 1}, {"command", "bench scc-power"}};
  for (const power_point& p : published_power()) {
    out["power"].push_back({{"what", p.what},
                            {"source", p.source},
                            {"volts", p.voltage.value},
                            {"core_mhz", p.core.value / 1e6},
                            {"mesh_mhz", p.mesh.value / 1e6},
                            {"paper_w", p.measured.value},
                            {"model_w", chip_power_at(p, {}).value},
                            {"error", error_of(p)}});
  }
  const power_model model;
  out["model"] = {{"tile_capacitance_f", model.tile_capacitance.value},
                  {"tile_leakage_w_per_v2", model.tile_leakage.value},
                  {"router_cycle_j", model.router_cycle.value},
                  {"halted_share", model.share[static_cast<std::size_t>(activity::halted)]},
                  {"is_the_fit", is_fitted()}};
  for (const latency& l : latencies) {
    out["latencies"].push_back({{"what", l.what},
                                {"unit", l.unit},
                                {"source", l.source},
                                {"paper", l.paper},
                                {"simulated", l.simulated},
                                {"error", l.error()}});
  }
  fmt::print("{}\n", with_energy(out).dump(2));
}

}  // namespace

void add_scc_power(command_line::command& bench, int& exit_code) {
  command_line::command* command = bench.add_subcommand(
      "scc-power",
      "Measure the simulated chip's power model and clock changes beside published figures");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a JSON object");
  command->footer(R"(Examples:
  creek bench scc-power
  creek bench scc-power --json)");
  command->callback([json, &exit_code] {
    const auto latencies = measure_latencies();
    *json ? print_json(latencies) : print(latencies);
    const bool near = std::all_of(latencies.begin(), latencies.end(),
                                  [](const latency& l) { return std::abs(l.error()) <= 0.03; });
    exit_code = near && is_fitted() ? 0 : 1;
  });
}

}  // namespace creek::tool
