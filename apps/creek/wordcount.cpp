// SPDX-License-Identifier: Apache-2.0
// `creek wordcount`: counts how often every word of the given files occurs.
#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "options/output_parts.hpp"
#include "wordcount/count.hpp"
#include "wordcount/top_words.hpp"

namespace creek::tool {
namespace {

using mapreduce::text_files;

constexpr const char* wordcount_notes =
    R"(Words are maximal runs of bytes other than ASCII white space or, with --words unicode, of letters,
digits and marks, with apostrophes between letters; bytes that are not UTF-8 separate these.
{}

  creek wordcount --top 20 /usr/share/doc
  creek wordcount --words unicode --fold-case --normalize nfc book.txt
  creek wordcount --backend scc --cores 48 book.txt
  mpirun -n 4 creek wordcount --backend mpi --top 20 logs/
  creek wordcount --output counts.tsv --quiet book.txt
  creek wordcount --memory 2G --spill /var/tmp --output counts.tsv logs/
  zcat log.gz | creek wordcount --json -)";

void write_word(atomic_file& out, const word_record& word) {
  write_line(word, [&](std::string_view text) { out.write(text); });
}

}  // namespace

std::vector<word_record> first_words(std::span<const word_record> words, std::size_t top) {
  std::vector<word_record> best(std::min(top, words.size()));
  std::partial_sort_copy(
      words.begin(), words.end(), best.begin(), best.end(),
      [job = word_count{}](const auto& a, const auto& b) { return job.before(a, b); });
  return best;
}

void say(const wordcount_arguments& given, const wordcount_report& report) {
  say_skipped(given.job, report.run);
  if (given.job.as_json) {
    fmt::print("{}\n", to_json(report));
  } else if (!given.job.quiet) {
    print_text(stdout, report);
  } else if (!writes_words(given)) {
    for (const word_record& word : report.top) fmt::print("{}\t{}\n", word.key, word.value);
  }
}

std::size_t top_of(const wordcount_arguments& given) {
  return static_cast<std::size_t>(given.top);
}

word_count job_of(const wordcount_arguments& given) {
  return {.sorted = writes_words(given) ? mapreduce::word_order::by_word
                                        : mapreduce::word_order::by_count};
}

mapreduce::options options_of(const wordcount_arguments& given) {
  mapreduce::options chosen;
  // The totals are needed even if no word is printed; and 0 would keep all words.
  if (!writes_words(given)) chosen.top = std::max<std::size_t>(top_of(given), 1);
  if (given.no_combine) chosen.how = mapreduce::strategy::emit_and_group;
  return chosen;
}

void hand_out(const wordcount_arguments& given, wordcount_report& report, const counts& counted,
              std::optional<atomic_file>& out) {
  report.combined = !given.no_combine;
  const std::vector<word_record> top = first_words(counted.records, top_of(given));
  report.top = top;
  if (out) {
    for (const word_record& word : counted) write_word(*out, word);
    out->commit();
  }
  say(given, report);
}

namespace {

/// Writes the words while they are merged, since the output may exceed the limit too.
template <class Input>
void count_to_file(const wordcount_arguments& given, job_run& run, Input& from, text_files& files,
                   const mapreduce::memory_limit& limit, atomic_file& out) {
  top_words top(top_of(given));
  const auto write = [&](const word_record& word) {
    write_word(out, word);
    top.add(word);
  };
  const auto counted = run.to(job_of(given), from, options_of(given), limit, write);
  wordcount_report report;
  report.run = run.report(files);
  run.end();
  out.commit();
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  report.combined = !given.no_combine;
  const std::vector<word_record> best = top.sorted();
  report.top = best;
  say(given, report);
}

template <class Input>
void count(const wordcount_arguments& given, job_run& run, Input& from, text_files& files,
           const std::optional<mapreduce::memory_limit>& limit, std::optional<atomic_file>& out) {
  if (limit && out) return count_to_file(given, run, from, files, *limit, *out);
  const counts counted = limit ? run(job_of(given), from, options_of(given), *limit)
                               : run(job_of(given), from, options_of(given));
  wordcount_report report;
  report.run = run.report(files);
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  run.end();
  hand_out(given, report, counted, out);
}

void wordcount_on_workers(const wordcount_arguments& given) {
  const rewriter rewrite = rewriter_of(given.choice);
  const std::optional<mapreduce::memory_limit> limit = limit_of(given.spill);
  job_run run(given.job);
  if (!given.chip.trace.empty()) run.workers().trace_to(given.chip.trace);
  // Opened before the work, so that a name that cannot be written is reported at once.
  std::optional<atomic_file> out;
  if (!given.output.empty()) out.emplace(given.output);

  run.start();
  text_files files(input_names(given.job), {.skip_unreadable = given.job.skip_unreadable});
  if (!rewrite) return count(given, run, files, files, limit, out);
  rewritten_files words(files, rewrite);
  count(given, run, words, files, limit, out);
}

/// Returns the exit code.
int wordcount(const command_line::command& command, wordcount_arguments& given) {
  if (given.choice.words == word_kind::space) {
    refuse(command, {"--fold-case", "--normalize"}, "needs --words unicode");
  }
  refuse_output_parts(command, given.job);
  if (backend_name(given.job) == "scc") {
    refuse(command, {"--scheduler", "--idle", "--workers", "--memory", "--spill"},
           "not with --backend scc, where jobs run on --cores that send messages");
    wordcount_on_chip(given);
    return 0;
  }
  refuse(command, {"--chip", "--cores", "--clock", "--seed", "--check", "--heatmap"},
         "needs --backend scc");
  if (backend_name(given.job) == "mpi") {
    refuse(command, {"--trace"}, "not with --backend mpi");
    return wordcount_on_ranks(command, given);
  }
  wordcount_on_workers(given);
  return 0;
}

}  // namespace

void add_wordcount(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<wordcount_arguments>();
  command_line::command* command = app.add_subcommand("wordcount", "Count the words of files");
  command->footer(fmt::format(wordcount_notes, names_notes));
  add_job_options(*command, given->job, "Print only lines WORD TAB COUNT", {"mpi"});
  command->add_option("--top", given->top, "Number of words to print, the most frequent first")
      ->at_least(0)
      ->show_default();
  command->add_choice<word_kind>(
      "--words", given->choice.words,
      {{"space", word_kind::space}, {"unicode", word_kind::unicode}},
      "What separates words: white space (the default), or Unicode properties");
  command->add_flag("--fold-case", given->choice.options.fold_case,
                    "With --words unicode: count words that differ in case as one, folded");
  command->add_choice<text::normal_form>(
      "--normalize", given->choice.options.normalize,
      {{"nfc", text::normal_form::nfc}, {"nfkc", text::normal_form::nfkc}},
      "With --words unicode: count words that differ in the encoding of characters as one");
  command->add_flag("--no-combine", given->no_combine,
                    "Emit every word and group by sorting, instead of combining on emission");
  command->add_option("--output", given->output,
                      "Write lines WORD TAB COUNT to FILE, sorted by the bytes of the words");
  add_output_parts(*command, given->output_parts);
  add_spill_options(*command, given->spill);
  add_chip_options(*command, given->chip, {.clock = true});
  command->callback([given, command, &exit_code] { exit_code = wordcount(*command, *given); });
}

}  // namespace creek::tool
