// SPDX-License-Identifier: Apache-2.0
// `creek inverted-index`: which files every word occurs in.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "byte_text.hpp"
#include "commands.hpp"
#include "job_options.hpp"
#include "job_run.hpp"
#include "text_output.hpp"

namespace creek::tool {
namespace {

struct index_arguments {
  job_options job;
  long long top = 10;
  std::string output;
};

constexpr const char* index_notes =
    R"(Words are maximal runs of bytes other than ASCII white space. The index is sorted by the bytes of
the words, and for each word by the order of the files.
{}

  creek inverted-index --output index.tsv docs/
  creek inverted-index --top 20 a.txt b.txt c.txt.gz
  creek inverted-index --quiet *.txt | grep '^creek')";

constexpr int index_schema = 1;

using index_result = mapreduce::result<mapreduce::inverted_index>;

std::string_view word_of(const index_result::record_type& entry) {
  return std::get<0>(entry.key);
}

/// A word and its entries, one a file.
struct indexed_word {
  std::string_view word;
  std::span<const index_result::record_type> files;

  [[nodiscard]] std::uint64_t occurrences() const {
    std::uint64_t sum = 0;
    for (const auto& entry : files) sum += entry.value;
    return sum;
  }
};

/// Calls `f(indexed_word)` for every word, in order.
template <class F>
void for_each_indexed(const index_result& index, F&& f) {
  for (std::size_t from = 0, to = 0; from < index.size(); from = to) {
    while (to < index.size() && word_of(index[to]) == word_of(index[from])) ++to;
    f(indexed_word{word_of(index[from]), std::span(index.records).subspan(from, to - from)});
  }
}

struct index_summary {
  std::uint64_t words = 0;  // different ones
  std::vector<indexed_word> top;
};

/// The words that are in most files; of those alike the first.
index_summary summary_of(const index_result& index, std::size_t top) {
  index_summary made;
  std::vector<indexed_word> all;
  for_each_indexed(index, [&](const indexed_word& one) { all.push_back(one); });
  made.words = all.size();
  made.top.resize(std::min(top, all.size()));
  std::ranges::partial_sort_copy(all, made.top, [](const indexed_word& a, const indexed_word& b) {
    return a.files.size() != b.files.size() ? a.files.size() > b.files.size() : a.word < b.word;
  });
  return made;
}

void write_index(const index_result& index, const mapreduce::text_files& files, text_output& out) {
  for (const auto& [key, count] : index) {
    out.write(std::get<0>(key));
    out.write(fmt::format("\t{}\t{}\n", files.name(std::get<1>(key)), count));
  }
  out.done();
}

void print_json(const index_result& index, const index_summary& summary,
                const mapreduce::text_files& files, const job_report& report) {
  nlohmann::ordered_json top = nlohmann::ordered_json::array();
  for (const indexed_word& one : summary.top) {
    nlohmann::ordered_json entry, in = nlohmann::ordered_json::array();
    add_text(entry, "word", one.word);
    entry["occurrences"] = one.occurrences();
    for (const auto& [key, count] : one.files) {
      in.push_back({{"file", files.name(std::get<1>(key))}, {"count", count}});
    }
    entry["in"] = std::move(in);
    top.push_back(std::move(entry));
  }
  nlohmann::ordered_json all = {{"schema_version", index_schema}};
  all.update(run_json(report));
  all.update(nlohmann::ordered_json{
      {"words", index.emitted}, {"distinct", summary.words}, {"entries", index.size()}});
  all["top"] = std::move(top);
  fmt::print("{}\n", dump(all));
}

void print_text(const index_result& index, const index_summary& summary, const job_report& report) {
  fmt::print("{} words, {} different, {} entries, in {} of text from {} file{}\n", index.emitted,
             summary.words, index.size(), bytes_text(report.bytes), report.files,
             report.files == 1 ? "" : "s");
  print_run(stdout, report);
  if (summary.top.empty()) return;
  fmt::print("\n{:>8} {:>12}  word\n", "files", "occurrences");
  for (const indexed_word& one : summary.top) {
    fmt::print("{:>8} {:>12}  {}\n", one.files.size(), one.occurrences(), printable(one.word));
  }
}

void make_index(const index_arguments& given) {
  if (given.top < 0) throw usage_error(fmt::format("--top {}: must be 0 or more", given.top));
  job_run run(given.job);
  text_output out(given.output);
  const bool lines_only = given.job.quiet && !given.job.as_json;
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const index_result index = run(mapreduce::inverted_index{}, files);
  const job_report report = run.report(files);
  if (lines_only || !given.output.empty()) write_index(index, files, out);
  say_skipped(given.job, report);
  if (lines_only) return;
  const index_summary summary = summary_of(index, static_cast<std::size_t>(given.top));
  if (given.job.as_json) {
    print_json(index, summary, files, report);
  } else {
    print_text(index, summary, report);
  }
}

}  // namespace

void add_inverted_index(CLI::App& app, int&) {
  auto given = std::make_shared<index_arguments>();
  CLI::App* command = app.add_subcommand("inverted-index", "Find out which files have which words");
  command->footer(fmt::format(index_notes, names_notes));
  add_job_options(*command, given->job, "WORD TAB FILE TAB COUNT lines only");
  command->add_option("--top", given->top, "Words in most files to print")->capture_default_str();
  command->add_option("--output", given->output,
                      "Write the index as WORD TAB FILE TAB COUNT lines");
  command->callback([given] { make_index(*given); });
}

}  // namespace creek::tool
