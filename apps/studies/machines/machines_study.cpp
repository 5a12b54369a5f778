// SPDX-License-Identifier: Apache-2.0
// `creek bench machines`: word count, LU and stealing on many ranks, predicted by a model of their
// messages. All times are simulated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

#include "command_line/command.hpp"
#include "constants.hpp"
#include "json/json_value.hpp"
#include "lu_model.hpp"
#include "options/distinct.hpp"
#include "output/energy.hpp"
#include "output/progress_line.hpp"
#include "rates.hpp"
#include "stealing_model.hpp"
#include "studies/studies.hpp"
#include "word_count_model.hpp"

namespace creek::tool {
namespace {

using namespace machines;
using json = json_value;

constexpr const char* notes = R"(
Ranks are simulated in one process: their messages are those of creek on MPI, by size and order, and
what they compute is charged by rates. Nothing of it is measured here: --set gives other rates and
another network. Speed-up is that over one rank. docs/machines.md says what is modelled and what is
not.

Examples:
  creek bench machines --job lu -n 32768 --ranks 64,256,1024
  creek bench machines --job lu -n 4000 --ranks 2 --grid-rows 2 --network memory
  creek bench machines --job wordcount --gigabytes 1 --top 0 --network tcp --json
  creek bench machines --job stealing --set node_ns=500 --set latency_us=2
  creek bench machines --rates)";

const std::vector<std::string> all_jobs{"wordcount", "lu", "stealing"};

struct plan {
  std::vector<std::string> jobs = all_jobs;
  std::string network = "aries";
  std::vector<int> ranks{2, 16, 64, 256, 1024};
  std::vector<std::string> changes;
  double gigabytes = 64;
  long long n = 16384, block = 64;
  int depth = 14, workers = 1, top = 10, grid_rows = 0;
  std::uint64_t seed = 1;
  bool rates = false, as_json = false;
};

struct row {
  int ranks = 1;
  std::string size;
  double seconds = 0;
  double speedup = 1;
  double computing = 0;  ///< share of the ranks' time, mean
  std::uint64_t messages = 0, bytes = 0;
  [[nodiscard]] double efficiency() const { return speedup / ranks; }
};

/// Returns the rows of the grid: those given if they divide the ranks, or else of the squarest one.
int rows_of(const plan& given, int ranks) {
  int rows = given.grid_rows != 0 && ranks % given.grid_rows == 0
                 ? given.grid_rows
                 : static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return rows;
}

class study {
 public:
  study(const plan& given, const constants& costs) : given_(given), costs_(costs) {}

  std::vector<row> run(const std::string& job) {
    const double alone = run_on(job, 1).seconds;
    std::vector<row> rows;
    for (const int ranks : given_.ranks) {
      line_.show(fmt::format("{}, {} ranks", job, ranks));
      rows.push_back(run_on(job, ranks));
      rows.back().speedup = alone / rows.back().seconds;
    }
    return rows;
  }

 private:
  row run_on(const std::string& job, int ranks) {
    row made;
    made.ranks = ranks;
    rank_simulation simulation(ranks, costs_);
    if (job == "wordcount") {
      count_words(simulation, made);
    } else if (job == "lu") {
      factor(simulation, made);
    } else {
      search(simulation, made);
    }
    made.seconds = simulation.end().in_seconds().value;
    double computed = 0;
    for (int i = 0; i < ranks; ++i) computed += simulation.computed(i).in_seconds().value;
    made.computing = computed / made.seconds / ranks;
    made.messages = simulation.messages();
    made.bytes = simulation.bytes();
    return made;
  }

  void count_words(rank_simulation& on, row& made) const {
    made.size = fmt::format("{:.6g} GB", given_.gigabytes);
    const word_count_sizes sizes =
        sizes_of_text(costs_, given_.gigabytes * 1e9, made.ranks, given_.workers,
                      static_cast<std::uint64_t>(given_.top));
    on.run([&](int rank) {
      model_communicator c(on, rank);
      word_count_rank(c, costs_, sizes);
    });
  }

  void factor(rank_simulation& on, row& made) const {
    const linalg::index_t n = given_.n;
    const int rows = rows_of(given_, made.ranks);
    const int cols = made.ranks / rows;
    made.size = fmt::format("{} on {} x {}", n, rows, cols);
    const lu_problem problem(n, given_.block, rows, cols,
                             [n](linalg::index_t i) { return random_pivot(i, n); });
    on.run([&](int rank) {
      model_communicator c(on, rank);
      lu_rank(c, costs_, problem);
    });
  }

  void search(rank_simulation& on, row& made) const {
    search_outcome found;
    on.run([&](int rank) {
      model_communicator c(on, rank);
      search_rank(c, costs_, {.depth_limit = given_.depth, .seed = given_.seed}, found);
    });
    made.size = fmt::format("{} nodes", found.nodes);
  }

