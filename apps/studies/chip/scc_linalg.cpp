// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-linalg`: time and energy of factorizations by blocks in the shared memory of a
// simulated chip, by power policy, number of cores and block size.

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/linalg/residual.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <support/median.hpp>
#include <utility>
#include <vector>

#include "chip/chip_options.hpp"
#include "chip_dense.hpp"
#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "json/json_value.hpp"
#include "options/policy_options.hpp"
#include "output/energy.hpp"
#include "output/progress_line.hpp"
#include "scc_messages.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using json = json_value;
using method_name = std::pair<std::string, dense::method>;

constexpr const char* notes = R"(
Block kernels really run and are charged by flops. Blocks move to and from uncached shared memory
(with --moves combined, as MPBT memory), with the contention of controllers and ranks. Time is
simulated; energy is that of the whole chip while the matrix is factored. Differences are to the
first policy with the same size, block, number of cores and schedule. slack_reduction plans with the
times of the tasks under the policy before it. A run of n = 4096 takes tens of seconds.

  creek bench scc-linalg -n 1024 --block 32,64 --cores 48
  creek bench scc-linalg -n 1024 --block 64 --cores 1,8,48 --policy polling,blocking --json)";

struct plan {
  std::string problem = "lu";
  std::vector<long long> sizes{1024, 2048}, blocks{64};
  std::vector<unsigned> cores{48};
  std::vector<std::string> policies{"polling",      "blocking",        "frequency",
                                    "race_to_idle", "slack_reduction", "energy_delay"};
  std::string memory = "shared", moves = "uncached";
  policy_limits limits;
  int runs = 1;
  bool as_json = false, no_check = false;
  chip_options chip;
};

/// One row of the table: medians over the runs.
struct row {
  long long n, block;
  unsigned cores;
  std::string policy;
  double seconds = 0, joules = 0;
  double more_time = 0, more_energy = 0;  ///< shares relative to the first policy, in pairs
  std::optional<double> speedup = {};     ///< relative to one core with the first policy
  std::vector<double> activity = {};      ///< time shares in the first run
  std::size_t tasks = 0;
  std::uint64_t halts = 0;
  std::optional<double> residual = {};  ///< largest one
  bool right = true;
};

class study {
 public:
  explicit study(const plan& given) : given_(given) {
    problem_.how = std::ranges::find(dense::methods, given.problem, &method_name::first)->second;
    problem_.on = to_machine_options(given.chip);
    problem_.on.blocks = given.moves == "combined" ? scc_backend::block_moves::combined
                                                   : scc_backend::block_moves::uncached;
    problem_.by_messages = given.memory == "messages";
    problem_.limits = given.limits;
    problem_.check = !given.no_check;
    if (given.chip.seed != 0) first_seed_ = given.chip.seed;
    for (const std::string& each : given.policies) {
      if (each == "slack_reduction") continue;  // needs a schedule that run() provides
      (void)policy_named(each, given.limits);
    }
  }

  std::vector<row> run() {
    for (const long long n : given_.sizes) {
      for (const long long block : given_.blocks) {
        one_core_ = std::nullopt;
        for (const unsigned cores : given_.cores) run_policies(n, block, cores);
      }
    }
    return std::move(rows_);
  }

 private:
  /// Runs every policy once for each seed of the schedule, seed by seed, so that differences are
  /// between pairs.
  void run_policies(long long n, long long block, unsigned cores) {
    if (problem_.by_messages && block == 0) block = message_block(n, static_cast<int>(cores));
    problem_.n = n;
    problem_.block = block;
    problem_.cores = cores;
    std::vector<std::vector<chip_dense_run>> runs(given_.policies.size());
    for (int i = 0; i < given_.runs; ++i) {
      problem_.on.seed = first_seed_ + static_cast<std::uint64_t>(i);
      for (std::size_t p = 0; p < given_.policies.size(); ++p) {
        problem_.policy = given_.policies[p];
        line_.show(fmt::format("n {}, block {}, {} cores, {}, run {}", n, block, cores,
                               problem_.policy, i + 1));
        problem_.before = p > 0 ? &runs[p - 1].back().graph : nullptr;
        runs[p].push_back(run_on_chip(problem_));
      }
    }
    for (std::size_t p = 0; p < runs.size(); ++p) add_row(runs[p], runs.front(), p);
  }

  void add_row(std::vector<chip_dense_run>& runs, const std::vector<chip_dense_run>& base,
               std::size_t policy) {
    std::vector<double> times, energies, more_time, more_energy;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      times.push_back(runs[i].time.value);
      energies.push_back(runs[i].energy.value);
      more_time.push_back(runs[i].time.value / base[i].time.value - 1);
      more_energy.push_back(runs[i].energy.value / base[i].energy.value - 1);
    }
    row made{problem_.n, problem_.block, problem_.cores, given_.policies[policy]};
    made.seconds = ::bench::median(times);
    made.joules = ::bench::median(energies);
    made.more_time = ::bench::median(more_time);
    made.more_energy = ::bench::median(more_energy);
    if (problem_.cores == 1 && policy == 0) one_core_ = made.seconds;
    if (one_core_) made.speedup = *one_core_ / made.seconds;
    made.activity = linalg::activity(runs.front().graph.runs, problem_.cores);
    made.tasks = runs.front().graph.tasks;
    made.halts = runs.front().report.counters[counter::parks];
    for (const chip_dense_run& each : runs) {
      made.right = made.right && each.info == 0 && (!each.checked || linalg::passes(each.residual));
      if (each.checked) made.residual = std::max(made.residual.value_or(0), each.residual);
    }
    rows_.push_back(std::move(made));
  }

  const plan& given_;
  chip_dense_problem problem_;
  std::uint64_t first_seed_ = 1;  ///< seed of the first run's schedule
  std::optional<double> one_core_;
  std::vector<row> rows_;
  progress_line line_;
};

