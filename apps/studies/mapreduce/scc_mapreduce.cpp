// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-mapreduce`: MapReduce jobs, with and without combiner, on more and more cores of
// a simulated chip. Every result is compared with that of one host thread without any stage. All
// times are virtual.

#include <fmt/format.h>

#include <creek/core/error.hpp>
#include <memory>
#include <string>
#include <vector>

#include "chip/chip_mapreduce.hpp"
#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "json/json_value.hpp"
#include "mapreduce_scaling.hpp"
#include "mapreduce_workloads.hpp"
#include "output/energy.hpp"
#include "output/output_file.hpp"
#include "output/progress_line.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace bench;

using json = json_value;

// Versions of the two forms of output.
constexpr int chip_study_json = 3;
constexpr int chip_study_csv = 2;
constexpr int second_base = 4;  // cores; [Papagiannis 2011] has speed-up over 4

struct study_options {
  chip_options chip;
  std::vector<int> cores{1, 4, 8, 16, 32, 48};
  std::vector<std::string> workloads;
  std::vector<std::string> strategies;
  bool quick = false;
  bool as_json = false;
  std::string csv;
};

/// Resources of a run, besides the time of the slowest core.
struct chip_use {
  stage_uses stages;
  units::joules energy;
  std::uint64_t sent_bytes = 0;
};

/// A chip_use for each point.
struct chip_series : scaling_series {
  std::vector<chip_use> uses;
};

double milliseconds(virtual_time t) {
  return 1e3 * t.in_seconds().value;
}

/// Runs the workloads that it is called with.
struct chip_study {
  const study_options& given;
  const scc_backend::machine_options& on;
  std::vector<way> ways;
  std::vector<chip_series> all{};
  progress_line line{};

  template <class Problem>
  void operator()(const char* name, const Problem& what) {
    for (const way how : ways) {
      if (!Problem::has(how)) continue;
      chip_series one{{name, what.data.parts(1).bytes(), how, {}}, {}};
      for (const int cores : given.cores) {
        line.show(fmt::format("{} {}, {} cores", name, describe(how), cores));
        measure(what, cores, one);
      }
      all.push_back(std::move(one));
    }
  }

 private:
  template <class Problem>
  void measure(const Problem& what, int cores, chip_series& one) {
    what.with(one.how, [&](const auto& job, const mapreduce::options& chosen) {
      auto from = what.data.parts(cores);
      const auto run = run_on_chip(job, from, chosen, cores, on);
      if (!what.right(run.result.records, one.how)) {
        throw error(EILSEQ, fmt::format("scc-mapreduce: {} {} on {} cores: wrong result",
                                        one.workload, describe(one.how), cores));
      }
      scaling_point point{cores, milliseconds(run.report.length()), {}};
      for (std::size_t i = 0; i < run.stages.size(); ++i) {
        point.stages_ms[i] = milliseconds(run.stages[i].longest);
      }
      one.points.push_back(point);
      one.uses.push_back({run.stages, run.report.usage.total, run.result.sent_bytes});
    });
  }
};

/// Throws usage_error for numbers that do not exist, before any work.
void check(const study_options& given, const scc_backend::machine_options& on) {
  refuse_records(given.chip, "scc-mapreduce");
  for (const int cores : given.cores) {
    if (cores < 1 || cores > on.description.cores()) {
      throw usage_error(fmt::format("--cores {}: chip '{}' has 1 to {}", cores, on.description.name,
                                    on.description.cores()));
    }
  }
}

void print_series(const chip_series& one) {
  const std::string heading = stage_heading({"cores", "virtual ms"});
  fmt::print("\n{}, {:.1f} MB, {}: virtual ms, of stages the slowest core's\n", one.workload,
             static_cast<double>(one.input_bytes) / 1e6, describe(one.how));
  fmt::print("{} {:>9} {:>8}\n", heading, "mJ", "MB sent");
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    fmt::print("{} {:>9.1f} {:>8.2f}\n", times_row(one.points[i]), 1e3 * one.uses[i].energy.value,
               static_cast<double>(one.uses[i].sent_bytes) / 1e6);
  }
  fmt::print("speed-up over one core, and in all over {}\n", second_base);
  fmt::print("{} {:>9}\n", heading, fmt::format("x {}", second_base));
  for (const scaling_point& point : one.points) {
    fmt::print("{} {:>9}\n", speedup_row(one, point), times(one.speedup(point, second_base)));
  }
}

