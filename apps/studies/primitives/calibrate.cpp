// SPDX-License-Identifier: Apache-2.0
// `creek scc calibrate`: measures what a second of CPU time here stands for on a core of the chip.
#include <fmt/format.h>

#include <memory>

#include "chip/clock_factor.hpp"
#include "command_line/command.hpp"
#include "studies/studies.hpp"

namespace creek::tool {

namespace {

constexpr const char* calibrate_notes =
    R"(Times kernels whose work core/charge.hpp counts in cycles of a P54C
core, and stores the ratio in $XDG_CONFIG_HOME/creek/clock.json (or ~/.config) for
--clock measured. It measures CPU time; run it on an idle machine. The spread of
the kernels' ratios shows how accurate such a clock is.)";

}  // namespace

void add_scc_calibrate(command_line::command& scc) {
  auto* command = scc.add_subcommand("calibrate", "Measure the factor of --clock measured");
  const auto seconds = std::make_shared<double>(1.5);
  command->footer(calibrate_notes);
  command->add_option("--seconds", *seconds, "CPU time to spend")
      ->range(0.01, 600.0)
      ->show_default();
  command->callback([seconds] {
    const calibration found = calibrate(*seconds);
    save_calibration(found);
    fmt::print("{:<18} {:>30}\n", "kernel", "Mcycles of a chip core a host s");
    for (const calibrated_kernel& kernel : found.kernels) {
      fmt::print("{:<18} {:>30.0f}\n", kernel.name, kernel.cycles_a_second / 1e6);
    }
    fmt::print("{:<18} {:>30.0f}\n", "geometric mean", found.cycles_a_second / 1e6);
    fmt::print("kept in {}\n", calibration_file());
  });
}

}  // namespace creek::tool
