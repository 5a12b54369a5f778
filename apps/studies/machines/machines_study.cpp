// SPDX-License-Identifier: Apache-2.0
// `creek bench machines`: word count, LU and a search with stealing on many ranks, predicted by a
// model of their messages. All times are simulated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>

#include "command_line/command.hpp"
#include "constants.hpp"
#include "lu_model.hpp"
#include "options/distinct.hpp"
#include "output/progress_line.hpp"
#include "rates.hpp"
#include "stealing_model.hpp"
#include "studies/studies.hpp"
#include "word_count_model.hpp"

namespace creek::tool {
namespace {

using namespace machines;

constexpr const char* notes = R"(
Ranks are simulated in one process: their messages are those of creek on MPI, by size and order, and
what they compute is charged by rates. Nothing of it is measured here: --set gives other rates and
another network. With --scaling weak the sizes are those of one rank: the text and the nodes grow
with the ranks, n with their square root. docs/machines.md says what is modelled and what is not.

  creek bench machines --job lu -n 32768 --ranks 1,64,256,1024
  creek bench machines --job wordcount --scaling weak --gigabytes 1 --network tcp
  creek bench machines --job search --set node_ns=500 --set latency_us=2)";

struct plan {
  std::vector<std::string> jobs{"wordcount", "lu", "search-random", "search-lifelines"};
  std::string scaling = "strong", network = "aries";
  std::vector<int> ranks{1, 4, 16, 64, 256, 1024};
  std::vector<std::string> changes;
  double gigabytes = 64;
  long long n = 16384, block = 64;
  int depth = 13, workers = 1, top = 10;
  bool rates = false;
};

struct row {
  int ranks = 1;
  std::string size;
  double work = 0;  ///< in units of the job
  double seconds = 0;
  double computing = 0;  ///< share of the ranks' time, mean
  std::uint64_t messages = 0, bytes = 0;
  double speedup = 1;
  [[nodiscard]] double efficiency() const { return speedup / ranks; }
};

class study {
 public:
  explicit study(const plan& given) : given_(given), costs_(with_network(given.network)) {
    for (const std::string& each : given.changes) set_constant(costs_, each);
  }
  [[nodiscard]] const constants& costs() const { return costs_; }

  std::vector<row> run(const std::string& job) {
    row alone = run_on(job, 1);
    std::vector<row> made;
    for (const int ranks : given_.ranks) {
      line_.show(fmt::format("{}, {} ranks", job, ranks));
      made.push_back(ranks == 1 ? alone : run_on(job, ranks));
      made.back().speedup = made.back().work / made.back().seconds / (alone.work / alone.seconds);
    }
    return made;
  }

 private:
  [[nodiscard]] bool is_weak() const { return given_.scaling == "weak"; }

  row run_on(const std::string& job, int ranks) {
    row made;
    made.ranks = ranks;
    rank_simulation simulation(ranks, costs_);
    if (job == "wordcount") {
      count_words(simulation, made);
    } else if (job == "lu") {
      factor(simulation, made);
    } else {
      search(simulation, made,
             job == "search-random" ? victim_choice::random : victim_choice::lifelines);
    }
    if (made.seconds == 0) made.seconds = simulation.end().in_seconds().value;
    double computed = 0;
    for (int i = 0; i < ranks; ++i) computed += simulation.computed(i).in_seconds().value;
    made.computing = computed / made.seconds / ranks;
    made.messages = simulation.messages();
    made.bytes = simulation.bytes();
    return made;
  }

  void count_words(rank_simulation& on, row& made) {
    made.work = given_.gigabytes * 1e9 * (is_weak() ? made.ranks : 1);
    made.size = fmt::format("{:.6g} GB", made.work / 1e9);
    const word_count_sizes sizes = sizes_of_text(costs_, made.work, made.ranks, given_.workers,
                                                 static_cast<std::uint64_t>(given_.top));
    on.run([&](int rank) {
      model_communicator c(on, rank);
      word_count_rank(c, costs_, sizes);
    });
  }

