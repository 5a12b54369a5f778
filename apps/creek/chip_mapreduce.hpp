// SPDX-License-Identifier: Apache-2.0
// A MapReduce job on a simulated chip, its stages timed in virtual time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <creek/mapreduce/ranks.hpp>
#include <creek/scc/spmd.hpp>

namespace creek::tool {

/// How long a stage took the cores; waits for other cores included.
struct stage_span {
  virtual_time longest, median, shortest;
};

/// The virtual time of every stage on every core.
class stage_clock {
 public:
  explicit stage_clock(int cores) : cores_(static_cast<std::size_t>(cores)) {}

  void begin(int core, virtual_time now) { at(core).since = now; }
  void ended(int core, mapreduce::stage which, virtual_time now) {
    per_core& mine = at(core);
    mine.spent[static_cast<std::size_t>(which)] = now - mine.since;
    mine.since = now;
  }

  /// Zero for stages that were left out.
  [[nodiscard]] std::array<stage_span, mapreduce::stage_count> spans() const {
    std::array<stage_span, mapreduce::stage_count> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<virtual_time> spent;
      for (const per_core& core : cores_) spent.push_back(core.spent[i]);
      std::sort(spent.begin(), spent.end());
      all[i] = {spent.back(), spent[spent.size() / 2], spent.front()};
    }
    return all;
  }

 private:
  struct per_core {
    virtual_time since;
    std::array<virtual_time, mapreduce::stage_count> spent{};
  };
  per_core& at(int core) { return cores_[static_cast<std::size_t>(core)]; }

  std::vector<per_core> cores_;
};

/// What is known of a job after its run on a chip.
template <mapreduce::job Job>
struct chip_run {
  mapreduce::rank_result<Job> result;
  std::array<stage_span, mapreduce::stage_count> stages;
  scc_backend::run_report report;
};

/// Runs a job on the first `cores` cores of a fresh chip.
template <mapreduce::job Job, mapreduce::input Input>
[[nodiscard]] chip_run<Job> run_on_chip(const Job& job, Input& from,
                                        const mapreduce::options& chosen, int cores,
                                        const scc_backend::machine_options& on) {
  chip_run<Job> made;
  stage_clock clock(cores);
  made.report = simulate(
      cores,
      [&](scc_communicator& c) {
        clock.begin(c.rank(), c.memory().now());
        auto result = mapreduce::run_on_ranks(job, c, from, chosen, [&](mapreduce::stage ended) {
          clock.ended(c.rank(), ended, c.memory().now());
        });
        if (c.rank() == 0) made.result = std::move(result);
      },
      on);
  made.stages = clock.spans();
  return made;
}

}  // namespace creek::tool
