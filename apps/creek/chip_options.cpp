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
  group->add_option("--chip", given.chip, "scc-533, scc-800, or a file that describes another")
      ->type_name("NAME|FILE")
      ->show_default();
  if (has.cores) {
    group->add_option("--cores", given.cores, "Cores that take part (default: all of the chip)")
        ->type_name("N")
        ->positive();
  }
  if (has.clock) {
    group
        ->add_option("--clock", given.clock,
                     "charged: computing takes the simulated time that is stated for it; measured: "
                     "that of the CPU time it takes here (creek scc calibrate)")
        ->among({"charged", "measured"})
        ->show_default();
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

void refuse_records(const chip_options& given, const char* command) {
  if (given.trace.empty() && given.heatmap.empty()) return;
  throw usage_error(
      fmt::format("{}: --trace and --heatmap show one run, this is a study of many", command));
}

bool coherence_faults_found() noexcept {
  return faults_found;
}
void note_coherence_faults() noexcept {
  faults_found = true;
}

}  // namespace creek::tool