  const plan& given_;
  constants costs_;
  progress_line line_;
};

/// Returns the last number of ranks up to which each step of the list gains at least a tenth.
int gains_until(const std::vector<row>& rows) {
  int last = rows.front().ranks;
  for (std::size_t i = 1; i < rows.size() && rows[i].speedup >= 1.1 * rows[i - 1].speedup; ++i) {
    last = rows[i].ranks;
  }
  return last;
}
/// Returns the largest number of ranks with an efficiency of at least a half, or 0.
int efficient_until(const std::vector<row>& rows) {
  int last = 0;
  for (const row& each : rows) {
    if (each.efficiency() >= 0.5) last = std::max(last, each.ranks);
  }
  return last;
}

void print(const plan& given, const std::string& job, const std::vector<row>& rows) {
  fmt::print("{}, network {}; simulated time\n", job, given.network);
  fmt::print("{:>6}  {:<20} {:>12} {:>9} {:>10} {:>9} {:>12} {:>11}\n", "ranks", "size",
             "simulated s", "speed-up", "efficiency", "computing", "messages", "MB per rank");
  for (const row& each : rows) {
    fmt::print("{:>6}  {:<20} {:>12.5g} {:>9.2f} {:>10.3f} {:>8.1f}% {:>12} {:>11.4g}\n",
               each.ranks, each.size, each.seconds, each.speedup, each.efficiency(),
               100 * each.computing, each.messages,
               static_cast<double>(each.bytes) / 1e6 / each.ranks);
  }
  fmt::print("each step gains at least a tenth up to {} ranks; efficiency of a half up to {}\n\n",
             gains_until(rows), efficient_until(rows));
}

json to_json(const std::string& job, const std::vector<row>& rows) {
  json whole{{"job", job},
             {"gains_until", gains_until(rows)},
             {"efficient_until", efficient_until(rows)},
             {"rows", json::array()}};
  for (const row& each : rows) {
    whole["rows"].push_back({{"ranks", each.ranks},
                             {"size", each.size},
                             {"simulated_s", each.seconds},
                             {"speedup", each.speedup},
                             {"efficiency", each.efficiency()},
                             {"computing", each.computing},
                             {"messages", each.messages},
                             {"message_bytes", each.bytes}});
  }
  return whole;
}

/// Prints the rates of this machine in the form that --set takes.
void print_rates(const plan& given, const constants& costs) {
  const constants measured = measured_rates(costs, given.block);
  fmt::print("# processor time of this machine, the shortest of five rounds\n");
  for (const constant& each : all_constants()) {
    if (each.is_a_rate()) fmt::print("--set {}={:.4g}\n", each.name, measured.*(each.member));
  }
}

void run_study(const plan& given) {
  require_distinct("--ranks", given.ranks);
  require_distinct("--job", given.jobs);
  for (const std::string& job : given.jobs) {
    if (std::ranges::find(all_jobs, job) == all_jobs.end()) {
      throw usage_error("--job must be wordcount, lu or stealing, got '" + job + "'");
    }
  }
  if (!std::ranges::is_sorted(given.ranks)) throw usage_error("--ranks must be in rising order");
  if (given.rates && given.as_json) throw usage_error("--json: not with --rates");
  constants costs = with_network(given.network);
  for (const std::string& each : given.changes) set_constant(costs, each);
  if (given.rates) return print_rates(given, costs);
  study all(given, costs);
  json whole{{"schema_version", 1},  {"command", "bench machines"},  {"network", given.network},
             {"block", given.block}, {"workers", given.workers},     {"top", given.top},
             {"seed", given.seed},   {"grid_rows", given.grid_rows}, {"constants", json::array()},
             {"jobs", json::array()}};
  for (const constant& each : all_constants()) {
    whole["constants"].push_back({{"name", std::string(each.name)},
                                  {"value", costs.*(each.member)},
                                  {"meaning", std::string(each.meaning)}});
  }
  for (const std::string& job : given.jobs) {
    const std::vector<row> rows = all.run(job);
    given.as_json ? whole["jobs"].push_back(to_json(job, rows)) : print(given, job, rows);
  }
  if (given.as_json) fmt::print("{}\n", with_energy(whole).dump(2));
}

}  // namespace

void add_machines(command_line::command& bench) {
  command_line::command* command = bench.add_subcommand(
      "machines", "Predict word count, LU and stealing on up to 1024 ranks by a model of messages");
  const auto given = std::make_shared<plan>();
  command->add_option("--job", given->jobs, "What to run: wordcount, lu, stealing")
      ->delimiter(',')
      ->suggest(all_jobs);
  command->add_option("--ranks", given->ranks, "Numbers of ranks, in rising order")
      ->delimiter(',')
      ->range(1, 4096);
  command
      ->add_option("--network", given->network,
                   "aries: published figures of a Cray XC; tcp, memory: measured on one machine")
      ->among({"aries", "tcp", "memory"})
      ->show_default();
  command->add_option("--set", given->changes, "Change a constant of the model")
      ->type_name("NAME=VALUE")
      ->one_word();
  command->add_option("--gigabytes", given->gigabytes, "Word count: text")
      ->range(1e-3, 1e6)
      ->show_default();
  command
      ->add_option("--top", given->top,
                   "Word count: words of the result, the most frequent; 0: all of them")
      ->range(0, 1'000'000'000)
      ->show_default();
  command->add_option("--workers", given->workers, "Word count: workers per rank")
      ->range(1, 64)
      ->show_default();
  command->add_option("-n", given->n, "LU: size of the matrix")->range(64, 1 << 20)->show_default();
  command->add_option("--block", given->block, "LU: columns of a panel")
      ->range(8, 1024)
      ->show_default();
  command
      ->add_option("--grid-rows", given->grid_rows,
                   "LU: rows of the grid of ranks that it divides; 0: squarest grids")
      ->range(0, 4096)
      ->show_default();
  command->add_option("--depth", given->depth, "Stealing: depth of the tree")
      ->range(2, 18)
      ->show_default();
  command->add_option("--seed", given->seed, "Stealing: seed of the random victims")
      ->show_default();
  command->add_flag("--rates", given->rates,
                    "Measure the rates of this machine instead, in processor time, and print them");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->footer(notes);
  command->callback([given] { run_study(*given); });
}

}  // namespace creek::tool
