// SPDX-License-Identifier: Apache-2.0
#include "scc_linalg.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <creek/core/error.hpp>
#include <creek/linalg/residual.hpp>
#include <creek/power/policies.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "../chip_dense.hpp"
#include "../chip_options.hpp"
#include "../energy.hpp"
#include "../progress_line.hpp"

namespace creek::tool {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* notes = R"(
Block kernels run for real and are charged by flops; blocks move to and from uncached shared memory
(--moves combined: as MPBT memory), with the contention of controllers and ranks. Time is simulated,
energy that of the whole chip while the matrix is factored. Differences are to the first policy of
the same size, block and number of cores. slack_reduction plans with the times that the tasks took
under the policy before it. A run of n = 4096 takes this machine tens of seconds.

  creek bench scc-linalg -n 1024 --block 32,64 --cores 48
  creek bench scc-linalg -n 1024 --block 64 --cores 1,8,48 --policy polling,blocking --json)";

struct plan {
  std::string problem = "lu";
  std::vector<long long> sizes{1024, 2048}, blocks{64};
  std::vector<unsigned> cores{48};
  std::vector<std::string> policies{"polling",      "blocking",        "frequency",
                                    "race_to_idle", "slack_reduction", "energy_delay"};
  std::string moves = "uncached";
  double watts = 0, bound = 0.02;
  bool as_json = false, no_check = false;
  chip_options chip;
};

struct row {
  long long n, block;
  unsigned cores;
  std::string policy;
  chip_dense_run run;
  std::optional<double> speedup;          ///< over one core with the first policy
  double more_time = 0, more_energy = 0;  ///< shares, against the first policy
};

dense::method method_of(const std::string& problem) {
  if (problem == "lu") return dense::method::lu;
  return problem == "chol" ? dense::method::chol : dense::method::qr;
}

class study {
 public:
  explicit study(const plan& given) : given_(given) {
    problem_.how = method_of(given.problem);
    problem_.on = to_machine_options(given.chip);
    problem_.on.blocks = given.moves == "combined" ? scc_backend::block_moves::combined
                                                   : scc_backend::block_moves::uncached;
    problem_.watts = given.watts;
    problem_.bound = given.bound;
    problem_.check = !given.no_check;
    for (const std::string& each : given.policies) {
      if (each == "slack_reduction" || each == "power_cap") continue;  // lack what run() gives them
      (void)power::make_policy(each);
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
  void run_policies(long long n, long long block, unsigned cores) {
    problem_.n = n;
    problem_.block = block;
    problem_.cores = cores;
    const std::size_t first = rows_.size();
    for (const std::string& policy : given_.policies) {
      line_.show(fmt::format("n {}, block {}, {} cores, {}", n, block, cores, policy));
      problem_.policy = policy;
      problem_.before = rows_.size() > first ? &rows_.back().run.graph : nullptr;
      row made{n, block, cores, policy, run_on_chip(problem_), {}, 0, 0};
      if (cores == 1 && !one_core_) one_core_ = made.run.time;
      if (one_core_) made.speedup = *one_core_ / made.run.time;
      const chip_dense_run& base = rows_.size() > first ? rows_[first].run : made.run;
      made.more_time = made.run.time / base.time - 1;
      made.more_energy = made.run.energy / base.energy - 1;
      rows_.push_back(std::move(made));
    }
  }

  const plan& given_;
  chip_dense_problem problem_;
  std::optional<units::seconds> one_core_;
  std::vector<row> rows_;
  progress_line line_;
};

void print(const plan& given, const std::vector<row>& rows) {
  fmt::print("{} in shared memory ({}) of the simulated chip {}\n\n", given.problem, given.moves,
             given.chip.chip);
  fmt::print("{:>6} {:>5} {:>5}  {:<16} {:>10} {:>8} {:>10} {:>8} {:>11} {:>8} {:>8} {:>8}\n", "n",
             "block", "cores", "policy", "seconds", "speed-up", "joules", "watts", "J s", "time",
             "energy", "residual");
  for (const row& each : rows) {
    fmt::print(
        "{:>6} {:>5} {:>5}  {:<16} {:>10.4f} {:>8} {:>10.3f} {:>8.2f} {:>11.4f} {:>+7.2f}% "
        "{:>+7.2f}% "
        "{:>8}\n",
        each.n, each.block, each.cores, each.policy, each.run.time.value,
        each.speedup ? fmt::format("{:.2f}", *each.speedup) : "-", each.run.energy.value,
        each.run.power().value, each.run.energy_delay(), 100 * each.more_time,
        100 * each.more_energy, each.run.checked ? fmt::format("{:.2g}", each.run.residual) : "-");
  }
}

json to_json(const plan& given, const std::vector<row>& rows) {
  json whole{{"schema", "creek-scc-linalg"}, {"schema_version", 1},  {"problem", given.problem},
             {"chip", given.chip.chip},      {"moves", given.moves}, {"runs", json::array()}};
  for (const row& each : rows) {
    const auto& report = each.run.report;
    whole["runs"].push_back({{"n", each.n},
                             {"block", each.block},
                             {"cores", each.cores},
                             {"policy", each.policy},
                             {"simulated_s", each.run.time.value},
                             {"joules", each.run.energy.value},
                             {"joule_seconds", each.run.energy_delay()},
                             {"speedup", each.speedup ? json(*each.speedup) : json()},
                             {"more_time", each.more_time},
                             {"more_energy", each.more_energy},
                             {"tasks", each.run.graph.tasks},
                             {"activity", linalg::activity(each.run.graph.runs, each.cores)},
                             {"task_busy_s", report.tasks.busy.in_seconds().value},
                             {"task_joules", report.tasks.energy.value},
                             {"halts", report.counters[counter::parks]},
                             {"residual", each.run.checked ? json(each.run.residual) : json()}});
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
  for (const row& each : rows) {
    if (each.run.info != 0 || (each.run.checked && !linalg::passes(each.run.residual))) {
      std::fflush(stdout);
      fmt::print(stderr, "creek: bench scc-linalg: a residual fails\n");
      return 1;
    }
  }
  return 0;
}

}  // namespace

void add_scc_linalg(CLI::App& bench, int& exit_code) {
  CLI::App* command = bench.add_subcommand(
      "scc-linalg", "LU, Cholesky and QR by blocks on the simulated chip: time and energy");
  const auto given = std::make_shared<plan>();
  command->add_option("--problem", given->problem, "lu (partial pivoting), chol or qr")
      ->check(CLI::IsMember({"lu", "chol", "qr"}))
      ->capture_default_str();
  command->add_option("-n", given->sizes, "Orders of the matrix")->delimiter(',');
  command->add_option("--block", given->blocks, "Orders of a block")->delimiter(',');
  command->add_option("--cores", given->cores, "Numbers of cores, such as 1,8,48")->delimiter(',');
  command->add_option("--policy", given->policies, "Power policies; the first is the baseline")
      ->delimiter(',');
  command->add_option("--moves", given->moves, "How blocks move: word by word, or in lines")
      ->check(CLI::IsMember({"uncached", "combined"}))
      ->capture_default_str();
  command->add_option("--watts", given->watts, "Of power_cap");
  command->add_option("--bound", given->bound, "Of slack_reduction")->capture_default_str();
  command->add_flag("--no-check", given->no_check, "Compute no residuals");
  command->add_flag("--json", given->as_json, "Print a JSON object");
  add_chip_options(*command, given->chip, {.cores = false});
  command->footer(notes);
  command->callback([given, &exit_code] { exit_code = run_study(*given); });
}

}  // namespace creek::tool
