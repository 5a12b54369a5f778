// SPDX-License-Identifier: Apache-2.0
// The study of the host: the jobs of the simulated chip's (scc_mapreduce.cpp) by every strategy on
// more and more workers. Runs take turns, so that what disturbs the machine disturbs all; every
// result is compared with a sequential program's outside the time. All times are wall time.
#include "host_mapreduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <functional>
#include <harness/median.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../output_file.hpp"
#include "../progress_line.hpp"
#include "../runtime_choice.hpp"
#include "doubling.hpp"
#include "energy.hpp"
#include "mapreduce_scaling.hpp"
#include "mapreduce_workloads.hpp"
#include "report.hpp"

namespace creek::tool::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr int schema_of_host_study = 1;
constexpr int pieces_of_input = 256;  // that workers take

struct host_options {
  std::vector<long long> workers;
  int runs = 5;
  std::vector<std::string> workloads;
  std::vector<std::string> strategies;
  bool quick = false;
  bool as_json = false;
  std::string csv;
};

/// The milliseconds of a run.
struct host_run {
  double total = 0;
  std::array<double, mapreduce::stage_count> stages{};
};

/// The runs of each point, whose figures are their medians.
struct host_series : scaling_series {
  std::vector<std::vector<host_run>> runs;

  void take_medians() {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i].total_ms = median_of(runs[i], [](const host_run& r) { return r.total; });
      for (std::size_t s = 0; s < mapreduce::stage_count; ++s) {
        points[i].stages_ms[s] = median_of(runs[i], [s](const host_run& r) { return r.stages[s]; });
      }
    }
  }

 private:
  template <class Figure>
  static double median_of(const std::vector<host_run>& some, Figure figure) {
    std::vector<double> values;
    for (const host_run& one : some) values.push_back(figure(one));
    return ::bench::median(std::move(values));
  }
};

double milliseconds_of(std::chrono::duration<double, std::milli> length) {
  return length.count();
}

/// Runs the workloads that it is shown.
class host_study {
 public:
  host_study(const host_options& given, std::vector<way> ways, const std::vector<unsigned>& workers)
      : given_(&given), ways_(std::move(ways)) {
    for (const unsigned n : workers) {
      scheduler_options chosen = scheduler_options::from_environment();
      chosen.workers = n;
      runtimes_.push_back(std::make_unique<runtime>(chosen, "host"));
    }
  }

  template <class Problem>
  void operator()(const char* name, const Problem& what) {
    std::vector<host_series> series;
    for (const way how : ways_) {
      if (!Problem::has(how)) continue;
      host_series one{{name, what.data.parts(1).bytes(), how, {}}, {}};
      for (const auto& rt : runtimes_) {
        one.points.push_back({static_cast<int>(rt->worker_count()), 0, {}});
      }
      one.runs.resize(runtimes_.size());
      series.push_back(std::move(one));
    }
    for (int round = -1; round < given_->runs; ++round) {  // the first warms up
      line_.show(fmt::format("{}, round {} of {}", name, round + 1, given_->runs));
      for (host_series& one : series) {
        for (std::size_t i = 0; i < runtimes_.size(); ++i) {
          const host_run made = run_once(what, one, *runtimes_[i]);
          if (round >= 0) one.runs[i].push_back(made);
        }
      }
    }
    for (host_series& one : series) {
      one.take_medians();
      all_.push_back(std::move(one));
    }
  }

  [[nodiscard]] const std::vector<host_series>& all() const { return all_; }

 private:
  template <class Problem>
  host_run run_once(const Problem& what, const host_series& one, runtime& rt) {
    return what.with(one.how, [&](const auto& job, const mapreduce::options& chosen) {
      auto from = what.data.parts(pieces_of_input);
      const auto start = std::chrono::steady_clock::now();
      const auto result = rt.run([&] { return mapreduce::run(job, from, chosen); });
      host_run made{milliseconds_of(std::chrono::steady_clock::now() - start), {}};
      if (!what.right(result.records, one.how)) {
        throw error(EILSEQ, fmt::format("mapreduce: {} {} with {} workers: wrong result",
                                        one.workload, describe(one.how), rt.worker_count()));
      }
      for (std::size_t i = 0; i < made.stages.size(); ++i) {
        made.stages[i] = milliseconds_of(result.times.spent[i]);
      }
      return made;
    });
  }

  const host_options* given_;
  std::vector<way> ways_;
  std::vector<std::unique_ptr<runtime>> runtimes_;
  std::vector<host_series> all_;
  progress_line line_;
};

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
      out += fmt::format("{},{},{},{},{}\n", schema_of_host_study, csv_row(one, one.points[i]),
                         least.total, most.total, one.runs[i].size());
    }
  }
  return out;
}

/// Throws usage_error.
std::vector<unsigned> workers_of(const host_options& given, const surroundings& around) {
  if (given.workers.empty()) return doubling(std::max(around.cpus, 1u));
  std::vector<unsigned> numbers;
  for (const long long n : given.workers) numbers.push_back(checked_workers(n));
  return numbers;
}

void study_host(const host_options& given) {
  const surroundings around = look_around();
  host_study measured(
      given, ways_of(given.strategies, {way::combine, way::group, way::automatic, way::fill}),
      workers_of(given, around));
  output_file csv(given.csv);
  show_workloads(given.workloads, given.quick ? 5 : 100, measured);
  csv.write(host_to_csv(measured.all()));
  if (given.as_json) {
    json whole{{"schema", "creek-mapreduce"},
               {"schema_version", schema_of_host_study},
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

void add_host_mapreduce(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "mapreduce", "MapReduce on the host: stages and speed-up by workers, for each strategy");
  const auto given = std::make_shared<host_options>();
  command->footer(R"(Examples:
  creek bench mapreduce --runs 9 --csv figures.csv
  creek bench mapreduce --workers 1,2 --workload word-count,histogram --strategy combine,group
  creek bench mapreduce --quick --json
The same jobs on the simulated chip: creek bench scc-mapreduce.)");
  command
      ->add_option("--workers", given->workers,
                   "Numbers of workers, such as 1,2,8 (default: 1, 2, 4, ... and all)")
      ->delimiter(',');
  command->add_option("--runs", given->runs, "Rounds, each a run of everything; after one more")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--workload", given->workloads, workload_choice)->delimiter(',');
  command
      ->add_option("--strategy", given->strategies,
                   "Only these of combine, group (no combiner), automatic (where it is neither), "
                   "fill (the library's job that fills an array, where there is one)")
      ->delimiter(',');
  command->add_flag("--quick", given->quick, "A twentieth of the input");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_option("--csv", given->csv, "Write the figures to FILE")->type_name("FILE");
  command->callback([given] { study_host(*given); });
}

}  // namespace creek::tool::bench
