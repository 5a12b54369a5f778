// SPDX-License-Identifier: Apache-2.0
#include "on_chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/linalg/residual.hpp>
#include <cstdio>
#include <string>

#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "json/json_value.hpp"
#include "options/policy_options.hpp"
#include "output/energy.hpp"
#include "studies/chip/chip_dense.hpp"
#include "studies/chip/scc_messages.hpp"

namespace creek::tool::dense {
namespace {

constexpr const char* options[] = {"--chip",  "--cores", "--policy", "--moves",
                                   "--watts", "--bound", "--memory"};

void require_sense_on_chip(const request& what) {
  const auto refuse = [](const char* option) {
    throw usage_error(std::string(option) +
                      " has no effect with --backend scc: matrices are generated, in double, and "
                      "all runs are the same; leave it off");
  };
  if (!what.input.empty()) refuse("--input");
  if (!what.output.empty()) refuse("--output");
  if (what.workers) refuse("--workers");
  if (what.runs != 1) refuse("--runs");
  if (what.type && *what.type != element_type::d) refuse("--type");
  if (what.pivots && *what.pivots != pivoting::partial) refuse("--pivoting");
  if (what.tree && *what.tree != linalg::reduction_tree::flat) refuse("--tree");
  if (!what.n) throw usage_error("-n is required: the size of the matrix");
}

chip_dense_problem problem_on_chip(const request& what, const chip_request& given) {
  chip_dense_problem made;
  made.how = what.how;
  made.n = *what.n;
  made.by_messages = given.memory == "messages";
  made.seed = static_cast<std::uint64_t>(what.seed.value_or(1));
  made.policy = spelt_policy(given.policy);
  made.limits = given.limits;
  made.check = what.check.value_or(true);
  made.on = to_machine_options(given.chip);
  made.on.trace_file = what.trace;
  made.on.blocks = given.moves == "combined" ? scc_backend::block_moves::combined
                                             : scc_backend::block_moves::uncached;
  made.cores = static_cast<unsigned>(participating_cores(given.chip, made.on));
  made.block = what.block.value_or(0);
  if (!what.block && !made.by_messages) made.block = std::min<long long>(64, *what.n);
  if (made.by_messages && made.block == 0) {
    made.block = message_block(made.n, static_cast<int>(made.cores));
  }
  return made;
}

void print_json(const chip_dense_problem& what, const chip_dense_run& found) {
  const json_value whole{
      {"schema_version", 2},
      {"command", to_string(what.how)},
      {"chip", what.on.description.name},
      {"cores", what.cores},
      {"n", what.n},
      {"block", what.block},
      {"memory", what.by_messages ? "messages" : "shared"},
      {"policy", what.policy},
      {"simulated_s", found.time.value},
      {"joules", found.energy.value},
      {"energy_source", "simulated"},
      {"joule_seconds", found.energy_delay()},
      {"tasks", what.by_messages ? json_value(nullptr) : json_value(found.graph.tasks)},
      {"info", found.info},
      {"residual", found.checked ? json_value(found.residual) : nullptr}};
  fmt::print("{}\n", with_energy(whole).dump(2));
}

void print(const chip_dense_problem& what, const chip_dense_run& found) {
  fmt::print("{} of order {} in blocks of {}, {} cores of the simulated chip {}, policy {}\n",
             to_string(what.how), what.n, what.block, what.cores, what.on.description.name,
             what.policy);
  fmt::print(
      "simulated time  {:.5g} s, {}\n", found.time.value,
      what.by_messages ? std::string("by messages") : fmt::format("{} tasks", found.graph.tasks));
  fmt::print("energy          {:.5g} J (simulated: the whole chip), {:.4g} W\n", found.energy.value,
             found.power().value);
  fmt::print("energy x delay  {:.5g} J s\n", found.energy_delay());
  if (found.checked) fmt::print("residual        {:.3g}, scaled\n", found.residual);
}

}  // namespace

void add_chip_request(command_line::command& command, chip_request& given) {
  command
      .add_option(
          "--backend", given.backend,
          "Where to run: host, tbb, mpi (on ranks), or scc (by blocks in the shared memory of a "
          "simulated chip)")
      ->among({"host", "tbb", "mpi", "scc"});
  command_line::option_group* policies = command.add_option_group("Power, on ranks and the chip");
  policies
      ->add_option("--policy", given.policy,
                   "Power policy of workers (default: blocking on the chip, none on ranks)")
      ->type_name("NAME");
  add_policy_limits(*policies, given.limits);
  command_line::option_group* group = command.add_option_group("Simulated chip");
  group
      ->add_option("--chip", given.chip.chip,
                   "The chip: scc-533, scc-800, or a file that describes another one")
      ->type_name("NAME|FILE");
  group
      ->add_option("--cores", given.chip.cores, "Number of cores to use (default: all of the chip)")
      ->type_name("N")
      ->positive();
  group
      ->add_option(
          "--memory", given.memory,
          "Where the matrix is: in shared memory, or in the cores' own memories (messages)")
      ->among({"shared", "messages"})
      ->show_default();
  group
      ->add_option("--moves", given.moves,
                   "How shared blocks are moved: word by word (uncached) or in lines (combined)")
      ->among({"uncached", "combined"})
      ->show_default();
}

bool is_on_chip(const command_line::command& command, const chip_request& given) {
  if (given.backend == "scc") {
    if (command.count("--form") > 0) {
      throw usage_error(
          "--form has no effect with --backend scc: the matrix has blocks in shared memory, and "
          "columns with --memory messages; leave it off");
    }
    if (given.memory == "messages" && command.count("--moves") > 0) {
      throw usage_error(
          "--moves: not with --memory messages, which has no blocks in shared memory");
    }
    refuse_without_policy(command, {given.policy});
    return true;
  }
  for (const char* each : options) {
    if (command.count(each) > 0) {
      const std::string name = each;
      const bool of_policy = name == "--policy" || name == "--watts" || name == "--bound";
      throw usage_error(name + (of_policy ? " needs --backend mpi or scc; see also creek compare"
                                          : " needs --backend scc, the simulated chip"));
    }
  }
  return false;
}

int run_on_chip(const request& what, const chip_request& given) {
  require_sense_on_chip(what);
  const chip_dense_problem problem = problem_on_chip(what, given);
  chip_dense_run before;
  chip_dense_problem last = problem;
  if (problem.policy == "slack_reduction" && !problem.by_messages) {
    if (!what.trace.empty()) atomic_file{what.trace};  // leaves no file without commit()
    chip_dense_problem first = problem;                // its times determine the slack
    first.policy = "blocking";
    first.check = false;
    first.on.trace_file.clear();
    before = tool::run_on_chip(first);
    last.before = &before.graph;
  }
  const chip_dense_run found = tool::run_on_chip(last);
  if (what.as_json) {
    print_json(problem, found);
  } else {
    print(problem, found);
  }
  std::fflush(stdout);
  const bool right = !found.checked || linalg::passes(found.residual);
  if (found.info == 0 && right) return 0;
  const std::string why =
      right ? fmt::format("the matrix is singular or not positive definite (info {})", found.info)
            : std::string("the residual fails");
  command_line::print_error(fmt::format("creek: {}: {}", to_string(what.how), why));
  return 1;
}

}  // namespace creek::tool::dense
