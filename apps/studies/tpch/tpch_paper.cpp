// SPDX-License-Identifier: Apache-2.0
// `creek bench tpch-paper`: the forms of Q3, Q6 and Q12 in [DSS 2011] on more and more workers of
// the host, or cores of a simulated chip: the computation alone, and with the reading of the input
// before it. Every answer is compared with that of a single worker. A run uses either the host or
// the chip, so that virtual and wall time are never mixed.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <memory>
#include <optional>
#include <string>
#include <support/median.hpp>
#include <vector>

#include "bench/doubling.hpp"
#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "jobs/job_options.hpp"
#include "json/json_value.hpp"
#include "options/runtime_choice.hpp"
#include "output/energy.hpp"
#include "output/progress_line.hpp"
#include "paper_form.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using namespace bench;

using json = json_value;

struct paper_options {
  std::string folder;
  std::vector<std::string> queries;
  std::string backend = "host";
  std::vector<int> ranks;
  int repeat = 5;
  bool as_json = false;
  chip_options chip;

  [[nodiscard]] bool on_chip() const { return backend == "scc"; }
};

/// Medians of one point.
struct paper_point {
  int ranks = 0;
  double computing = 0;
  double whole = 0;
  units::joules energy{};
};

struct paper_series {
  std::string query;
  std::uint64_t rows = 0;
  std::vector<paper_point> points;  ///< the first has one worker
};

std::vector<int> ranks_of(const paper_options& given, const scc_backend::machine_options& on) {
  const int most = given.on_chip()
                       ? on.description.cores()
                       : static_cast<int>(runtime(scheduler_options{}, "host").worker_count());
  std::vector<int> chosen = given.ranks.empty() ? doubling(1, most) : given.ranks;
  for (const int n : chosen) {
    if (given.on_chip() && n > most) {
      throw usage_error(
          fmt::format("--workers {}: chip '{}' has 1 to {} cores", n, on.description.name, most));
    }
  }
  if (chosen.front() != 1) chosen.insert(chosen.begin(), 1);  // baseline of the speed-up
  return chosen;
}

std::vector<const tpch::query*> queries_of(const paper_options& given) {
  std::vector<const tpch::query*> chosen;
  for (const tpch::query* which : paper_queries) {
    const auto found = std::ranges::find(given.queries, which->name);
    if (given.queries.empty() || found != given.queries.end()) chosen.push_back(which);
  }
  for (const std::string& name : given.queries) {
    if (std::ranges::none_of(paper_queries, [&](auto* which) { return which->name == name; })) {
      throw usage_error(fmt::format("{}: has no published form", name));
    }
  }
  return chosen;
}

paper_point measure_point(const paper_form& form, int ranks, const paper_options& given,
                          const scc_backend::machine_options& on,
                          std::optional<tpch::answer>& expected) {
  paper_point point{ranks};
  std::vector<double> computing, whole;
  for (int i = 0; i < (given.on_chip() ? 1 : given.repeat);
       ++i) {  // all runs of a chip are the same
    const paper_run run = given.on_chip() ? form.on_chip(ranks, on) : form.on_host(ranks);
    if (!expected) expected = run.result;
    if (run.result != *expected) {
      throw error(EILSEQ, fmt::format("tpch-paper: the answer on {} ranks differs from that on one",
                                      ranks));
    }
    computing.push_back(run.computing);
    whole.push_back(run.reading + run.computing);
    point.energy = run.energy;
  }
  point.computing = ::bench::median(computing);
  point.whole = ::bench::median(whole);
  return point;
}

std::vector<paper_series> measure_all(const paper_options& given,
                                      const scc_backend::machine_options& on) {
  const auto queries = queries_of(given);
  const std::vector<int> ranks = ranks_of(given, on);
  std::vector<paper_series> all;
  progress_line line;
  for (const tpch::query* which : queries) {
    tpch::database from(given.folder);
    const tpch::parameter_values values(which->parameters, {});
    const paper_form form(*which, from, values);
    paper_series one{std::string(which->name), form.rows(), {}};
    std::optional<tpch::answer> expected;
    for (const int n : ranks) {
      line.show(fmt::format("{}, {}", which->name, n));
      one.points.push_back(measure_point(form, n, given, on, expected));
    }
    all.push_back(std::move(one));
  }
  return all;
}

