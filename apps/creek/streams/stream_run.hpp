// SPDX-License-Identifier: Apache-2.0
// Runs a stream for a command: options, workers or a simulated chip, and the facts of the run.
#pragma once

#include <chrono>
#include <creek/core/units.hpp>
#include <creek/stream/pipeline.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "chip/chip_options.hpp"
#include "json/json_value.hpp"

namespace creek::command_line {
class command;
}

namespace creek::tool {

struct stream_options {
  std::optional<unsigned> workers;
  std::string backend;
  bool as_json = false;
  bool quiet = false;
  bool report = false;  ///< who was active and who waited
  std::string dot;      ///< file for the same as a graph, or none
  chip_options chip;
};

/// Adds --workers, --backend, --json, --quiet, --report, --dot, --trace and the options of a
/// simulated chip. `given` outlives the parse.
void add_stream_options(command_line::command& command, stream_options& given,
                        const char* quiet_text);
/// Throws usage_error for options that have no effect with the chosen backend.
void check_stream_options(const command_line::command& command, const stream_options& given);
/// Throws usage_error if the output, named so in messages, is to share standard output with JSON or
/// to go to a terminal. For commands whose output goes to standard output.
void check_standard_output(const stream_options& given, const char* output);
[[nodiscard]] bool is_on_chip(const stream_options& given);

/// Returns how many items a parallel stage should work on at once: for each worker one, and one to
/// go on with, if the deque of a simulated core has room for these.
[[nodiscard]] std::size_t items_at_once(const stream_options& given, unsigned workers);

/// A run on a simulated chip.
struct simulated_stream {
  std::string chip;
  std::uint64_t seed = 0;
  bool is_measured = false;  ///< the clock, by --clock
  exact_time length;
  units::joules energy;  ///< of the whole chip
  units::watts active;   ///< drawn by a core that runs tasks
};

struct stream_facts {
  std::string backend;
  unsigned workers = 0;
  std::chrono::nanoseconds elapsed{};  ///< wall time of `work`
  std::optional<simulated_stream> simulated;
};

/// Called with the number of workers or simulated cores, and options for the pipeline: where it
/// reports, if that was asked for.
using stream_work = std::function<void(unsigned workers, pipeline_options options)>;

/// Calls `work` on a runtime and ends the runtime. From then on a pipe without a reader is a write
/// that fails: SIGPIPE is ignored. A failure of a stage of a pipeline is thrown as
/// it left the stage. Then prints the report to standard error and writes the files that were asked
/// for. Throws usage_error for impossible options.
[[nodiscard]] stream_facts run_stream(const stream_options& given, const stream_work& work);

/// Returns "0.5 s with 2 workers (host)", and time and energy of a simulated chip.
[[nodiscard]] std::string run_text(const stream_facts& facts);
/// Returns the members of the JSON that all commands with streams have.
[[nodiscard]] json_value run_json(const stream_facts& facts);

}  // namespace creek::tool
