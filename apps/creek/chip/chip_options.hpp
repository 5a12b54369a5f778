// SPDX-License-Identifier: Apache-2.0
// The options of every command that runs something on a simulated chip.
#pragma once

#include <cstdint>
#include <string>

namespace creek::command_line {
class command;
}
namespace creek::scc_backend {
struct machine_options;
}

namespace creek::tool {

struct chip_options {
  std::string chip = "scc-533";   ///< a preset, or a file that describes a chip
  int cores = 0;                  ///< cores that take part; 0: all of the chip
  std::string clock = "charged";  ///< "charged" or "measured"
  std::uint64_t seed = 0;         ///< 0: all cores begin in the same cycle
  bool check = false;             ///< checks every access to shared memory
  std::string trace;              ///< file to write, empty: none
  std::string heatmap;            ///< file to write, empty: none
};

/// Options that only some commands have.
struct optional_chip_options {
  bool cores = true;
  bool clock = false;
  bool traces_stages = false;  ///< --trace also shows the stages of a run without a chip
};

/// Adds the options to a command, as a group of its own. `given` outlives the parse.
void add_chip_options(command_line::command& command, chip_options& given,
                      optional_chip_options has = {});

/// Reads the description of the chip, and the calibration of --clock measured. Throws usage_error
/// if the calibration is missing, the chip unknown, its description invalid, or it has fewer cores
/// than asked for; nothing has been started then.
scc_backend::machine_options to_machine_options(const chip_options& given);

/// Throws usage_error if the records of one run were asked for: `command` makes many.
void refuse_records(const chip_options& given, const char* command);

/// Returns whether a run with --check has found a fault since this process began; it has been
/// printed on standard error then, and the exit code is 1.
bool coherence_faults_found() noexcept;
void note_coherence_faults() noexcept;

/// Returns the number of cores that take part: those asked for, or all.
int participating_cores(const chip_options& given, const scc_backend::machine_options& on);

}  // namespace creek::tool
