// SPDX-License-Identifier: Apache-2.0
// `creek inverted-index`: lists the files in which every word occurs.
#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "jobs/rank_group.hpp"
#include "options/output_parts.hpp"
#include "options/spill_options.hpp"
#include "output/rank_lines.hpp"
#include "output/text_output.hpp"

namespace creek::tool {
namespace {

struct index_arguments {
  job_options job;
  long long top = 10;
  std::string output;
  std::string output_parts;
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
  template <class Archive>
  void serialize(Archive& archive) {
    archive(word, files);
  }

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
    add(word, {file, entry.value});
    ++entries_;
  }
  /// Call it after the last entry.
  void finish() {
    close();
    std::ranges::sort_heap(best_, before);
  }

  /// Takes the summaries of consecutive parts of an index, one after the other. A word may be in
  /// several parts, at the end of one and the begin of the next.
  void add_part(const std::byte*& at) {
    const auto words = wire<std::uint64_t>::get(at);
    entries_ += wire<std::uint64_t>::get(at);
    const auto kept = wire<std::vector<indexed_word>>::get(at);
    for (const indexed_word& one : kept) {
      for (const file_count& in : one.files) add(one.word, in);
    }
    words_ += words - kept.size();
  }
  /// Returns the summary of a part: its first word, those in most files, its last word.
  [[nodiscard]] std::vector<std::byte> part() const {
    std::vector<indexed_word> kept;
    if (!first_.files.empty()) kept.push_back(first_);
    for (const indexed_word& one : best_) {
      if (one.word != first_.word) kept.push_back(one);
    }
    if (current_.word != first_.word) kept.push_back(current_);
    std::vector<std::byte> message;
    wire<std::uint64_t>::put(message, words_);
    wire<std::uint64_t>::put(message, entries_);
    wire<std::vector<indexed_word>>::put(message, kept);
    return message;
  }

  [[nodiscard]] std::uint64_t words() const { return words_; }  ///< number of different words
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] const std::vector<indexed_word>& top() const { return best_; }

 private:
  static bool before(const indexed_word& a, const indexed_word& b) {
    return a.files.size() != b.files.size() ? a.files.size() > b.files.size() : a.word < b.word;
  }

