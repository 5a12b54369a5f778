// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend scc`.
#include <optional>
#include <string>
#include <utility>

#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/files.hpp>

#include "chip/chip_mapreduce.hpp"
#include "count.hpp"
#include "output/progress_bar.hpp"
#include "whole_text.hpp"

namespace creek::tool {

void wordcount_on_chip(const wordcount_arguments& given) {
  const scc_backend::machine_options on = to_machine_options(given.chip);
  const int cores = participating_cores(given.chip, on);
  std::optional<atomic_file> out;
  if (!given.output.empty()) out.emplace(given.output);

  mapreduce::text_files files(input_names(given.job),
                              {.skip_unreadable = given.job.skip_unreadable});
  std::string text = whole_text(files);
  if (const rewriter rewrite = rewriter_of(given.choice)) {
    std::string words;
    rewrite(text, words);
    text = std::move(words);
  }
  mapreduce::text_view from(text, mapreduce::even_split(text.size(), cores));
  mapreduce::progress done;
  mapreduce::options chosen = options_of(given);
  chosen.report = &done;
  std::optional<progress_bar> bar;
  watch(bar, given.job.quiet, done, from.splits());
  const auto run = run_on_chip(job_of(given), from, chosen, cores, on);
  bar.reset();

  wordcount_report report;
  report.run.backend = "scc";
  report.run.files = files.size();
  report.run.skipped = files.skipped();
  report.run.bytes = text.size();
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

}  // namespace creek::tool
