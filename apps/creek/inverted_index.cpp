// SPDX-License-Identifier: Apache-2.0
// `creek inverted-index`: lists the files in which every word occurs.
#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "options/spill_options.hpp"
#include "output/text_output.hpp"

namespace creek::tool {
namespace {

struct index_arguments {
  job_options job;
  long long top = 10;
  std::string output;
  spill_options spill;
};

constexpr const char* index_notes =
    R"(Words are maximal runs of bytes other than ASCII white space. The index is sorted by the bytes of
the words, and for each word by the order of the files.
{}

  creek inverted-index --output index.tsv docs/
  creek inverted-index --top 20 a.txt b.txt c.txt.gz
  creek inverted-index --memory 2G --spill /var/tmp --output index.tsv logs/
  mpirun -n 4 creek inverted-index --backend mpi --output index.tsv logs/
  creek inverted-index --quiet *.txt | grep '^creek')";

using index_entry = mapreduce::record_of<mapreduce::inverted_index>;

struct file_count {
  std::uint32_t file;
  std::uint64_t count;
};

/// A word and the files it occurs in.
struct indexed_word {
  std::string word;
  std::vector<file_count> files;

  [[nodiscard]] std::uint64_t occurrences() const {
    std::uint64_t sum = 0;
    for (const file_count& one : files) sum += one.count;
    return sum;
  }
};

/// Takes the entries of an index one after the other, in order: counts the words and keeps those
/// that occur in most files, the first ones among equals.
class index_summary {
 public:
  explicit index_summary(std::size_t top) : top_(top) {}

  void add(const index_entry& entry) {
    const auto& [word, file] = entry.key;
    if (entries_++ == 0 || word != current_.word) {
      close();
      current_.word = word;
      ++words_;
    }
    current_.files.push_back({file, entry.value});
  }
  /// Call it after the last entry.
  void finish() {
    close();
    std::ranges::sort_heap(best_, before);
  }

  [[nodiscard]] std::uint64_t words() const { return words_; }  ///< number of different words
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] const std::vector<indexed_word>& top() const { return best_; }

 private:
  static bool before(const indexed_word& a, const indexed_word& b) {
    return a.files.size() != b.files.size() ? a.files.size() > b.files.size() : a.word < b.word;
  }

  void close() {
    if (top_ != 0 && !current_.files.empty() &&
        (best_.size() < top_ || before(current_, best_.front()))) {
      if (best_.size() == top_) {
        std::ranges::pop_heap(best_, before);
        best_.pop_back();
      }
      best_.push_back(std::move(current_));  // a word may be large; add() makes a new one
      std::ranges::push_heap(best_, before);
    }
    current_.files.clear();
  }

  std::size_t top_;
  std::vector<indexed_word> best_;  // a heap with the last word in front
  indexed_word current_;
  std::uint64_t words_ = 0;
  std::uint64_t entries_ = 0;
};

json_value to_json(const index_summary& summary, std::uint64_t emitted,
                   const mapreduce::text_files& files) {
  json_value top = json_value::array();
  for (const indexed_word& one : summary.top()) {
    json_value entry, in = json_value::array();
    add_text(entry, "word", one.word);
    entry["occurrences"] = one.occurrences();
    for (const auto& [file, count] : one.files) {
      in.push_back({{"file", files.name(file)}, {"count", count}});
    }
    entry["in"] = std::move(in);
    top.push_back(std::move(entry));
  }
  return {{"words", emitted},
          {"distinct", summary.words()},
          {"entries", summary.entries()},
          {"top", std::move(top)}};
}

void print_text(const index_summary& summary, std::uint64_t emitted, const job_report& report) {
  fmt::print("{} words, {} different, {} entries, {}\n", emitted, summary.words(),
             summary.entries(), input_text(report, " of text"));
  print_run(stdout, report);
  if (summary.top().empty()) return;
  fmt::print("\n{:>8} {:>12}  word\n", "files", "occurrences");
  for (const indexed_word& one : summary.top()) {
    fmt::print("{:>8} {:>12}  {}\n", one.files.size(), one.occurrences(), printable(one.word));
  }
}

/// Makes the index in one process, or on one of the ranks.
void make_index(const index_arguments& given, const std::optional<mapreduce::memory_limit>& limit,
                rank_group* ranks) {
  job_run run(given.job, ranks);
  text_output out(run.has_results() ? given.output : "");
  const bool lines_only = given.job.quiet && !given.job.as_json;
  const bool lines = lines_only || !given.output.empty();
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  index_summary summary(lines_only ? 0 : static_cast<std::size_t>(given.top));
  const auto take = [&](const index_entry& entry) {
    if (lines) {
      out.write(std::get<0>(entry.key));
      out.write(fmt::format("\t{}\t{}\n", files.name(std::get<1>(entry.key)), entry.value));
    }
    summary.add(entry);
  };
  job_report report;
  std::uint64_t emitted = 0;
  if (limit) {  // the index may exceed the limit too: it is written during the merge
    emitted = run.to(mapreduce::inverted_index{}, files, {}, *limit, take).emitted;
    report = run.report(files);
  } else {
    const auto index = run.on_all(mapreduce::inverted_index{}, files);
    report = run.report(files);
    if (!run.has_results()) return;
    for (const index_entry& entry : index) take(entry);
    emitted = index.emitted;
  }
  summary.finish();
  if (lines) out.done();
  print_results(given.job, report,
                {.command = "inverted-index",
                 .members = [&] { return to_json(summary, emitted, files); },
                 .print_text = [&] { print_text(summary, emitted, report); }});
}

}  // namespace

void add_inverted_index(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<index_arguments>();
  auto* command = app.add_subcommand("inverted-index", "List the files that contain each word");
  command->footer(fmt::format(index_notes, names_notes));
  add_job_options(*command, given->job, "Print only lines WORD TAB FILE TAB COUNT", {"mpi"});
  command->add_option("--top", given->top, "Number of words to print, those in most files first")
      ->at_least(0)
      ->show_default();
  command->add_option("--output", given->output,
                      "Write the index to FILE as lines WORD TAB FILE TAB COUNT");
  add_spill_options(*command, given->spill);
  command->callback([given, command, &exit_code] {
    if (backend_name(given->job) == "mpi") {
      refuse(*command, {"--memory", "--spill"}, "not with --backend mpi");
    }
    const auto limit = limit_of(given->spill);
    exit_code = on_ranks_if_asked(*command, given->job,
                                  [&](rank_group* ranks) { make_index(*given, limit, ranks); });
  });
}

}  // namespace creek::tool
