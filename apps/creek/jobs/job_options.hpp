// SPDX-License-Identifier: Apache-2.0
// The options of every command that runs a MapReduce job over files.
#pragma once

#include <creek/mapreduce/options.hpp>
#include <creek/tasking/options.hpp>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "output/progress_bar.hpp"

namespace creek::command_line {
class command;
}

namespace creek::tool {

struct job_options {
  std::vector<std::string> names;
  std::optional<unsigned> workers;
  std::string backend;
  std::string scheduler;
  std::string idle;
  bool skip_unreadable = false;
  bool as_json = false;
  bool quiet = false;
};

/// Adds FILE|DIR..., the last of the arguments by position, and the options. `given` outlives the
/// parse. `quiet_text` says what --quiet still prints.
/// `also`: backends besides those of a runtime.
void add_job_options(command_line::command& command, job_options& given, const char* quiet_text,
                     const std::vector<std::string>& also = {});

/// Help text on the names of files.
inline constexpr const char* names_notes =
    R"(A directory stands for the regular files below it; links and special files in it are skipped.
Files in gzip, zstd, xz, bzip2 or lz4 are decompressed. '-' or no name at all is standard input.
The environment sets options that are not given (CREEK_WORKERS and others). Exit codes: 0 success,
1 failed run, 2 bad usage.)";

/// Returns the scheduler options of the command line and the environment. Throws usage_error.
[[nodiscard]] scheduler_options scheduling(const job_options& given);
[[nodiscard]] std::string backend_name(const job_options& given);

/// Returns the names given, or that of standard input.
[[nodiscard]] std::vector<std::string> input_names(const job_options& given);

/// Starts a progress bar if somebody can see it.
void watch(std::optional<progress_bar>& bar, bool is_quiet, const mapreduce::progress& done,
           std::size_t splits);

/// Throws usage_error if one of the options was given: an option that has no effect with the chosen
/// backend or format must not look as if it had one.
void refuse(const command_line::command& command, std::initializer_list<const char*> options,
            const char* why);

}  // namespace creek::tool