  void factor(rank_simulation& on, row& made) {
    auto n = static_cast<linalg::index_t>(given_.n);
    if (is_weak()) {
      n = std::llround(static_cast<double>(n) * std::sqrt(made.ranks) /
                       static_cast<double>(given_.block)) *
          given_.block;
    }
    int rows = static_cast<int>(std::sqrt(made.ranks));
    while (made.ranks % rows != 0) --rows;
    const int cols = made.ranks / rows;
    made.work = std::pow(static_cast<double>(n), 3);
    made.size = fmt::format("{} on {} x {}", n, rows, cols);
    const lu_problem problem(n, given_.block, rows, cols,
                             [n](linalg::index_t i) { return random_pivot(i, n); });
    on.run([&](int rank) {
      model_communicator c(on, rank);
      lu_rank(c, costs_, problem);
    });
  }

  void search(rank_simulation& on, row& made, victim_choice victims) {
    tree_search wanted{.depth_limit = given_.depth, .victims = victims};
    if (is_weak()) {  // the number of nodes is about 4 to the depth
      wanted.depth_limit += static_cast<int>(std::lround(std::log2(made.ranks) / 2));
    }
    search_outcome found;
    on.run([&](int rank) {
      model_communicator c(on, rank);
      search_rank(c, costs_, wanted, found);
    });
    made.work = static_cast<double>(found.expanded);
    made.seconds = found.last_node.in_seconds().value;
    made.size = fmt::format("{} nodes", found.expanded);
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
  fmt::print("{}, {} scaling, network {}; simulated time\n", job, given.scaling, given.network);
  fmt::print("{:>6}  {:<20} {:>12} {:>9} {:>10} {:>9} {:>12} {:>10}\n", "ranks", "size",
             "simulated s", "speed-up", "efficiency", "computing", "messages", "MB a rank");
  for (const row& each : rows) {
    fmt::print("{:>6}  {:<20} {:>12.5g} {:>9.2f} {:>10.3f} {:>8.1f}% {:>12} {:>10.4g}\n",
               each.ranks, each.size, each.seconds, each.speedup, each.efficiency(),
               100 * each.computing, each.messages,
               static_cast<double>(each.bytes) / 1e6 / each.ranks);
  }
  fmt::print("gains at least a tenth per step up to {} ranks; efficiency of a half up to {}\n\n",
             gains_until(rows), efficient_until(rows));
}

/// Prints the rates of this machine in the form that --set takes.
void print_rates(const plan& given) {
  const constants measured = measured_rates(with_network(given.network), given.block);
  fmt::print("# processor time of this machine, medians\n");
  for (const constant& each : all_constants()) {
    if (each.is_a_rate()) fmt::print("--set {}={:.4g}\n", each.name, measured.*(each.member));
  }
}

void run_study(const plan& given) {
  if (given.rates) return print_rates(given);
  require_distinct("--ranks", given.ranks);
  study all(given);
  for (const std::string& job : given.jobs) print(given, job, all.run(job));
}

}  // namespace

void add_machines(command_line::command& bench) {
  command_line::command* command = bench.add_subcommand(
      "machines", "Predict word count, LU and stealing on up to 1024 ranks by a model of messages");
  const auto given = std::make_shared<plan>();
  command->add_option("--job", given->jobs, "What to run")
      ->delimiter(',')
      ->among({"wordcount", "lu", "search-random", "search-lifelines"});
  command
      ->add_option("--scaling", given->scaling,
                   "strong: one size for all; weak: a size that grows with the ranks")
      ->among({"strong", "weak"})
      ->show_default();
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
      ->positive()
      ->show_default();
  command->add_option("-n", given->n, "LU: size of the matrix")->range(64, 1 << 20)->show_default();
  command->add_option("--block", given->block, "LU: columns of a panel")
      ->range(8, 1024)
      ->show_default();
  command->add_option("--depth", given->depth, "Search: depth of the tree")
      ->range(2, 16)
      ->show_default();
  command->add_option("--workers", given->workers, "Word count: workers per rank")
      ->range(1, 64)
      ->show_default();
  command
      ->add_option("--top", given->top,
                   "Word count: words of the result, the most frequent; 0: all of them")
      ->range(0, 1'000'000'000)
      ->show_default();
  command->add_flag("--rates", given->rates,
                    "Measure the rates of this machine instead, in processor time, and print them");
  command->footer(notes);
  command->callback([given] { run_study(*given); });
}

}  // namespace creek::tool
