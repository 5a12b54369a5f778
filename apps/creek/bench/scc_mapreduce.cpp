// SPDX-License-Identifier: Apache-2.0
// The study: four jobs, with and without combiner, on more and more cores of a simulated chip.
// Every result is compared with what one host thread finds without any stage. All times are
// virtual.
#include "scc_mapreduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/mapreduce/ranks.hpp>
#include <creek/mapreduce/word_count.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../chip_mapreduce.hpp"
#include "../chip_options.hpp"
#include "../output_file.hpp"
#include "../progress_line.hpp"
#include "energy.hpp"
#include "mapreduce_jobs.hpp"

namespace creek::tool::bench {
namespace {

using json = nlohmann::ordered_json;

struct study_options {
  chip_options chip;
  std::vector<int> cores{1, 4, 8, 16, 32, 48};
  std::vector<std::string> workloads;
  bool quick = false;
  bool as_json = false;
  std::string csv;
};

/// What is kept of a run.
struct measured {
  int cores = 0;
  virtual_time length;
  stage_uses stages;
  units::joules energy;
  std::uint64_t sent_bytes = 0;
};

/// One job in one regime.
struct job_series {
  std::string workload;
  std::size_t input_bytes = 0;
  bool combined = true;
  std::vector<measured> runs;

  /// How many times faster than on so many cores; nothing if that was not measured.
  [[nodiscard]] std::optional<double> speedup(const measured& run, int against) const {
    const auto base = std::find_if(runs.begin(), runs.end(),
                                   [&](const measured& m) { return m.cores == against; });
    if (base == runs.end()) return std::nullopt;
    return base->length.in_seconds().value / run.length.in_seconds().value;
  }
};

/// A job with its input, its types forgotten.
struct job_to_measure {
  std::string name;
  std::size_t input_bytes = 0;
  std::function<measured(const mapreduce::options&, int, const scc_backend::machine_options&)> run;
};

double milliseconds(virtual_time t) {
  return 1e3 * t.in_seconds().value;
}

/// The records of a job, found without creek: the oracle.
template <class Job, class Input>
std::vector<mapreduce::record_of<Job>> sequential_records(const Job& job, const Input& from) {
  std::map<typename Job::key_type, typename Job::value_type> found;
  auto emit = [&](const typename Job::key_type& key, typename Job::value_type value) {
    const auto [at, fresh] = found.try_emplace(key, value);
    if (!fresh) job.combine(at->second, std::move(value));
  };
  for (std::size_t i = 0; i < from.splits(); ++i) {
    from.visit(i, [&](const auto& split) { job.map(split, emit); });
  }
  std::vector<mapreduce::record_of<Job>> records;
  for (const auto& [key, value] : found) records.push_back({key, value});
  std::sort(records.begin(), records.end(),
            [&](const auto& a, const auto& b) { return comes_before(job, a, b); });
  return records;
}

/// `cut(data, ranks)` makes the input that gives each of so many ranks a split.
template <class Job, class Data, class Cut>
job_to_measure make_workload(std::string name, const Job& job, Data data, Cut cut) {
  auto input = std::make_shared<const Data>(std::move(data));
  auto whole = cut(*input, 1);
  auto expected = std::make_shared<const std::vector<mapreduce::record_of<Job>>>(
      sequential_records(job, whole));
  const std::size_t bytes = whole.bytes();
  return {name, bytes,
          [name, job, input, expected, cut](const mapreduce::options& chosen, int cores,
                                            const scc_backend::machine_options& on) {
            auto from = cut(*input, cores);
            const auto run = run_on_chip(job, from, chosen, cores, on);
            if (run.result.records != *expected) {
              throw error(EILSEQ,
                          fmt::format("scc-mapreduce: {} on {} cores: wrong result", name, cores));
            }
            return measured{cores, run.report.length(), run.stages, run.report.usage.total,
                            run.result.sent_bytes};
          }};
}

mapreduce::text_view cut_text(const std::string& text, int ranks) {
  return mapreduce::text_view(text, mapreduce::even_split(text.size(), ranks));
}
template <class T>
mapreduce::span_input<T> cut_array(const std::vector<T>& data, int ranks) {
  return mapreduce::span_input<T>(data, mapreduce::even_split(data.size(), ranks));
}

/// The names and, made only when asked for, the workloads.
struct offer {
  const char* name;
  job_to_measure (*make)(std::size_t scale);
};
constexpr offer offers[] = {
    {"word-count",
     [](std::size_t scale) {
       return make_workload("word-count", mapreduce::word_count{},
                            creek_bench::zipf_text(scale * 400'000, 20'000), cut_text);
     }},
    {"histogram",
     [](std::size_t scale) {
       return make_workload("histogram", histogram{}, random_pixels(scale * 20'000),
                            cut_array<pixel>);
     }},
    {"linear-regression",
     [](std::size_t scale) {
       return make_workload("linear-regression", linear_regression{},
                            random_samples(scale * 100'000), cut_array<sample>);
     }},
    {"k-means",
     [](std::size_t scale) {
       return make_workload("k-means", random_centres(), random_points(scale * 10'000),
                            cut_array<point>);
     }},
};

/// Throws usage_error for names and numbers that there are not, before any work.
void check(const study_options& given, const scc_backend::machine_options& on) {
  refuse_records(given.chip, "scc-mapreduce");
  for (const std::string& name : given.workloads) {
    if (std::none_of(std::begin(offers), std::end(offers),
                     [&](const offer& o) { return name == o.name; })) {
      throw usage_error("unknown workload '" + name + "'");
    }
  }
  for (const int cores : given.cores) {
    if (cores < 1 || cores > on.description.cores()) {
      throw usage_error(fmt::format("--cores {}: chip '{}' has 1 to {}", cores, on.description.name,
                                    on.description.cores()));
    }
  }
}

std::vector<job_series> measure(const study_options& given,
                                const scc_backend::machine_options& on) {
  std::vector<job_series> all;
  progress_line line;
  for (const offer& o : offers) {
    const auto& wanted = given.workloads;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), o.name) == wanted.end()) {
      continue;
    }
    const job_to_measure what = o.make(given.quick ? 1 : 10);
    for (const bool combined : {true, false}) {
      job_series one{what.name, what.input_bytes, combined, {}};
      mapreduce::options chosen;
      if (!combined) chosen.how = mapreduce::strategy::emit_and_group;
      for (const int cores : given.cores) {
        line.show(fmt::format("{}, {} cores", what.name, cores));
        one.runs.push_back(what.run(chosen, cores, on));
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string times(std::optional<double> factor) {
  return factor ? fmt::format("{:.2f}", *factor) : "-";
}

void print_series(const job_series& one) {
  fmt::print("\n{}, {:.1f} MB, {} combiner (virtual ms; of stages the slowest core's)\n",
             one.workload, static_cast<double>(one.input_bytes) / 1e6,
             one.combined ? "with" : "without");
  fmt::print("{:>5} {:>10}", "cores", "total");
  for (const char* stage : mapreduce::stage_names) fmt::print(" {:>9}", stage);
  fmt::print(" {:>7} {:>7} {:>9} {:>8}\n", "x 1", "x 4", "mJ", "MB sent");
  for (const measured& run : one.runs) {
    fmt::print("{:>5} {:>10.3f}", run.cores, milliseconds(run.length));
    for (const stage_use& stage : run.stages) fmt::print(" {:>9.3f}", milliseconds(stage.longest));
    fmt::print(" {:>7} {:>7} {:>9.1f} {:>8.2f}\n", times(one.speedup(run, 1)),
               times(one.speedup(run, 4)), 1e3 * run.energy.value,
               static_cast<double>(run.sent_bytes) / 1e6);
  }
}

json number_or_null(std::optional<double> factor) {
  return factor ? json(*factor) : json();
}

json to_json(const job_series& one) {
  json runs = json::array();
  for (const measured& run : one.runs) {
    json stages = json::object();
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      stages[mapreduce::stage_names[i]] = {{"longest", milliseconds(run.stages[i].longest)},
                                           {"median", milliseconds(run.stages[i].median)},
                                           {"shortest", milliseconds(run.stages[i].shortest)},
                                           {"joules", run.stages[i].energy.value}};
    }
    runs.push_back({{"cores", run.cores},
                    {"virtual_ms", milliseconds(run.length)},
                    {"stages_virtual_ms", stages},
                    {"speedup_1", number_or_null(one.speedup(run, 1))},
                    {"speedup_4", number_or_null(one.speedup(run, 4))},
                    {"joules", run.energy.value},
                    {"sent_bytes", run.sent_bytes}});
  }
  return {{"workload", one.workload},
          {"input_bytes", one.input_bytes},
          {"combiner", one.combined},
          {"runs", runs}};
}

std::string to_csv(const std::vector<job_series>& all) {
  std::string out = "workload,combiner,cores,virtual_ms";
  for (const char* stage : mapreduce::stage_names) out += fmt::format(",{}_virtual_ms", stage);
  out += ",speedup_1,speedup_4,joules,sent_bytes\n";
  const auto cell = [](std::optional<double> v) { return v ? fmt::format("{}", *v) : ""; };
  for (const job_series& one : all) {
    for (const measured& run : one.runs) {
      out += fmt::format("{},{},{},{}", one.workload, one.combined ? "yes" : "no", run.cores,
                         milliseconds(run.length));
      for (const stage_use& stage : run.stages) {
        out += fmt::format(",{}", milliseconds(stage.longest));
      }
      out += fmt::format(",{},{},{},{}\n", cell(one.speedup(run, 1)), cell(one.speedup(run, 4)),
                         run.energy.value, run.sent_bytes);
    }
  }
  return out;
}

void study(const study_options& given) {
  const scc_backend::machine_options on = to_machine_options(given.chip);
  check(given, on);
  output_file csv(given.csv);
  const std::vector<job_series> all = measure(given, on);
  csv.write(to_csv(all));
  if (given.as_json) {
    json whole{{"schema", "creek-scc-mapreduce"}, {"schema_version", 1},
               {"chip", on.description.name},     {"seed", on.seed},
               {"clock", given.chip.clock},       {"series", json::array()}};
    if (on.cycles_a_host_second > 0) whole["cycles_a_host_second"] = on.cycles_a_host_second;
    for (const job_series& one : all) whole["series"].push_back(to_json(one));
    fmt::print("{}\n", with_energy(whole).dump(2));
    return;
  }
  fmt::print("MapReduce on the simulated chip {}, seed {}, {} clock\n", on.description.name,
             on.seed, given.chip.clock);
  for (const job_series& one : all) print_series(one);
}

}  // namespace

void add_scc_mapreduce(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "scc-mapreduce", "MapReduce on a simulated chip: stages, speed-up and energy by cores");
  const auto given = std::make_shared<study_options>();
  add_chip_options(*command, given->chip, {.cores = false, .clock = true});
  command->add_option("--cores", given->cores, "Numbers of cores, such as 1,4,48")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--workload", given->workloads,
                   "Only these of word-count, histogram, linear-regression, k-means")
      ->delimiter(',');
  command->add_flag("--quick", given->quick, "A tenth of the input");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_option("--csv", given->csv, "Write the figures to FILE")->type_name("FILE");
  command->callback([given] { study(*given); });
}

}  // namespace creek::tool::bench
