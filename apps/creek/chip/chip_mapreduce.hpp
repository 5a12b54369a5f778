// SPDX-License-Identifier: Apache-2.0
// A MapReduce job on a simulated chip, its stages timed in virtual time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <creek/mapreduce/ranks.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/scc/time_accounting.hpp>

#include "jobs/stage_use.hpp"

namespace creek::tool {

/// The virtual time of every stage on every core.
class stage_clock {
 public:
  explicit stage_clock(int cores) : cores_(static_cast<std::size_t>(cores)) {}

  void begin(int core, mapreduce::stage which, virtual_time now) {
    end(core, now);
    cores_[static_cast<std::size_t>(core)].current = which;
  }
  void end(int core, virtual_time now) {
    per_core& mine = cores_[static_cast<std::size_t>(core)];
    if (mine.current) mine.spent[static_cast<std::size_t>(*mine.current)] = now - mine.since;
    mine.current.reset();
    mine.since = now;
  }

  /// Returns the time of every stage; zero for stages that were left out.
  [[nodiscard]] stage_uses spans() const {
    stage_uses all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<virtual_time> spent;
      for (const per_core& core : cores_) spent.push_back(core.spent[i]);
      std::sort(spent.begin(), spent.end());
      all[i] = {spent.back(), spent[spent.size() / 2], spent.front(), {}};
    }
    return all;
  }

 private:
  struct per_core {
    std::optional<mapreduce::stage> current;
    virtual_time since;
    std::array<virtual_time, mapreduce::stage_count> spent{};
  };

  std::vector<per_core> cores_;
};

/// Results of a job's run on a chip.
template <mapreduce::job Job>
struct chip_run {
  mapreduce::rank_result<Job> result;
  stage_uses stages;
  scc_backend::run_report report;
};

/// Runs a job on the first `cores` cores of a fresh chip. The energy account of a stage is its
/// number plus one.
template <mapreduce::job Job, mapreduce::input Input>
[[nodiscard]] chip_run<Job> run_on_chip(const Job& job, Input& from,
                                        const mapreduce::options& chosen, int cores,
                                        const scc_backend::machine_options& on) {
  chip_run<Job> made;
  stage_clock clock(cores);
  const auto account_of = [](std::size_t stage) {
    return scc_backend::energy_account{static_cast<std::uint32_t>(stage + 1)};
  };
  made.report = simulate(
      cores,
      [&](scc_communicator& c) {
        auto result = mapreduce::run_on_ranks(job, c, from, chosen, [&](mapreduce::stage began) {
          clock.begin(c.rank(), began, c.memory().now());
          scc_backend::time_accounting(c.memory())
              .switch_energy_account(account_of(static_cast<std::size_t>(began)));
        });
        clock.end(c.rank(), c.memory().now());
        scc_backend::time_accounting(c.memory()).switch_energy_account({});
        if (c.rank() == 0) made.result = std::move(result);
      },
      on);
  made.stages = clock.spans();
  const auto& accounts = made.report.usage.accounts;
  for (std::size_t i = 0; i < made.stages.size() && account_of(i).number < accounts.size(); ++i) {
    made.stages[i].energy = accounts[account_of(i).number].energy;
  }
  return made;
}

}  // namespace creek::tool
