// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi`, a source of its own because the first tool of a build does
// without it.
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/inputs/files.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "count.hpp"
#include "jobs/job_run.hpp"
#include "jobs/rank_group.hpp"
#include "output/shared_file.hpp"

namespace creek::tool {
namespace {

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

/// Counts on one rank; rank 0 prints the results of all.
void count_on(rank_group& ranks, const wordcount_arguments& given, const rewriter& rewrite) {
  job_run run(given.job, &ranks);
  std::optional<shared_file> shared;
  std::optional<atomic_file> out;  // a pipe or a device, which rank 0 writes
  if (!given.output.empty()) {
    if (shared_file::is_for(given.output, ranks)) {
      shared.emplace(given.output, ranks);
    } else if (run.has_results()) {
      out.emplace(given.output);
    }
  }
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const auto count = [&](auto& from) {
    return shared ? run.in_parts(job_of(given), from, options_of(given))
                  : run.on_all(job_of(given), from, options_of(given));
  };
  const auto counted = [&] {
    if (!rewrite) return count(files);
    rewritten_files words(files, rewrite);
    return count(words);
  }();
  wordcount_report report;
  report.run = run.report(files);
  report.sent_bytes = counted.sent_bytes;
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  if (shared) {
    report.combined = !given.no_combine;
    shared->write([&](auto&& sink) {
      for (const word_record& word : counted) write_line(word, sink);
    });
    shared->commit();
    say_on_rank_0(ranks, given, report, counted.records);
  } else if (run.has_results()) {
    hand_out(given, report, counted, out);
  }
}

}  // namespace

int wordcount_on_ranks(const command_line::command& command, const wordcount_arguments& given) {
  const rewriter rewrite = rewriter_of(given.choice);
  return on_ranks_if_asked(command, given.job,
                           [&](rank_group* ranks) { count_on(*ranks, given, rewrite); });
}

}  // namespace creek::tool
