// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi`, a source of its own because the first tool of a build does
// without it.
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/inputs/files.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "count.hpp"
#include "jobs/job_run.hpp"
#include "jobs/rank_group.hpp"
#include "output/rank_lines.hpp"
#include "top_words.hpp"

namespace creek::tool {
namespace {

using limit_of_rank = std::optional<mapreduce::memory_limit>;

/// Prints the report on rank 0, with the most frequent words of all ranks, each of which has found
/// its own.
void say_on_rank_0(rank_group& ranks, const wordcount_arguments& given, wordcount_report& report,
                   std::span<const word_record> mine) {
  std::vector<std::byte> message;
  for (const word_record& word : first_words(mine, top_of(given))) {
    wire<std::string_view>::put(message, word.key);
    wire<std::uint64_t>::put(message, word.value);
  }
  const std::vector<std::byte> all = gather_bytes(ranks, message);
  if (ranks.rank() != 0) return;
  std::vector<word_record> words;
  for (const std::byte* at = all.data(); at != all.data() + all.size();) {
    const auto word = wire<std::string_view>::get(at);
    words.push_back({word, wire<std::uint64_t>::get(at)});
  }
  const std::vector<word_record> top = first_words(words, top_of(given));
  report.top = top;
  say(given, report);
}

template <class Counted>
wordcount_report report_of(const job_run& run, const mapreduce::text_files& files,
                           const Counted& counted) {
  wordcount_report report;
  report.run = run.report(files);
  report.sent_bytes = counted.sent_bytes;
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  return report;
}

/// Writes the words of one rank: `for_each(f)` calls `f(word)` for each word, and is called more
/// than once.
template <class ForEach>
void write_part(rank_group& ranks, const wordcount_arguments& given, wordcount_report& report,
                rank_lines& out, ForEach&& for_each) {
  std::optional<top_words> top;
  out.write([&](auto&& sink) {
    top.emplace(top_of(given));
    for_each([&](const word_record& word) {
      write_line(word, sink);
      top->add(word);
    });
  });
  report.combined = !given.no_combine;
  say_on_rank_0(ranks, given, report, top->sorted());
}

/// Counts on one rank; all ranks write the words.
template <class Input>
void count_in_parts(rank_group& ranks, const wordcount_arguments& given, job_run& run, Input& from,
                    const mapreduce::text_files& files, const limit_of_rank& limit,
                    rank_lines& out) {
  if (limit) {
    auto part = run.in_parts(job_of(given), from, options_of(given), *limit);
    wordcount_report report = report_of(run, files, part);
    write_part(ranks, given, report, out, [&](auto&& f) { part.for_each(f); });
  } else {
    const auto part = run.in_parts(job_of(given), from, options_of(given));
    wordcount_report report = report_of(run, files, part);
    write_part(ranks, given, report, out, [&](auto&& f) { std::ranges::for_each(part, f); });
  }
}

/// Counts on one rank; rank 0 has all results.
template <class Input>
void count_for_rank_0(const wordcount_arguments& given, job_run& run, Input& from,
                      const mapreduce::text_files& files, const limit_of_rank& limit,
                      std::optional<atomic_file>& out) {
  const auto counted = limit ? run.on_all(job_of(given), from, options_of(given), *limit)
                             : run.on_all(job_of(given), from, options_of(given));
  wordcount_report report = report_of(run, files, counted);
  if (run.has_results()) hand_out(given, report, counted, out);
}

/// Counts on one rank; rank 0 prints the results of all.
void count_on(rank_group& ranks, const wordcount_arguments& given, const rewriter& rewrite,
              const limit_of_rank& limit) {
  job_run run(given.job, &ranks);
  std::optional<rank_lines> parts;
  std::optional<atomic_file> out;  // a pipe or a device, which rank 0 writes
  if (rank_lines::is_for(given.output, given.output_parts, ranks)) {
    parts.emplace(given.output, given.output_parts, ranks);
  } else if (!given.output.empty() && run.has_results()) {
    out.emplace(given.output);
  }
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const auto count = [&](auto& from) {
    if (parts) return count_in_parts(ranks, given, run, from, files, limit, *parts);
    count_for_rank_0(given, run, from, files, limit, out);
  };
  if (!rewrite) return count(files);
  rewritten_files words(files, rewrite);
  count(words);
}

}  // namespace

int wordcount_on_ranks(const command_line::command& command, const wordcount_arguments& given) {
  const rewriter rewrite = rewriter_of(given.choice);
  const limit_of_rank limit = limit_of(given.spill);
  return on_ranks_if_asked(command, given.job,
                           [&](rank_group* ranks) { count_on(*ranks, given, rewrite, limit); });
}

}  // namespace creek::tool
