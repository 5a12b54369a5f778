// SPDX-License-Identifier: Apache-2.0
// The parts of `creek wordcount`: the count by workers (wordcount.cpp), on a simulated chip
// (on_chip.cpp) and on the ranks of an MPI run (on_ranks.cpp).
#pragma once

#include <fmt/format.h>

#include <creek/core/io/atomic_file.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/run.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chip/chip_options.hpp"
#include "jobs/job_options.hpp"
#include "options/spill_options.hpp"
#include "report.hpp"
#include "word_input.hpp"

namespace creek::tool {

using mapreduce::word_count;
using counts = mapreduce::result<word_count>;

struct wordcount_arguments {
  job_options job;
  long long top = 10;
  bool no_combine = false;
  word_choice choice;
  std::string output;
  std::string output_parts;
  spill_options spill;
  chip_options chip;  // other backends use its cores and its trace too
};

/// Returns whether all words are written, sorted by their bytes.
[[nodiscard]] inline bool writes_words(const wordcount_arguments& given) {
  return !given.output.empty() || !given.output_parts.empty();
}
/// Returns the number of words to print.
[[nodiscard]] std::size_t top_of(const wordcount_arguments& given);
[[nodiscard]] word_count job_of(const wordcount_arguments& given);
[[nodiscard]] mapreduce::options options_of(const wordcount_arguments& given);

/// Returns the most frequent words of some in any order.
[[nodiscard]] std::vector<word_record> first_words(std::span<const word_record> words,
                                                   std::size_t top);

/// Calls `sink(text)` for the pieces of the line of a word.
template <class Sink>
void write_line(const word_record& word, Sink&& sink) {
  sink(word.key);
  sink("\t");
  const fmt::format_int count(word.value);
  sink(std::string_view(count.data(), count.size()));
  sink("\n");
}

/// Prints the report as the options say.
void say(const wordcount_arguments& given, const wordcount_report& report);

/// Writes all words to `out`, if it is set, adds the most frequent words to the report, and prints
/// it.
void hand_out(const wordcount_arguments& given, wordcount_report& report, const counts& counted,
              std::optional<atomic_file>& out);

/// Runs the same job on a simulated chip, whose cores share no memory and send each other messages.
/// Throws usage_error in a tool that is built without the simulator.
void wordcount_on_chip(const wordcount_arguments& given);

/// Runs the same job on the ranks of an MPI run, each with workers; rank 0 hands out the results.
/// Returns the exit code; a failure was reported.
[[nodiscard]] int wordcount_on_ranks(const command_line::command& command,
                                     const wordcount_arguments& given);

}  // namespace creek::tool
