// SPDX-License-Identifier: Apache-2.0
// `creek compare`: what power policies cost and save, side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

#include "commands.hpp"
#include "compare/report.hpp"
#include "compare/setup.hpp"
#include "compare/study.hpp"
#include "one_of.hpp"
#include "output_file.hpp"
#include "progress_line.hpp"
#include "runtime_choice.hpp"

namespace creek::tool {
namespace {

using compare::problem_kind;
using compare::setup;

constexpr const char* notes = R"(
The first policy is the baseline. On host each round runs all policies once, in an order drawn anew
from the seed, so that the runs of a round are measured side by side; a difference is the typical
one of the rounds, with an interval that holds the true one with 95 % confidence (Wilcoxon's signed
ranks; 6 runs or more) and a * where it excludes zero. On scc time and energy are simulated and
exact: one run each. Idle CPU is CPU time that workers spend without a task.
Every answer is checked, outside of what is timed; a wrong one is exit code 1.

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
  if (given.as_json) {
    fmt::print("{}\n", compare::to_json(given, studies));
  } else {
    compare::print_text(given, studies);
  }
  if (!given.plot.empty()) plot.write(compare::draw(given, studies));
  return 0;
}

void add_problem(CLI::App& command, setup& given) {
  const auto kinds = one_of<problem_kind>({{"lu", problem_kind::lu},
                                           {"chol", problem_kind::chol},
                                           {"qr", problem_kind::qr},
                                           {"fib", problem_kind::fib},
                                           {"sort", problem_kind::sort}});
  command.add_option("problem", given.kind, "What is computed")
      ->required()
      ->option_text("PROBLEM {lu,chol,qr,fib,sort}")
      ->transform(CLI::Validator(
          [&given, kinds](std::string& name) {
            given.name = name;
            return kinds(name);
          },
          "{lu,chol,qr,fib,sort}"));
  command.add_option("-n", given.n, "Sizes, comma-separated; 2000, on scc 1024, unless given")
      ->delimiter(',')
      ->option_text("LIST");
  command.add_option(
      "--block", given.block,
      "Columns of a panel, or the size of a tile; by the size, on scc 32, unless given");
  command.add_option("--form", given.layout, "Columns of a matrix, or tiles; column unless given")
      ->transform(
          one_of<dense::form>({{"column", dense::form::column}, {"blocks", dense::form::blocks}}));
  command.add_option("--seed", given.seed, "Of the matrix, and of the order of runs")
      ->capture_default_str();
}

void add_policies(CLI::App& command, setup& given) {
  command
      .add_option("--policy", given.policies,
                  "Policies, comma-separated; the first is the baseline")
      ->delimiter(',')
      ->option_text("LIST")
      ->capture_default_str();
  command.add_option("--watts", given.watts, "power_cap: the most that may be drawn")
      ->option_text("W")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--bound", given.bound,
                  "slack_reduction: the end may move by this share of the time")
      ->option_text("SHARE")
      ->capture_default_str();
}

void add_chip(CLI::App& command, setup& given) {
  using scc_backend::block_moves;
  CLI::Option_group* group = command.add_option_group("Simulated chip");
  group->add_option("--chip", given.chip, "scc-533, scc-800, or a file that describes another")
      ->option_text("NAME|FILE")
      ->capture_default_str();
  group
      ->add_option(
          "--memory", given.memory,
          "Blocks in memory that the cores share, or sent in messages; shared unless given")
      ->transform(one_of<compare::chip_memory>({{"shared", compare::chip_memory::shared},
                                                {"messages", compare::chip_memory::messages}}));
  group
      ->add_option("--moves", given.moves,
                   "Shared blocks are moved word by word, or in lines; uncached unless given")
      ->transform(one_of<block_moves>(
          {{"uncached", block_moves::uncached}, {"combined", block_moves::combined}}));
}

void add_measuring(CLI::App& command, setup& given) {
  command.add_option("--backend", given.backend, "host or scc; CREEK_BACKEND unless given")
      ->option_text("NAME");
  command.add_option("--workers", given.workers, "Workers, or cores of the chip");
  command.add_option("--runs", given.runs, "Rounds that count")->capture_default_str();
  command.add_option("--warmup", given.warmup, "Rounds before them that do not")
      ->capture_default_str();
  command
      .add_option("--meter", given.meter,
                  "Where energy is from: auto, rapl, perf, model, none; CREEK_METER unless given")
      ->option_text("SOURCE");
  command
      .add_option("--trace", given.trace,
                  "Write a trace of one more run for Perfetto, with clocks and power over time: a "
                  "file a policy, named after FILE and the policy")
      ->option_text("FILE");
  command
      .add_option("--plot", given.plot,
                  "Draw differences, activity, and energy over time of one more run (SVG)")
      ->option_text("FILE");
  command.add_flag("--json", given.as_json, "Machine-readable, with a \"schema_version\"");
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto given = std::make_shared<setup>();
  CLI::App* command = app.add_subcommand("compare", "Time and energy by power policy");
  add_problem(*command, *given);
  add_policies(*command, *given);
  add_measuring(*command, *given);
  add_chip(*command, *given);
  command->footer(std::string(notes + 1));
  command->callback([given, command, &exit_code] {
    if (command->count("--backend") == 0) given->backend = backend_of_environment();
    for (const char* each : {"--chip", "--memory", "--moves"}) {
      if (given->backend == "host" && command->count(each) > 0) {
        throw usage_error(fmt::format("{}: of the simulated chip, with --backend scc", each));
      }
    }
    if (given->memory == compare::chip_memory::messages && command->count("--moves") > 0) {
      throw usage_error("--moves: of blocks in shared memory; --memory messages has none");
    }
    exit_code = run_compare(*given);
  });
}

}  // namespace creek::tool