  void add(std::string_view word, file_count in) {
    if (current_.files.empty() || word != current_.word) {
      close();
      current_.word = word;
      ++words_;
    }
    current_.files.push_back(in);
  }
  void close() {
    if (words_ == 1) first_ = current_;
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
  indexed_word first_, current_;
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

/// Calls `sink(text)` for the pieces of the line of an entry.
template <class Sink>
void write_line(const index_entry& entry, const mapreduce::text_files& files, Sink&& sink) {
  sink(std::get<0>(entry.key));
  sink("\t");
  sink(files.name(std::get<1>(entry.key)));
  sink("\t");
  const fmt::format_int count(entry.value);
  sink(std::string_view(count.data(), count.size()));
  sink("\n");
}

bool only_lines(const index_arguments& given) {
  return given.job.quiet && !given.job.as_json;
}
index_summary summary_for(const index_arguments& given) {
  return index_summary(only_lines(given) ? 0 : static_cast<std::size_t>(given.top));
}

void say(const index_arguments& given, const index_summary& summary, std::uint64_t emitted,
         const job_report& report, const mapreduce::text_files& files) {
  print_results(given.job, report,
                {.command = "inverted-index",
                 .members = [&] { return to_json(summary, emitted, files); },
                 .print_text = [&] { print_text(summary, emitted, report); }});
}

using limit_of_process = std::optional<mapreduce::memory_limit>;

/// Makes the index in one process; or on ranks, if rank 0 is to write the lines of all.
void make_index(const index_arguments& given, const limit_of_process& limit, rank_group* ranks) {
  const mapreduce::inverted_index job;
  job_run run(given.job, ranks);
  text_output out(run.has_results() ? given.output : "");
  const bool lines = only_lines(given) || !given.output.empty();
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  index_summary summary = summary_for(given);
  const auto take = [&](const index_entry& entry) {
    if (lines) write_line(entry, files, [&](std::string_view text) { out.write(text); });
    summary.add(entry);
  };
  job_report report;
  std::uint64_t emitted = 0;
  if (limit && ranks == nullptr) {  // the index may exceed the limit too: written during the merge
    emitted = run.to(job, files, {}, *limit, take).emitted;
    report = run.report(files);
  } else {
    const auto index = limit ? run.on_all(job, files, {}, *limit) : run.on_all(job, files);
    report = run.report(files);
    if (!run.has_results()) return;
    for (const index_entry& entry : index) take(entry);
    emitted = index.emitted;
  }
  summary.finish();
  if (lines) out.done();
  say(given, summary, emitted, report, files);
}

/// Writes the entries of one rank: `for_each(f)` calls `f(entry)` for each entry, and is called
/// more than once. Returns the summary of the part.
template <class ForEach>
std::vector<std::byte> write_part(const index_arguments& given, const mapreduce::text_files& files,
                                  rank_lines& out, ForEach&& for_each) {
  out.write([&](auto&& sink) {
    for_each([&](const index_entry& entry) { write_line(entry, files, sink); });
  });
  index_summary mine = summary_for(given);
  for_each([&](const index_entry& entry) { mine.add(entry); });
  return mine.part();
}

/// Prints the summary of all parts on rank 0.
void say_on_rank_0(const index_arguments& given, rank_group& ranks, std::uint64_t emitted,
                   std::span<const std::byte> part, const job_report& report,
                   const mapreduce::text_files& files) {
  const std::vector<std::byte> all = gather_bytes(ranks, part);
  if (ranks.rank() != 0) return;
  index_summary summary = summary_for(given);
  for (const std::byte* at = all.data(); at != all.data() + all.size();) summary.add_part(at);
  summary.finish();
  say(given, summary, emitted, report, files);
}

/// Makes the index on ranks, each of which writes its part of the lines.
void make_index_in_parts(const index_arguments& given, const limit_of_process& limit,
                         rank_group& ranks) {
  const mapreduce::inverted_index job;
  job_run run(given.job, &ranks);
  rank_lines out(given.output, given.output_parts, ranks);
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const auto hand_out = [&](std::uint64_t emitted, auto&& for_each) {
    const job_report report = run.report(files);
    const std::vector<std::byte> part = write_part(given, files, out, for_each);
    say_on_rank_0(given, ranks, emitted, part, report, files);
  };
  if (limit) {
    auto index = run.in_parts(job, files, {}, *limit);
    hand_out(index.emitted, [&](auto&& f) { index.for_each(f); });
  } else {
    const auto index = run.in_parts(job, files);
    hand_out(index.emitted, [&](auto&& f) { std::ranges::for_each(index, f); });
  }
}

/// Runs the command in one process, or on one of the ranks.
void index_files(const index_arguments& given, const limit_of_process& limit, rank_group* ranks) {
  const bool prints_lines = given.output.empty() && only_lines(given);  // as rank 0 does
  const bool in_parts =
      ranks != nullptr && (rank_lines::is_for(given.output, given.output_parts, *ranks) ||
                           (given.output.empty() && !prints_lines));
  if (in_parts) return make_index_in_parts(given, limit, *ranks);
  make_index(given, limit, ranks);
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
  add_output_parts(*command, given->output_parts);
  add_spill_options(*command, given->spill);
  command->callback([given, command, &exit_code] {
    refuse_output_parts(*command, given->job);
    const auto limit = limit_of(given->spill);
    exit_code = on_ranks_if_asked(*command, given->job,
                                  [&](rank_group* ranks) { index_files(*given, limit, ranks); });
  });
}

}  // namespace creek::tool
