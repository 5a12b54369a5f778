// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi`.
#include <creek/mapreduce/machines.hpp>
#include <creek/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/tasking/runtime.hpp>

#include "count.hpp"

namespace creek::tool {
namespace {

job_options options_here(const wordcount_arguments& given) {
  job_options here = given.job;
  here.backend = "host";
  return here;
}

/// Adds, on rank 0, what the other ranks have skipped and it has not.
void gather_skipped(mpi_communicator& c, std::vector<std::string>& skipped) {
  std::string lines;
  for (const std::string& each : skipped) lines += each + '\n';
  const auto sizes = c.gather(std::uint64_t{lines.size()}, 0);
  if (c.rank() != 0) return c.send(std::span<const char>(lines), 0);
  for (int from = 1; from < c.size(); ++from) {
    std::string theirs(sizes[static_cast<std::size_t>(from)], '\0');
    c.recv(std::span<char>(theirs), from);
    std::istringstream all(theirs);
    for (std::string line; std::getline(all, line);) {
      if (std::ranges::find(skipped, line) == skipped.end()) skipped.push_back(line);
    }
  }
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
  report.run.backend = "mpi";
  report.run.workers = c.reduce(report.run.workers, std::plus{}, 0);
  report.run.bytes = c.reduce(report.run.bytes, std::plus{}, 0);
  gather_skipped(c, report.run.skipped);
  if (c.rank() != 0) return;
  report.run.elapsed = std::chrono::steady_clock::now() - start;
  report.run.stages = counted.times;
  report.ranks = c.size();
  report.sent_bytes = counted.sent_bytes;
  report.words = counted.emitted;
  report.distinct = counted.distinct;
  hand_out(given, report, counted, out);
}

}  // namespace

int wordcount_on_ranks(const wordcount_arguments& given) {
  const std::vector<std::string> names = input_names(given.job);
  if (names.size() > 1 && std::ranges::find(names, "-") != names.end()) {
    throw usage_error(
        "-: only rank 0 has a standard input; with --backend mpi it must be the only input");
  }
  // Faults of the options are reported once, before there are ranks.
  (void)scheduling(options_here(given));
  (void)rewriter_of(given.choice);
  (void)mpi_backend::load();
  return ranks([&](mpi_communicator& c) { count_on(c, given); });
}

}  // namespace creek::tool
