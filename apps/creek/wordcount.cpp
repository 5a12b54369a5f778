// SPDX-License-Identifier: Apache-2.0
// `creek wordcount`: how often every word of the given files occurs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <creek/core/atomic_file.hpp>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chip_mapreduce.hpp"
#include "chip_options.hpp"
#include "commands.hpp"
#include "runtime_choice.hpp"
#include "wordcount/progress_bar.hpp"
#include "wordcount/report.hpp"
#include "wordcount/whole_text.hpp"

namespace creek::tool {
namespace {

using mapreduce::text_files;
using mapreduce::word_count;
using counts = mapreduce::result<word_count>;

struct wordcount_arguments {
  std::vector<std::string> names;
  std::optional<long long> workers;
  std::string backend;
  std::string scheduler;
  std::string idle;
  long long top = 10;
  bool no_combine = false;
  bool skip_unreadable = false;
  bool as_json = false;
  bool quiet = false;
  std::string output;
  chip_options chip;  // its cores and its trace are meant for other backends too
};

constexpr const char* wordcount_notes =
    R"(Words are maximal runs of bytes other than ASCII white space.
Directories stand for the regular files below them; links and special files found there are left
out. Gzip files are decompressed. '-' or no name at all is standard input. Options not given are as
the environment says (CREEK_WORKERS and others).

  creek wordcount --top 20 /usr/share/doc
  creek wordcount --backend scc --cores 48 book.txt
  creek wordcount --output counts.tsv --quiet book.txt
  zcat log.gz | creek wordcount --json -)";

scheduler_options scheduling(const wordcount_arguments& given) {
  scheduler_options chosen = scheduler_options::from_environment();
  if (given.workers) chosen.workers = checked_workers(*given.workers);
  if (!given.scheduler.empty()) chosen.scheduler = parse_scheduler(given.scheduler);
  if (!given.idle.empty()) chosen.idle = parse_idle(given.idle);
  return chosen;
}

std::string backend_name(const wordcount_arguments& given) {
  return given.backend.empty() ? backend_of_environment() : given.backend;
}

/// Most memory that was ever resident, from the kernel (VmHWM counts pages of mapped files too).
std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

/// The number of words to print.
std::size_t top_of(const wordcount_arguments& given) {
  if (given.top < 0) throw usage_error(fmt::format("--top {}: must be 0 or more", given.top));
  return static_cast<std::size_t>(given.top);
}

word_count job_of(const wordcount_arguments& given) {
  return {.sorted = given.output.empty() ? mapreduce::word_order::by_count
                                         : mapreduce::word_order::by_word};
}

mapreduce::options options_of(const wordcount_arguments& given, mapreduce::progress& done) {
  mapreduce::options chosen{.report = &done};
  // The totals are wanted even if no word is; and 0 would keep all.
  if (given.output.empty()) chosen.top = std::max<std::size_t>(top_of(given), 1);
  if (given.no_combine) chosen.how = mapreduce::strategy::emit_and_group;
  return chosen;
}

/// A progress bar, where there is somebody to look at it.
void watch(std::optional<progress_bar>& bar, const wordcount_arguments& given,
           const mapreduce::progress& done, std::size_t splits) {
  if (!given.quiet && isatty(STDERR_FILENO) != 0) bar.emplace(done, splits);
}

counts count(runtime& workers, text_files& files, const wordcount_arguments& given,
             mapreduce::progress& done) {
  const mapreduce::options chosen = options_of(given, done);
  std::optional<progress_bar> bar;
  watch(bar, given, done, files.splits());
  return workers.run([&] { return mapreduce::run(job_of(given), files, chosen); });
}

/// The most frequent words of a result in any order.
std::vector<word_record> most_frequent(const counts& counted, std::size_t top) {
  std::vector<word_record> best(std::min(top, counted.size()));
  std::partial_sort_copy(
      counted.begin(), counted.end(), best.begin(), best.end(),
      [job = word_count{}](const auto& a, const auto& b) { return job.before(a, b); });
  return best;
}

void write_counts(atomic_file& out, const counts& counted) {
  for (const word_record& word : counted) {
    out.write(word.key);
    out.write(fmt::format("\t{}\n", word.value));
  }
  out.commit();
}

wordcount_report describe(const runtime& workers, const text_files& files, const counts& counted) {
  const scheduler_options& options = workers.options();
  wordcount_report report;
  report.backend = workers.backend_name();
  report.scheduler = to_string(options.scheduler);
  report.idle = to_string(options.idle);
  report.workers = workers.worker_count();
  report.files = files.size();
  report.skipped = files.skipped();
  report.mapped_bytes = files.mapped_bytes();
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  report.stages = counted.times;
  report.peak_bytes = peak_resident_bytes();
  return report;
}

void say(const wordcount_arguments& given, const wordcount_report& report) {
  if (!given.quiet) {
    for (const std::string& line : report.skipped) fmt::print(stderr, "creek: skipped {}\n", line);
  }
  if (given.as_json) {
    fmt::print("{}\n", to_json(report));
  } else if (!given.quiet) {
    print_text(stdout, report);
  } else if (given.output.empty()) {
    for (const word_record& word : report.top) fmt::print("{}\t{}\n", word.key, word.value);
  }
}

void hand_out(const wordcount_arguments& given, wordcount_report& report, const counts& counted,
              std::optional<atomic_file>& out) {
  report.combined = !given.no_combine;
  const std::vector<word_record> top = most_frequent(counted, top_of(given));
  report.top = top;
  if (out) write_counts(*out, counted);
  say(given, report);
}

/// The same job on a simulated chip, whose cores share no memory and send each other messages.
void wordcount_on_chip(const wordcount_arguments& given) {
  (void)top_of(given);  // before any work
  const scc_backend::machine_options on = to_machine_options(given.chip);
  const int cores = participating_cores(given.chip, on);
  std::optional<atomic_file> out;
  if (!given.output.empty()) out.emplace(given.output);

  text_files files(given.names.empty() ? std::vector<std::string>{"-"} : given.names,
                   {.skip_unreadable = given.skip_unreadable});
  const std::string text = whole_text(files);
  mapreduce::text_view from(text, mapreduce::even_split(text.size(), cores));
  mapreduce::progress done;
  const mapreduce::options chosen = options_of(given, done);
  std::optional<progress_bar> bar;
  watch(bar, given, done, from.splits());
  const auto run = run_on_chip(job_of(given), from, chosen, cores, on);
  bar.reset();

  wordcount_report report;
  report.backend = "scc";
  report.files = files.size();
  report.skipped = files.skipped();
  report.text_bytes = text.size();
  report.words = run.result.emitted;
  report.distinct = run.result.distinct;
  report.simulated = simulated_count{.chip = on.description.name,
                                     .seed = on.seed,
                                     .cycles_a_host_second = on.cycles_a_host_second,
                                     .cores = cores,
                                     .length = run.report.length(),
                                     .stages = run.stages,
                                     .sent_bytes = run.result.sent_bytes,
                                     .energy = run.report.usage.total};
  hand_out(given, report, run.result, out);
}

void wordcount_on_workers(const wordcount_arguments& given) {
  (void)top_of(given);  // before any work
  runtime workers(scheduling(given), backend_name(given));
  if (!given.chip.trace.empty()) workers.trace_to(given.chip.trace);
  // Opened before the work, so that a name that cannot be written is known at once.
  std::optional<atomic_file> out;
  if (!given.output.empty()) out.emplace(given.output);

  const auto start = std::chrono::steady_clock::now();
  text_files files(given.names.empty() ? std::vector<std::string>{"-"} : given.names,
                   {.skip_unreadable = given.skip_unreadable});
  mapreduce::progress done;
  const counts counted = count(workers, files, given, done);
  wordcount_report report = describe(workers, files, counted);
  report.elapsed = std::chrono::steady_clock::now() - start;
  report.text_bytes = done.bytes_done;
  hand_out(given, report, counted, out);
}

/// Options that say nothing to the chosen backend must not look as if they did.
void refuse(const CLI::App& command, std::initializer_list<const char*> options, const char* why) {
  for (const char* name : options) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) {
      throw usage_error(fmt::format("{}: {}", name, why));
    }
  }
}

