// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi`.
#include <creek/mapreduce/machines.hpp>
#include <creek/mpi.hpp>

#include <chrono>
#include <optional>

#include <creek/core/error.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/tasking/runtime.hpp>

#include "count.hpp"
#include "jobs/rank_group.hpp"

namespace creek::tool {
namespace {

job_options options_here(const wordcount_arguments& given) {
  job_options here = given.job;
  here.backend = "host";
  return here;
}

/// Counts on one rank; rank 0 prints the results of all.
void count_on(mpi_communicator& c, const wordcount_arguments& given) {
  const job_options here = options_here(given);
  const rewriter rewrite = rewriter_of(given.choice);
  std::optional<atomic_file> out;
  if (c.rank() == 0 && !given.output.empty()) out.emplace(given.output);
  runtime workers(scheduling(here), here.backend);

  const auto start = std::chrono::steady_clock::now();
  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  const auto counted = [&] {
    if (!rewrite) {
      return run_on_machines(job_of(given), c, workers, files, options_of(given));
    }
    rewritten_files words(files, rewrite);
    return run_on_machines(job_of(given), c, workers, words, options_of(given));
  }();
  wordcount_report report;
  report.run = describe(workers, files);
  gather_report(c, report.run);
  if (c.rank() != 0) return;
  report.run.elapsed = std::chrono::steady_clock::now() - start;
  report.run.stages = counted.times;
  report.sent_bytes = counted.sent_bytes;
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  hand_out(given, report, counted, out);
}

}  // namespace

int wordcount_on_ranks(const wordcount_arguments& given) {
  require_input_of_all_ranks(given.job);
  // Faults of the options are reported once, before there are ranks.
  (void)scheduling(options_here(given));
  (void)rewriter_of(given.choice);
  (void)mpi_backend::load();
  return ranks([&](mpi_communicator& c) { count_on(c, given); });
}

}  // namespace creek::tool
