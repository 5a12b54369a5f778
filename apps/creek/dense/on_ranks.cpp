// SPDX-License-Identifier: Apache-2.0
#include "on_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/any_communicator.hpp>
#include <creek/core/messages/wire.hpp>
#include <creek/mpi.hpp>
#include <creek/power/say_once.hpp>

#include "command_line/command.hpp"
#include "command_line/process.hpp"
#include "jobs/rank_group.hpp"
#include "ranks/energy_of_ranks.hpp"
#include "ranks/grid_matrix_part.hpp"
#include "ranks/rank_power.hpp"
#include "ranks/ranks_report.hpp"

namespace creek::tool::dense {
namespace {

void require_sense_on_ranks(const command_line::command& command, const request& what) {
  refuse(command, {"--energy"}, "not with --backend mpi, which reports the energy of all ranks");
  refuse(command, {"--input", "--output", "--trace", "--form", "--pivoting", "--tree"},
         "not with --backend mpi, which factors generated matrices by columns");
  refuse(command, {"--chip", "--cores", "--memory", "--moves"}, "needs --backend scc");
  if (what.type && *what.type != element_type::d) {
    throw usage_error("--type: not with --backend mpi, which computes in double");
  }
  if (!what.n) throw usage_error("-n is required: the size of the matrix");
}

/// Makes the settings. Throws usage_error for a policy that cannot work on ranks.
rank_settings settings_of(const command_line::command& command, const request& what,
                          const chip_request& given) {
  rank_settings made;
  made.limits = given.limits;
  made.workers = static_cast<unsigned>(what.workers.value_or(0));
  if (command.count("--policy") > 0) made.policy = spelt_policy(given.policy);
  refuse_without_policy(command, {made.policy});
  if (made.policy == "slack_reduction") {
    throw usage_error(
        "--policy slack_reduction: not with --backend mpi, which has no graph of tasks");
  }
  if (!made.policy.empty()) (void)policy_named(made.policy, made.limits);
  return made;
}

/// Collects what policies and clocks of this process say, as lines, while it lives.
class collected_lines {
 public:
  collected_lines() {
    power::say_to([this](std::string_view line) { lines_.append(line) += '\n'; });
  }
  ~collected_lines() { power::say_to({}); }
  collected_lines(const collected_lines&) = delete;
  collected_lines& operator=(const collected_lines&) = delete;
  [[nodiscard]] const std::string& lines() const noexcept { return lines_; }

 private:
  std::string lines_;
};

/// One rank's part of the command.
class run_on_rank {
 public:
  run_on_rank(mpi_communicator& ranks, const request& what, const rank_settings& chosen)
      : ranks_(ranks), what_(what), chosen_(chosen), sites_(ranks.allgather(rank_site::here())) {
    report_.command = to_string(what.how);
    report_.how = what.how;
    report_.n = *what.n;
    report_.block = what.block.value_or(std::min<long long>(64, *what.n));
    report_.policy = chosen.policy;
  }

  /// Runs all and returns the report, which is complete at rank 0.
  ranks_report run() {
    require_memory_here();
    grid_matrix_part matrix(ranks_, what_.how, report_.n, report_.block,
                            static_cast<std::uint64_t>(what_.seed.value_or(1)));
    own_.host = sites_[static_cast<std::size_t>(ranks_.rank())].host;
    {
      const collected_lines said;
      measure(matrix);
      own_.lines = said.lines();
    }
    report_.info = matrix.info();
    if (what_.check.value_or(false)) judge(matrix);
    gather();
    return report_;
  }

 private:
  void require_memory_here() const {
    const double n = static_cast<double>(report_.n);
    const int machine = first_rank_of_machine(sites_, ranks_.rank());
    int here = 0;
    for (int rank = 0; rank < ranks_.size(); ++rank)
      here += first_rank_of_machine(sites_, rank) == machine ? 1 : 0;
    const double share = static_cast<double>(here) / ranks_.size();
    const bool collects = ranks_.rank() == 0 && what_.check.value_or(false);
    problem about;
    about.command = to_string(what_.how);
    about.rows = about.cols = report_.n;
    require_memory(about, 8 * n * n * (share + (collects ? 2 : 0)));
  }

  /// Makes the workers, runs as often as asked, and ends the workers.
  void measure(grid_matrix_part& matrix) {
    rank_power power(chosen_, sites_, ranks_.rank());
    own_.workers = power.worker_count();
    own_.reads = power.reads_energy();
    for (long long i = 0; i < what_.runs && matrix.info() == 0; ++i) {
      matrix.fill();
      ranks_.barrier();
      power.meter().restart();
      const auto begin = std::chrono::steady_clock::now();
      matrix.factor(power.workers());
      ranks_.barrier();
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      report_.seconds.push_back(spent.count());
      add_reading(own_, power.meter().read());
    }
    own_.clocks = power.clock_failure();
  }

  void judge(grid_matrix_part& matrix) {
    if (report_.info != 0 || report_.n == 0) return;
    const judgement found = matrix.judge();
    if (ranks_.rank() == 0) report_.residual = found.value;
  }

  void gather() {
    any_communicator_of<mpi_communicator> all(ranks_);
    std::vector<std::byte> mine;
    wire<rank_figures>::put(mine, own_);
    const std::vector<std::byte> together = gather_bytes(all, mine);
    const std::byte* at = together.data();
    const std::byte* const end = at + together.size();
    while (at != end) report_.ranks.push_back(wire<rank_figures>::get(at));
  }

  mpi_communicator& ranks_;
  const request& what_;
  const rank_settings& chosen_;
  std::vector<rank_site> sites_;
  rank_figures own_;
  ranks_report report_;
};

/// Writes the lines of all ranks, each once.
void say_lines(const std::vector<rank_figures>& ranks) {
  std::set<std::string> said;
  for (const rank_figures& each : ranks) {
    std::istringstream lines(each.lines);
    for (std::string line; std::getline(lines, line);) {
      if (said.insert(line).second) command_line::print_error("creek: " + line);
    }
  }
}

/// Prints the report and returns the exit code.
int say(const request& what, const ranks_report& found) {
  say_lines(found.ranks);
  if (what.as_json) {
    fmt::print("{}\n", to_json(found));
  } else {
    print_text(found);
  }
  std::fflush(stdout);
  const std::string why = failure(found);
  if (why.empty()) return 0;
  command_line::print_error(fmt::format("creek: {}: {}", found.command, why));
  return 1;
}

}  // namespace

bool is_on_ranks(const command_line::command& command, const request& what,
                 const chip_request& given) {
  if (given.backend != "mpi") return false;
  require_sense_on_ranks(command, what);
  return true;
}

int run_on_ranks(const command_line::command& command, const request& what,
                 const chip_request& given) {
  const rank_settings chosen = settings_of(command, what, given);
  (void)scheduler_options::from_environment();
  (void)power::meter_options::from_environment();
  (void)mpi_backend::load();
  return ranks([&](mpi_communicator& all) {
    const ranks_report found = run_on_rank(all, what, chosen).run();
    return all.rank() == 0 ? say(what, found) : 0;
  });
}

}  // namespace creek::tool::dense
