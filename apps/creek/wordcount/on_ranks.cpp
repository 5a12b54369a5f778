// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi`, a source of its own because the first tool of a build does
// without it.
#include <creek/mapreduce/inputs/files.hpp>

#include <optional>

#include "count.hpp"
#include "jobs/job_run.hpp"
#include "jobs/rank_group.hpp"

namespace creek::tool {
namespace {

/// Counts on one rank; rank 0 prints the results of all.
void count_on(rank_group* ranks, const wordcount_arguments& given, const rewriter& rewrite) {
  job_run run(given.job, ranks);
  std::optional<atomic_file> out;
  if (run.has_results() && !given.output.empty()) out.emplace(given.output);
  run.start();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const auto counted = [&] {
    if (!rewrite) return run.on_all(job_of(given), files, options_of(given));
    rewritten_files words(files, rewrite);
    return run.on_all(job_of(given), words, options_of(given));
  }();
  wordcount_report report;
  report.run = run.report(files);
  if (!run.has_results()) return;
  report.sent_bytes = counted.sent_bytes;
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  hand_out(given, report, counted, out);
}

}  // namespace

int wordcount_on_ranks(const command_line::command& command, const wordcount_arguments& given) {
  const rewriter rewrite = rewriter_of(given.choice);
  return on_ranks_if_asked(command, given.job,
                           [&](rank_group* ranks) { count_on(ranks, given, rewrite); });
}

}  // namespace creek::tool
