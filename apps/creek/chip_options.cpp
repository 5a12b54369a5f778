// SPDX-License-Identifier: Apache-2.0
#include "chip_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/chip_file.hpp>

#include "clock_factor.hpp"

namespace creek::tool {

namespace {

bool faults_found = false;

void report(const std::vector<scc_backend::fault>& faults) {
  faults_found = true;
  std::cout.flush();
  scc_backend::print(std::cerr, faults);
}

}  // namespace

void add_chip_options(CLI::App& command, chip_options& given, optional_chip_options has) {
  CLI::Option_group* group = command.add_option_group("Simulated chip");
  group->add_option("--chip", given.chip, "scc-533, scc-800, or a file that describes another")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  if (has.cores) {
    group->add_option("--cores", given.cores, "Cores that take part (default: all of the chip)")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
  }
  if (has.clock) {
    group
        ->add_option("--clock", given.clock,
                     "charged: computing takes the simulated time that is stated for it; measured: "
                     "that of the CPU time it takes here (creek scc calibrate)")
        ->check(CLI::IsMember({"charged", "measured"}))
        ->capture_default_str();
  }
  group->add_option("--seed", given.seed, "Let the cores begin at times drawn from N, not at once")
      ->type_name("N");
  group
      ->add_option("--trace", given.trace,
                   "Write what every core does in virtual time, for Perfetto")
      ->type_name("FILE");
  group
      ->add_option("--heatmap", given.heatmap,
                   "Draw the mesh with its load, traffic and power (SVG)")
      ->type_name("FILE");
  group->add_flag("--check", given.check, "Report wrong uses of memory that is not coherent");
}

namespace {

/// A file has a suffix or a folder, a preset has neither.
scc_backend::chip chip_named(const std::string& name) {
  return name.find_first_of("./") == std::string::npos ? scc_backend::chip::named(name)
                                                       : scc_backend::read_chip(name);
}

}  // namespace

scc_backend::machine_options to_machine_options(const chip_options& given) {
  scc_backend::machine_options made;
  made.description = chip_named(given.chip);
  made.seed = given.seed;
  if (given.clock == "measured") made.cycles_a_host_second = saved_calibration();
  made.check = given.check;
  if (given.check) made.on_faults = report;
  made.trace_file = given.trace;
  made.heatmap_file = given.heatmap;
  const int there = made.description.cores();
  if (given.cores > there) {
    throw usage_error(fmt::format("chip '{}' has {} {}, not {}", made.description.name, there,
                                  there == 1 ? "core" : "cores", given.cores));
  }
  return made;
}

void refuse_records(const chip_options& given, const char* command) {
  if (given.trace.empty() && given.heatmap.empty()) return;
  throw usage_error(
      fmt::format("{}: --trace and --heatmap show one run, this is a study of many", command));
}

bool coherence_faults_found() noexcept {
  return faults_found;
}

int participating_cores(const chip_options& given, const scc_backend::machine_options& on) {
  return given.cores > 0 ? given.cores : on.description.cores();
}

}  // namespace creek::tool