json to_json(const chip_series& one) {
  json runs = json::array();
  for (std::size_t k = 0; k < one.points.size(); ++k) {
    const scaling_point& point = one.points[k];
    const chip_use& use = one.uses[k];
    json stages = json::object();
    for (std::size_t i = 0; i < use.stages.size(); ++i) {
      const auto which = static_cast<mapreduce::stage>(i);
      stages[mapreduce::stage_names[i]] = {{"longest", point.stages_ms[i]},
                                           {"median", milliseconds(use.stages[i].median)},
                                           {"shortest", milliseconds(use.stages[i].shortest)},
                                           {"speedup_1", number_or_null(one.speedup(point, which))},
                                           {"joules", use.stages[i].energy.value}};
    }
    runs.push_back({{"cores", point.workers},
                    {"virtual_ms", point.total_ms},
                    {"stages_virtual_ms", stages},
                    {"speedup_1", number_or_null(one.speedup(point, 1))},
                    {"speedup_4", number_or_null(one.speedup(point, second_base))},
                    {"joules", use.energy.value},
                    {"sent_bytes", use.sent_bytes}});
  }
  return {{"workload", one.workload},
          {"input_bytes", one.input_bytes},
          {"strategy", way_names[static_cast<std::size_t>(one.how)]},
          {"runs", runs}};
}

std::string to_csv(const study_options& given, const scc_backend::machine_options& on,
                   const std::vector<chip_series>& all) {
  std::string out = fmt::format("schema_version,chip,seed,clock,{},speedup_{}",
                                csv_heading({"cores", "virtual_ms"}), second_base);
  for (const char* stage : mapreduce::stage_names) {
    out += fmt::format(",{0}_median_virtual_ms,{0}_shortest_virtual_ms,{0}_joules", stage);
  }
  out += ",joules,sent_bytes\n";
  for (const chip_series& one : all) {
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      const chip_use& use = one.uses[i];
      out += fmt::format("{},{},{},{},{},{}", chip_study_csv, on.description.name, on.seed,
                         given.chip.clock, csv_row(one, one.points[i]),
                         csv_cell(one.speedup(one.points[i], second_base)));
      for (const stage_use& stage : use.stages) {
        out += fmt::format(",{},{},{}", milliseconds(stage.median), milliseconds(stage.shortest),
                           stage.energy.value);
      }
      out += fmt::format(",{},{}\n", use.energy.value, use.sent_bytes);
    }
  }
  return out;
}

void study(const study_options& given) {
  const scc_backend::machine_options on = to_machine_options(given.chip);
  check(given, on);
  chip_study measured{given, on, ways_of(given.strategies, {way::combine, way::group, way::fill})};
  output_file csv(given.csv);
  show_workloads(given.workloads, given.quick ? 1 : 10, measured);
  csv.write(to_csv(given, on, measured.all));
  if (given.as_json) {
    json whole{{"schema_version", chip_study_json}, {"command", "bench scc-mapreduce"},
               {"chip", on.description.name},       {"seed", on.seed},
               {"clock", given.chip.clock},         {"series", json::array()}};
    if (on.cycles_a_host_second > 0) whole["cycles_a_host_second"] = on.cycles_a_host_second;
    for (const chip_series& one : measured.all) whole["series"].push_back(to_json(one));
    fmt::print("{}\n", with_energy(whole).dump(2));
    return;
  }
  fmt::print("MapReduce on the simulated chip {}, seed {}, {} clock\n", on.description.name,
             on.seed, given.chip.clock);
  for (const chip_series& one : measured.all) print_series(one);
}

}  // namespace

void add_scc_mapreduce(command_line::command& bench) {
  command_line::command* command = bench.add_subcommand(
      "scc-mapreduce",
      "Measure MapReduce on a simulated chip: stages, speed-up and energy by cores");
  const auto given = std::make_shared<study_options>();
  command->footer(R"(Examples:
  creek bench scc-mapreduce --csv figures.csv
  creek bench scc-mapreduce --cores 1,2,4,8,16,32,48 --workload word-count --strategy combine,group
  creek bench scc-mapreduce --quick --json)");
  add_chip_options(*command, given->chip, {.cores = false, .clock = true});
  command->add_option("--cores", given->cores, "Numbers of cores, such as 1,4,48")
      ->delimiter(',')
      ->at_least(1)
      ->show_default();
  command->add_option("--workload", given->workloads, workload_choice)->delimiter(',');
  command
      ->add_option("--strategy", given->strategies,
                   "Strategies to run, of combine, group (no combiner), fill (the library's job "
                   "that fills an array, if there is one)")
      ->delimiter(',');
  command->add_flag("--quick", given->quick, "Use a tenth of the input");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_option("--csv", given->csv, "Write the figures to FILE")->type_name("FILE");
  command->callback([given] { study(*given); });
}

}  // namespace creek::tool