void wordcount(const CLI::App& command, wordcount_arguments& given) {
  if (backend_name(given) == "scc") {
    refuse(command, {"--scheduler", "--idle", "--workers"},
           "not for --backend scc, where jobs run on --cores that send messages");
    wordcount_on_chip(given);
    return;
  }
  refuse(command, {"--chip", "--clock", "--seed", "--check", "--heatmap"},
         "only for --backend scc");
  if (given.chip.cores > 0) {
    refuse(command, {"--workers"}, "the same as --cores: give one of them");
    given.workers = given.chip.cores;
  }
  wordcount_on_workers(given);
}

}  // namespace

void add_wordcount(CLI::App& app, int&) {
  auto given = std::make_shared<wordcount_arguments>();
  CLI::App* command = app.add_subcommand("wordcount", "Count the words of files");
  command->footer(wordcount_notes);
  command->add_option("names", given->names, "Files and directories")->option_text("[FILE|DIR...]");
  command->add_option("--workers", given->workers,
                      fmt::format("Workers, 1 to {}", scheduler_options::max_workers));
  command->add_option(
      "--backend", given->backend,
      fmt::format("One of {}; scc is a simulated chip", fmt::join(backends(), ", ")));
  command->add_option("--scheduler", given->scheduler, "Who runs a task, see docs/environment.md");
  command->add_option("--idle", given->idle, "What workers without work do");
  command->add_option("--top", given->top, "Most frequent words to print")->capture_default_str();
  command->add_flag("--no-combine", given->no_combine,
                    "Emit every word and group by sorting, instead of combining at once");
  command->add_option("--output", given->output, "Write WORD TAB COUNT lines, sorted by the bytes");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_flag("--quiet", given->quiet,
                    "No summary and no progress bar, WORD TAB COUNT lines only");
  command->add_flag("--skip-unreadable", given->skip_unreadable,
                    "Leave out what cannot be read instead of failing");
  add_chip_options(*command, given->chip, {.clock = true});
  command->callback([given, command] { wordcount(*command, *given); });
}

}  // namespace creek::tool