void print(const plan& given, const std::vector<row>& rows) {
  const bool shared = given.memory == "shared";
  fmt::print("{} {} of the simulated chip {}, median of {}\n\n", given.problem,
             shared ? fmt::format("in shared memory ({})", given.moves)
                    : std::string("by messages between the cores"),
             given.chip.chip, given.runs);
  fmt::print("{:>6} {:>5} {:>5}  {:<16} {:>10} {:>8} {:>10} {:>8} {:>11} {:>8} {:>8} {:>8}\n", "n",
             "block", "cores", "policy", "seconds", "speed-up", "joules", "watts", "J s", "time",
             "energy", "residual");
  for (const row& each : rows) {
    fmt::print(
        "{:>6} {:>5} {:>5}  {:<16} {:>10.5g} {:>8} {:>10.5g} {:>8.4g} {:>11.5g} {:>+7.2f}% "
        "{:>+7.2f}% {:>8}\n",
        each.n, each.block, each.cores, each.policy, each.seconds,
        each.speedup ? fmt::format("{:.2f}", *each.speedup) : "-", each.joules,
        each.joules / each.seconds, each.joules * each.seconds, 100 * each.more_time,
        100 * each.more_energy, each.residual ? fmt::format("{:.2g}", *each.residual) : "-");
  }
}

json to_json(const plan& given, const std::vector<row>& rows) {
  const auto or_null = [](std::optional<double> figure) { return figure ? json(*figure) : json(); };
  const bool shared = given.memory == "shared";  // otherwise no tasks, and no blocks to move
  json whole{{"schema_version", 2},      {"command", "bench scc-linalg"},
             {"problem", given.problem}, {"chip", given.chip.chip},
             {"memory", given.memory},   {"moves", shared ? json(given.moves) : json()},
             {"runs", given.runs},       {"rows", json::array()}};
  for (const row& each : rows) {
    whole["rows"].push_back({{"n", each.n},
                             {"block", each.block},
                             {"cores", each.cores},
                             {"policy", each.policy},
                             {"simulated_s", each.seconds},
                             {"joules", each.joules},
                             {"joule_seconds", each.joules * each.seconds},
                             {"speedup", or_null(each.speedup)},
                             {"more_time", each.more_time},
                             {"more_energy", each.more_energy},
                             {"tasks", shared ? json(each.tasks) : json()},
                             {"halts", shared ? json(each.halts) : json()},
                             {"activity", shared ? json(each.activity) : json()},
                             {"residual", or_null(each.residual)}});
  }
  return whole;
}

int run_study(const plan& given) {
  refuse_records(given.chip, "bench scc-linalg");
  const std::vector<row> rows = study(given).run();
  if (given.as_json) {
    fmt::print("{}\n", with_energy(to_json(given, rows)).dump(2));
  } else {
    print(given, rows);
  }
  if (std::all_of(rows.begin(), rows.end(), [](const row& each) { return each.right; })) return 0;
  std::fflush(stdout);
  command_line::print_error("creek: bench scc-linalg: a residual fails");
  return 1;
}

}  // namespace

void add_scc_linalg(command_line::command& bench, int& exit_code) {
  command_line::command* command = bench.add_subcommand(
      "scc-linalg", "Measure LU, Cholesky and QR by blocks on the simulated chip: time and energy");
  const auto given = std::make_shared<plan>();
  command
      ->add_option("--problem", given->problem,
                   "What to compute: lu (partial pivoting), chol or qr")
      ->among({"lu", "chol", "qr"})
      ->show_default();
  command->add_option("-n", given->sizes, "Sizes of the matrix")->delimiter(',')->at_least(1);
  command
      ->add_option("--block", given->blocks,
                   "Columns per block, 8 to n; with --memory messages 0 chooses by the size")
      ->delimiter(',')
      ->at_least(0);
  command->add_option("--cores", given->cores, "Numbers of cores, such as 1,8,48")
      ->delimiter(',')
      ->range(1, 1 << 16);
  command->add_option("--policy", given->policies, "Power policies; the first is the baseline")
      ->delimiter(',');
  command
      ->add_option("--memory", given->memory,
                   "Where the matrix is: in shared memory, or in the cores' own memories "
                   "(messages; see scc-linalg-messages)")
      ->among({"shared", "messages"})
      ->show_default();
  command
      ->add_option("--moves", given->moves,
                   "How shared blocks are moved: word by word (uncached) or in lines (combined)")
      ->among({"uncached", "combined"})
      ->show_default();
  add_policy_limits(*command, given->limits);
  command
      ->add_option("--runs", given->runs,
                   "Number of schedules, each from its own seed; medians are shown")
      ->positive()
      ->show_default();
  command->add_flag("--no-check", given->no_check, "Compute no residuals");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  add_chip_options(*command, given->chip, {.cores = false});
  command->footer(notes);
  command->callback([given, command, &exit_code] {
    for (std::string& policy : given->policies) policy = spelt_policy(std::move(policy));
    if (given->memory == "messages") {  // has no tasks to plan, and column blocks
      if (command->count("--moves") > 0) {
        throw usage_error(
            "--moves: not with --memory messages, which has no blocks in shared memory");
      }
      if (command->count("--policy") == 0) std::erase(given->policies, "slack_reduction");
      if (command->count("--block") == 0) given->blocks = {0};
    }
    refuse_without_policy(*command, given->policies);
    exit_code = run_study(*given);
  });
}

}  // namespace creek::tool
