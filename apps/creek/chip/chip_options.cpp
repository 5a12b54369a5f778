// SPDX-License-Identifier: Apache-2.0
#include "chip_options.hpp"

#include <fmt/format.h>

#include <creek/core/error.hpp>

#include "command_line/command.hpp"

namespace creek::tool {

namespace {

bool faults_found = false;

}  // namespace

void add_chip_options(command_line::command& command, chip_options& given,
                      optional_chip_options has) {
  command_line::option_group* group = command.add_option_group("Simulated chip");
  group
      ->add_option("--chip", given.chip,
                   "The chip: scc-533, scc-800, or a file that describes another one")
      ->type_name("NAME|FILE")
      ->show_default();
  if (has.cores) {
    group->add_option("--cores", given.cores, "Number of cores to use (default: all of the chip)")
        ->type_name("N")
        ->positive();
  }
  if (has.clock) {
    group
        ->add_option("--clock", given.clock,
                     "charged: computation takes the simulated time that the code states; "
                     "measured: its CPU time on this machine, scaled (creek scc calibrate)")
        ->among({"charged", "measured"})
        ->show_default();
  }
  group
      ->add_option("--seed", given.seed,
                   "Start the cores at random times drawn from seed N instead of at the same time")
      ->type_name("N");
  group
      ->add_option("--trace", given.trace,
                   has.traces_stages
                       ? "Write a trace to FILE, for Perfetto: of all cores in virtual time, or, "
                         "without a chip, of all stages"
                       : "Write a trace of all cores in virtual time to FILE, for Perfetto")
      ->type_name("FILE");
  group
      ->add_option("--heatmap", given.heatmap,
                   "Draw the mesh with its load, traffic and power to FILE (SVG)")
      ->type_name("FILE");
  group->add_flag("--check", given.check, "Report wrong uses of non-coherent memory");
}

void refuse_records(const chip_options& given, const char* command) {
  if (given.trace.empty() && given.heatmap.empty()) return;
  throw usage_error(fmt::format(
      "{}: --trace and --heatmap show a single run, but this command makes many", command));
}

bool coherence_faults_found() noexcept {
  return faults_found;
}
void note_coherence_faults() noexcept {
  faults_found = true;
}

}  // namespace creek::tool