void print_series(const paper_options& given, const paper_series& one) {
  const char* ms = given.on_chip() ? "virtual ms" : "ms";
  fmt::print("\n{}, {} rows ({})\n", one.query, one.rows, ms);
  fmt::print("{:>7} {:>11} {:>8} {:>13} {:>8}{}\n", given.on_chip() ? "cores" : "workers",
             "computing", "x 1", "with reading", "x 1", given.on_chip() ? "         mJ" : "");
  const paper_point& base = one.points.front();
  for (const paper_point& point : one.points) {
    fmt::print("{:>7} {:>11.3f} {:>8.2f} {:>13.3f} {:>8.2f}{}\n", point.ranks,
               1e3 * point.computing, base.computing / point.computing, 1e3 * point.whole,
               base.whole / point.whole,
               given.on_chip() ? fmt::format(" {:>10.1f}", 1e3 * point.energy.value) : "");
  }
}

json to_json(const paper_options& given, const paper_series& one) {
  json points = json::array();
  const paper_point& base = one.points.front();
  for (const paper_point& point : one.points) {
    json row{{given.on_chip() ? "cores" : "workers", point.ranks},
             {given.on_chip() ? "computing_virtual_s" : "computing_s", point.computing},
             {"computing_speedup", base.computing / point.computing},
             {given.on_chip() ? "with_reading_virtual_s" : "with_reading_s", point.whole},
             {"with_reading_speedup", base.whole / point.whole}};
    if (given.on_chip()) row["joules"] = point.energy.value;
    points.push_back(row);
  }
  return {{"query", one.query}, {"rows", one.rows}, {"points", points}};
}

void tpch_study(const paper_options& given) {
  refuse_records(given.chip, "tpch-paper");
  const scc_backend::machine_options on = to_machine_options(given.chip);
  const std::vector<paper_series> all = measure_all(given, on);
  if (given.as_json) {
    json whole{{"schema_version", 2}, {"command", "bench tpch-paper"}, {"backend", given.backend}};
    if (given.on_chip()) {
      whole["chip"] = on.description.name;
      whole["seed"] = on.seed;
    } else {
      whole["runs"] = given.repeat;
    }
    for (const paper_series& one : all) whole["queries"].push_back(to_json(given, one));
    fmt::print("{}\n", with_energy(whole).dump(2));
    return;
  }
  if (given.on_chip()) {
    fmt::print("TPC-H in the published forms on the simulated chip {}, seed {}\n",
               on.description.name, on.seed);
  } else {
    fmt::print("TPC-H in the published forms on host threads, medians of {} runs\n", given.repeat);
  }
  for (const paper_series& one : all) print_series(given, one);
}

}  // namespace

void add_tpch_paper(command_line::command& bench) {
  command_line::command* command =
      bench.add_subcommand("tpch-paper",
                           "Measure TPC-H Q3, Q6, Q12 in the published forms: speed-up by workers, "
                           "or by cores of a chip");
  const auto given = std::make_shared<paper_options>();
  command->add_option("--data", given->folder, "Folder with the tables")->required();
  command->add_option("--query", given->queries, "Queries to run, of q3, q6, q12 (default: all)")
      ->delimiter(',');
  command
      ->add_option("--backend", given->backend,
                   "Where to run: host, in wall time, or scc, in virtual time")
      ->among({"host", "scc"})
      ->show_default();
  command
      ->add_option("--workers", given->ranks,
                   "Numbers of workers or cores, such as 1,4,48 (default: 1, 2, 4, ... and all)")
      ->delimiter(',')
      ->range(1, scheduler_options::max_workers);
  command->add_option("--repeat", given->repeat, "Number of runs on the host; medians are printed")
      ->at_least(1)
      ->show_default();
  command->add_flag("--json", given->as_json, "Print a JSON object");
  add_chip_options(*command, given->chip, {.cores = false});
  command->footer(R"(Examples:
  creek bench tpch-paper --data /data/sf1 --workers 1,2,4
  creek bench tpch-paper --data /data/sf1 --backend scc --query q6)");
  command->callback([given, command] {
    if (given->on_chip()) {
      refuse(*command, {"--repeat"}, "needs --backend host: on scc all runs are the same");
    } else {
      refuse(*command, {"--chip", "--seed", "--trace", "--heatmap", "--check"},
             "needs --backend scc");
    }
    tpch_study(*given);
  });
}

}  // namespace creek::tool
