// SPDX-License-Identifier: Apache-2.0
#include "energy.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <creek/power/meter.hpp>

#include "command_line/command.hpp"
#include "command_line/process.hpp"

namespace creek::tool {
namespace {

using json = json_value;

double seconds_of(const timeval& span) {
  return static_cast<double>(span.tv_sec) + 1e-6 * static_cast<double>(span.tv_usec);
}

double cpu_seconds(int of_whom) {
  rusage used{};
  getrusage(of_whom, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

/// Adds the children's CPU time, since benches run their peers as processes.
class with_children final : public power::activity_source {
 public:
  [[nodiscard]] power::core_activity activity() const override {
    power::core_activity made;
    made.computing = units::seconds{cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN)};
    return made;
  }
};

/// Meters a command from the parsing of its line to each read().
class command_meter {
 public:
  explicit command_meter(const command_line::command& command)
      : command_(command), meter_(options(activity_)), children_(cpu_seconds(RUSAGE_CHILDREN)) {}

  [[nodiscard]] const command_line::command& command() const noexcept { return command_; }
  [[nodiscard]] power::meter_reading read() {
    power::meter_reading made = meter_.read();
    made.cpu += units::seconds{cpu_seconds(RUSAGE_CHILDREN) - children_};
    return made;
  }

 private:
  static power::meter_options options(const with_children& activity) {
    power::meter_options made = power::meter_options::from_environment();
    made.activity = &activity;
    made.sample_every = std::chrono::seconds(10);  // no counter wraps in that time
    return made;
  }

  const command_line::command& command_;
  with_children activity_;
  power::meter meter_;
  double children_;
};

std::optional<command_meter>& running() {
  static std::optional<command_meter> meter;
  return meter;
}

json number_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json energy_json(const power::meter_reading& reading) {
  const power::energy_figure& figure = reading.energy;
  json domains = json::array();
  for (const power::domain_figure& each : reading.domains) {
    domains.push_back(
        {{"name", each.name}, {"joules", each.energy.value}, {"counted", each.counted}});
  }
  return {{"origin", to_string(figure.origin)},
          {"source", figure.source.empty() ? json(nullptr) : json(figure.source)},
          {"joules", number_or_null(figure.energy.value)},
          {"mean_watts", number_or_null(reading.mean_power().value)},
          {"seconds", reading.wall.value},
          {"cpu_seconds", reading.cpu.value},
          {"domains", domains},
          {"reason", figure.reason.empty() ? json(nullptr) : json(figure.reason)}};
}

std::string energy_text(const power::meter_reading& reading) {
  const power::energy_figure& figure = reading.energy;
  if (!figure.available()) {
    return fmt::format("energy: unavailable: {}; {:.4g} CPU seconds", figure.reason,
                       reading.cpu.value);
  }
  const bool simulated = figure.origin == energy_origin::by_backend;
  return fmt::format("energy: {:.4g} J {}{}, mean {:.4g} W in {:.4g} {}, {:.4g} CPU seconds{}",
                     figure.energy.value, to_string(figure.origin),
                     simulated ? "" : " (" + figure.source + ")", reading.mean_power().value,
                     reading.wall.value, simulated ? "virtual seconds" : "s", reading.cpu.value,
                     simulated ? " here" : "");
}

/// Returns whether the command prints JSON; a flag does, an option names a file for it.
bool prints_json(const command_line::command& command) {
  const command_line::option* const json_option = command.find("--json");
  return json_option != nullptr && json_option->count() > 0 && json_option->is_flag();
}

bool only_looks(const command_line::command& command) {
  constexpr std::array<const char*, 2> names{"generate", "info"};
  return std::find(names.begin(), names.end(), command.name()) != names.end();
}

}  // namespace

void add_energy_option(command_line::command& app) {
  for (const auto& command : app.subcommands()) {
    // A group runs nothing itself, so only the commands at the leaves get the flag.
    if (!command->subcommands().empty()) {
      add_energy_option(*command);
      continue;
    }
    if (only_looks(*command)) continue;
    command->add_flag(
        "--energy", [each = command.get()] { running().emplace(*each); },
        "Report what the command used: joules, their source, CPU seconds");
  }
}

json with_energy(json whole) {
  if (running()) whole["command_energy"] = energy_json(running()->read());
  return whole;
}

void print_energy() {
  if (!running() || prints_json(running()->command())) return;
  const bool only_results = running()->command().count("--quiet") > 0;
  const std::string text = energy_text(running()->read());
  if (only_results) {
    command_line::print_error(text);
  } else {
    fmt::print("{}\n", text);
  }
}

}  // namespace creek::tool
