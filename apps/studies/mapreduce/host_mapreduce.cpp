// SPDX-License-Identifier: Apache-2.0
// `creek bench stages`: the jobs of the simulated chip's study (scc_mapreduce.cpp) by every
// strategy on more and more workers. Runs take turns, so that a disturbance affects all; every
// result is compared with a sequential program's outside the timed part. All times are wall time.

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/doubling.hpp"
#include "bench/report.hpp"
#include "command_line/command.hpp"
#include "host_study.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "output/output_file.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace bench;

using json = json_value;

// Versions of the two forms of output.
constexpr int host_study_json = 2;
constexpr int host_study_csv = 1;

void print_host_series(const host_series& one) {
  const std::string heading = stage_heading({"workers", "ms"});
  fmt::print("\n{}, {:.1f} MB, {}: ms, medians\n{} {:>9}\n", one.workload,
             static_cast<double>(one.input_bytes) / 1e6, describe(one.how), heading, "MB/s");
  for (const scaling_point& point : one.points) {
    fmt::print("{} {:>9.0f}\n", times_row(point),
               static_cast<double>(one.input_bytes) / 1e3 / point.total_ms);
  }
  fmt::print("speed-up over one worker\n{}\n", heading);
  for (const scaling_point& point : one.points) fmt::print("{}\n", speedup_row(one, point));
}

json host_to_json(const host_series& one) {
  json points = json::array();
  for (std::size_t k = 0; k < one.points.size(); ++k) {
    const scaling_point& point = one.points[k];
    json stages = json::object(), totals = json::array();
    for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
      const auto which = static_cast<mapreduce::stage>(i);
      stages[mapreduce::stage_names[i]] = {
          {"median", point.stages_ms[i]}, {"speedup_1", number_or_null(one.speedup(point, which))}};
    }
    for (const host_run& run : one.runs[k]) totals.push_back(run.total);
    points.push_back({{"workers", point.workers},
                      {"ms", point.total_ms},
                      {"runs_ms", totals},
                      {"stages_ms", stages},
                      {"speedup_1", number_or_null(one.speedup(point, 1))}});
  }
  return {{"workload", one.workload},
          {"input_bytes", one.input_bytes},
          {"strategy", way_names[static_cast<std::size_t>(one.how)]},
          {"points", points}};
}

std::string host_to_csv(const std::vector<host_series>& all) {
  std::string out =
      fmt::format("schema_version,{},min_ms,max_ms,runs\n", csv_heading({"workers", "ms"}));
  for (const host_series& one : all) {
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      const auto [least, most] = std::ranges::minmax(one.runs[i], {}, &host_run::total);
      out += fmt::format("{},{},{},{},{}\n", host_study_csv, csv_row(one, one.points[i]),
                         least.total, most.total, one.runs[i].size());
    }
  }
  return out;
}

void study_host(const host_options& given) {
  const surroundings around = look_around();
  host_study measured(
      given, ways_of(given.strategies, {way::combine, way::group, way::automatic, way::fill}),
      given.workers.empty() ? doubling(1U, std::max(around.cpus, 1U)) : given.workers);
  output_file csv(given.csv);
  show_workloads(given.workloads, given.quick ? 5 : 100, measured);
  csv.write(host_to_csv(measured.all()));
  if (given.as_json) {
    json whole{{"schema_version", host_study_json},
               {"command", "bench stages"},
               {"machine", describe(around)},
               {"runs", given.runs},
               {"series", json::array()}};
    for (const host_series& one : measured.all()) whole["series"].push_back(host_to_json(one));
    fmt::print("{}\n", with_energy(whole).dump(2));
    return;
  }
  fmt::print("MapReduce on {}, {} processors, load {:.2f} at the start, {} runs\n", around.cpu,
             around.cpus, around.load, given.runs);
  for (const host_series& one : measured.all()) print_host_series(one);
}

}  // namespace

void add_stages(command_line::command& bench) {
  command_line::command* command = bench.add_subcommand(
      "stages", "Measure the stages of MapReduce on the host, by workers and strategy");
  const auto given = std::make_shared<host_options>();
  command->footer(R"(Examples:
  creek bench stages --runs 9 --csv figures.csv
  creek bench stages --workers 1,2 --workload word-count,histogram --strategy combine,group
  creek bench stages --quick --json
The same jobs on the simulated chip: creek bench scc-mapreduce.)");
  command
      ->add_option("--workers", given->workers,
                   "Numbers of workers, such as 1,2,8 (default: 1, 2, 4, ... and all)")
      ->delimiter(',')
      ->range(1, scheduler_options::max_workers);
  command
      ->add_option(
          "--runs", given->runs,
          "Number of measured rounds, each a run of everything; one unmeasured round comes first")
      ->range(1, 10000)
      ->show_default();
  command->add_option("--workload", given->workloads, workload_choice)->delimiter(',');
  command
      ->add_option(
          "--strategy", given->strategies,
          "Strategies to run, of combine, group (no combiner), automatic (if it is neither of "
          "these), fill (the library's job that fills an array, if there is one)")
      ->delimiter(',');
  command->add_flag("--quick", given->quick, "Use a twentieth of the input");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_option("--csv", given->csv, "Write the figures to FILE")->type_name("FILE");
  command->callback([given] { study_host(*given); });
}

}  // namespace creek::tool
