// SPDX-License-Identifier: Apache-2.0
// The study: all combinations of sizes, blocks, numbers of cores and policies on a simulated chip.
// All times are virtual, all energies simulated.
#include <fmt/format.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/linalg/residual.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chip/chip_options.hpp"
#include "command_line/command.hpp"
#include "json/json_value.hpp"
#include "output/energy.hpp"
#include "output/output_file.hpp"
#include "output/progress_line.hpp"
#include "scc_messages.hpp"
#include "studies/studies.hpp"

namespace creek::tool {
namespace {

using json = json_value;

constexpr const char* route_names[] = {"simple", "chain", "binary-tree", "two-tree", "binomial"};

struct study_options {
  chip_options chip;
  dense::method how = dense::method::lu;
  std::vector<linalg::index_t> sizes{1024};
  std::vector<linalg::index_t> blocks{0};
  std::vector<int> cores{48};
  std::vector<std::string> policies{"polling", "blocking", "frequency", "race_to_idle"};
  message_settings each;
  std::int64_t kernel_crossing = 0;
  bool as_json = false;
  std::string csv;
};

struct message_row {
  message_settings chosen;
  message_run run;
  double time_ratio = 1;  ///< relative to the first policy of the problem
  double energy_ratio = 1;
};

void require_right(const message_row& made) {
  const std::string which = fmt::format("n = {} on {} cores: ", made.chosen.n, made.chosen.cores);
  if (made.run.info != 0) {
    throw error(EILSEQ, which + "the matrix is singular or not positive definite (info " +
                            std::to_string(made.run.info) + ")");
  }
  if (!linalg::passes(made.run.residual)) {
    throw error(EILSEQ, which + fmt::format("a residual of {:.3g}", made.run.residual));
  }
}

std::vector<message_row> measure(const study_options& given,
                                 const scc_backend::machine_options& on) {
  std::vector<message_row> all;
  progress_line line;
  for (const auto n : given.sizes) {
    for (const auto block : given.blocks) {
      for (const int cores : given.cores) {
        const std::size_t first = all.size();
        for (const std::string& policy : given.policies) {
          message_row& made = all.emplace_back();
          made.chosen = given.each;
          made.chosen.n = n;
          made.chosen.block = block;
          made.chosen.cores = cores;
          made.chosen.policy = policy;
          line.show(fmt::format("n = {}, block {}, {} cores, {}", n, block, cores, policy));
          made.run = run_messages(given.how, made.chosen, on);
          require_right(made);
          const message_run& base = all[first].run;
          made.time_ratio = made.run.time.in_seconds().value / base.time.in_seconds().value;
          made.energy_ratio = made.run.energy.value / base.energy.value;
        }
      }
    }
  }
  return all;
}

double gigaflops(const message_run& run) {
  return run.flops / run.time.in_seconds().value / 1e9;
}

void print(const study_options& given, const scc_backend::machine_options& on,
           const std::vector<message_row>& all) {
  fmt::print(
      "{} by messages on the simulated chip {}: virtual time, simulated energy; ratios to {}\n",
      dense::to_string(given.how), on.description.name, given.policies.front());
  fmt::print("{:>6} {:>5} {:>5} {:<16} {:>10} {:>8} {:>9} {:>9} {:>8} {:>8} {:>6} {:>6} {:>6}\n",
             "n", "block", "cores", "policy", "ms", "Gflop/s", "J", "J s", "time", "energy",
             "busy%", "wait%", "halt%");
  for (const message_row& r : all) {
    const double seconds = r.run.time.in_seconds().value;
    const double whole = seconds * r.chosen.cores / 100;
    fmt::print(
        "{:>6} {:>5} {:>5} {:<16} {:>10.6g} {:>8.4g} {:>9.5g} {:>9.5g} {:>8.4f} {:>8.4f} {:>6.1f} "
        "{:>6.1f} {:>6.1f}\n",
        r.chosen.n, r.run.block, r.chosen.cores, r.chosen.policy, 1e3 * seconds, gigaflops(r.run),
        r.run.energy.value, r.run.energy.value * seconds, r.time_ratio, r.energy_ratio,
        r.run.busy.value / whole, r.run.waiting.value / whole, r.run.halted.value / whole);
  }
}

json to_json(const message_row& r) {
  return {{"n", r.chosen.n},
          {"block", r.run.block},
          {"cores", r.chosen.cores},
          {"policy", r.chosen.policy},
          {"virtual_ms", 1e3 * r.run.time.in_seconds().value},
          {"gigaflops", gigaflops(r.run)},
          {"simulated_joules", r.run.energy.value},
          {"joule_seconds", r.run.energy.value * r.run.time.in_seconds().value},
          {"time_ratio", r.time_ratio},
          {"energy_ratio", r.energy_ratio},
          {"busy_s", r.run.busy.value},
          {"waiting_s", r.run.waiting.value},
          {"halted_s", r.run.halted.value},
          {"residual", r.run.residual}};
}

std::string to_csv(const std::vector<message_row>& all) {
  std::string out = "n,block,cores,policy,virtual_ms,simulated_joules,time_ratio,energy_ratio\n";
  for (const message_row& r : all) {
    out += fmt::format("{},{},{},{},{},{},{},{}\n", r.chosen.n, r.run.block, r.chosen.cores,
                       r.chosen.policy, 1e3 * r.run.time.in_seconds().value, r.run.energy.value,
                       r.time_ratio, r.energy_ratio);
  }
  return out;
}

void study(const study_options& given) {
  refuse_records(given.chip, "scc-linalg-messages");
  scc_backend::machine_options on = to_machine_options(given.chip);
  on.waits.kernel_crossing = cycles{given.kernel_crossing};
  output_file csv(given.csv);
  const std::vector<message_row> all = measure(given, on);
  csv.write(to_csv(all));
  if (!given.as_json) return print(given, on, all);
  json whole{{"schema_version", 2},
             {"command", "bench scc-linalg-messages"},
             {"problem", dense::to_string(given.how)},
             {"chip", on.description.name},
             {"runs", json::array()}};
  for (const message_row& r : all) whole["runs"].push_back(to_json(r));
  fmt::print("{}\n", with_energy(whole).dump(2));
}

}  // namespace

void add_scc_linalg_messages(command_line::command& bench) {
  command_line::command* command = bench.add_subcommand(
      "scc-linalg-messages",
      "Measure LU, Cholesky and QR by messages on a simulated chip: time and energy by policy");
  const auto given = std::make_shared<study_options>();
  add_chip_options(*command, given->chip, {.cores = false});
  const auto list = [&](const char* name, auto& to, const char* about) {
    return command->add_option(name, to, about)->delimiter(',')->show_default();
  };
  command->add_choice("problem", given->how, dense::methods, "What to compute (default: lu)");
  list("--n", given->sizes, "Sizes of matrices")->at_least(1);
  list("--block", given->blocks, "Columns per block; 0: chosen by the size")->at_least(0);
  list("--cores", given->cores, "Numbers of cores")->at_least(1);
  list("--policy", given->policies, "Power policies to measure; ratios are to the first");
  std::vector<std::pair<std::string, broadcast_kind>> routes;
  for (int i = 0; i < 5; ++i) routes.emplace_back(route_names[i], broadcast_kind(i));
  command->add_choice("--route", given->each.ranks.route, routes,
                      "How a panel is sent to all ranks (default: chain)");
  command
      ->add_option("--look-ahead", given->each.ranks.look_ahead,
                   "Maximum number of panels that may wait")
      ->at_least(0)
      ->show_default();
  command
      ->add_option("--next-first", given->each.ranks.next_panel_first,
                   "Whether the rank with the next panel gets each panel first")
      ->show_default();
  command->add_option("--piece", given->each.ranks.piece_bytes, "Bytes per forwarded piece")
      ->at_least(1)
      ->show_default();
  command
      ->add_option("--chunks", given->each.chunks_in_flight,
                   "Maximum number of chunks of a message in flight")
      ->at_least(1)
      ->show_default();
  command
      ->add_option("--buffer", given->each.buffer_bytes, "Size of a core's message buffer in bytes")
      ->at_least(1)
      ->show_default();
  command
      ->add_option("--kernel-crossing", given->kernel_crossing,
                   "Cycles of a wake-up in addition to the interrupt; under Linux 2000")
      ->range(0, 1'000'000)
      ->show_default();
  command->add_flag("--json", given->as_json, "Print a JSON object");
  command->add_option("--csv", given->csv, "Write the figures to FILE")->type_name("FILE");
  command->footer(R"(Examples:
  creek bench scc-linalg-messages lu --n 512,1024 --cores 8,48
  creek bench scc-linalg-messages chol --policy polling,blocking --json)");
  command->callback([given] { study(*given); });
}

}  // namespace creek::tool
