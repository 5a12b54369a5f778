// SPDX-License-Identifier: Apache-2.0
// Converts the options of a simulated chip to its description.
#include "chip_options.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/chip_file.hpp>
#include <creek/scc/spmd.hpp>

#include "clock_factor.hpp"

namespace creek::tool {
namespace {

void report(const std::vector<scc_backend::fault>& faults) {
  note_coherence_faults();
  std::cout.flush();
  scc_backend::print(std::cerr, faults);
}

/// Returns the chip. The name of a file has a suffix or a folder, that of a preset neither.
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

int participating_cores(const chip_options& given, const scc_backend::machine_options& on) {
  return given.cores > 0 ? given.cores : on.description.cores();
}

}  // namespace creek::tool
