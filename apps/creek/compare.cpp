// SPDX-License-Identifier: Apache-2.0
// `creek compare`: costs and savings of power policies, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/tasking/options.hpp>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "compare/report/report.hpp"
#include "compare/setup.hpp"
#include "compare/study.hpp"
#include "options/policy_options.hpp"
#include "options/runtime_choice.hpp"
#include "output/output_file.hpp"
#include "output/progress_line.hpp"

namespace creek::tool {
namespace {

using compare::problem_kind;
using compare::setup;

constexpr const char* notes = R"(
The first policy is the baseline. On host each round runs all policies once, in a new random order
from the seed, so that the runs of a round are measured close together. A difference is the typical
one of the rounds, with an interval that contains the true one with 95 % confidence (Wilcoxon's
signed ranks; 6 runs or more) and a * if it excludes zero. On scc, time and energy are simulated and
exact, so there is one run each. Idle CPU is CPU time that workers spend without a task.
Every answer is checked outside of the measured time; a wrong one gives exit code 1.

  creek compare lu --policy polling,blocking --runs 15
  creek compare chol -n 2000,4000 --policy polling,blocking,race_to_idle --plot power.svg
  creek compare lu --policy polling,power_cap --watts 40 --workers 4 --meter model
  creek compare lu --backend scc -n 1024 --block 64 --policy polling,blocking,slack_reduction
  creek compare fib -n 32 --workers 2 --json)";

int run_compare(setup given) {
  compare::complete(given);
  compare::require_sense(given);
  output_file plot(given.plot);
  compare::try_traces(given);
  std::vector<compare::study> studies;
  {
    progress_line line;
    for (const long long n : given.n) {
      studies.push_back(
          compare::run_study(given, n, [&](const std::string& what) { line.show(what); }));
    }
  }
  if (!given.plot.empty()) plot.write(compare::draw(given, studies));
  if (given.as_json) {
    fmt::print("{}\n", compare::to_json(given, studies));
  } else {
    compare::print_text(given, studies);
  }
  return 0;
}

const command_line::names_of<problem_kind> problems{{"lu", problem_kind::lu},
                                                    {"chol", problem_kind::chol},
                                                    {"qr", problem_kind::qr},
                                                    {"fib", problem_kind::fib},
                                                    {"sort", problem_kind::sort}};

std::string name_of(problem_kind kind) {
  const auto same = [&](const auto& each) { return each.second == kind; };
  return std::ranges::find_if(problems, same)->first;
}

void add_problem(command_line::command& command, setup& given) {
  command.add_choice("problem", given.kind, problems, "What to compute")
      ->required()
      ->option_text("PROBLEM {lu,chol,qr,fib,sort}");
  command
      .add_option("-n", given.n,
                  "Sizes, separated by commas (default: 2000, on scc 1024; fib 30, sort 10000000)")
      ->delimiter(',')
      ->at_least(1)
      ->option_text("LIST");
  command
      .add_option(
          "--block", given.block,
          "Columns per panel, or the size of a tile (default: chosen by the size; on scc 32)")
      ->range(1, 1'000'000);
  command.add_choice("--form", given.layout,
                     {{"column", dense::form::column}, {"blocks", dense::form::blocks}},
                     "How the matrix is stored: by columns or in tiles (default: column)");
  command.add_option("--seed", given.seed, "Seed for the matrix and the order of runs")
      ->show_default();
}

void add_policies(command_line::command& command, setup& given) {
  command
      .add_option("--policy", given.policies,
                  "Policies, separated by commas; the first is the baseline")
      ->delimiter(',')
      ->option_text("LIST")
      ->show_default();
  command.add_option("--watts", given.limits.watts, "Maximum power, for the policy power_cap")
      ->option_text("W")
      ->positive();
  command
      .add_option("--bound", given.limits.bound,
                  "Share of the time by which the end may move, for the policy slack_reduction")
      ->range(0, 1)
      ->option_text("SHARE")
      ->show_default();
}

void add_chip(command_line::command& command, setup& given) {
  using scc_backend::block_moves;
  command_line::option_group* group = command.add_option_group("Simulated chip");
  group
      ->add_option("--chip", given.chip,
                   "The chip: scc-533, scc-800, or a file that describes another one")
      ->option_text("NAME|FILE")
      ->show_default();
  group->add_choice(
      "--memory", given.memory,
      {{"shared", compare::chip_memory::shared}, {"messages", compare::chip_memory::messages}},
      "Where blocks are: in memory that the cores share, or sent in messages (default: shared)");
  group->add_choice("--moves", given.moves,
                    {{"uncached", block_moves::uncached}, {"combined", block_moves::combined}},
                    "How shared blocks are moved: word by word (uncached) or in lines (combined) "
                    "(default: uncached)");
}

void add_measuring(command_line::command& command, setup& given) {
  command.add_option("--backend", given.backend, "host or scc (default: CREEK_BACKEND)")
      ->option_text("NAME");
  command.add_option("--workers", given.workers, "Number of workers, or of cores of the chip")
      ->range(1, scheduler_options::max_workers);
  // The time to find intervals grows with the cube of the runs.
  command.add_option("--runs", given.runs, "Number of measured rounds")
      ->range(1, 2000)
      ->show_default();
  command
      .add_option("--warmup", given.warmup, "Number of rounds before them that are not measured")
      ->range(0, 1'000'000)
      ->show_default();
  command
      .add_option("--meter", given.meter,
                  "Source of energy readings: auto, rapl, perf, model, none (default: CREEK_METER)")
      ->option_text("SOURCE");
  command
      .add_option("--trace", given.trace,
                  "Write a trace of one additional run for Perfetto, with clocks and power over "
                  "time: one file per policy, named after FILE and the policy")
      ->option_text("FILE");
  command
      .add_option("--plot", given.plot,
                  "Draw differences, activity, and energy over time of one additional run (SVG)")
      ->option_text("FILE");
  command.add_flag("--json", given.as_json, "Print a JSON object with a \"schema_version\"");
}

}  // namespace

void add_compare(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<setup>();
  command_line::command* command =
      app.add_subcommand("compare", "Compare time and energy of power policies");
  add_problem(*command, *given);
  add_policies(*command, *given);
  add_measuring(*command, *given);
  add_chip(*command, *given);
  command->footer(std::string(notes + 1));
  command->callback([given, command, &exit_code] {
    given->name = name_of(given->kind);
    if (command->count("--backend") == 0) given->backend = backend_of_environment();
    for (const char* each : {"--chip", "--memory", "--moves"}) {
      if (given->backend == "host" && command->count(each) > 0) {
        throw usage_error(fmt::format("{}: needs --backend scc, the simulated chip", each));
      }
    }
    for (const char* each : {"--runs", "--warmup"}) {
      if (given->backend == "scc" && command->count(each) > 0) {
        throw usage_error(
            fmt::format("{}: needs --backend host; on scc all runs are the same", each));
      }
    }
    if (given->memory == compare::chip_memory::messages && command->count("--moves") > 0) {
      throw usage_error(
          "--moves: not with --memory messages, which has no blocks in shared memory");
    }
    refuse_without_policy(*command, given->policies);
    exit_code = run_compare(*given);
  });
}

}  // namespace creek::tool
