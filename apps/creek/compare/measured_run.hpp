// SPDX-License-Identifier: Apache-2.0
// Result of one run under one policy, whichever backend ran it, and the runner that makes it.
#pragma once

#include <creek/core/energy.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "setup.hpp"

namespace creek::tool::compare {

/// Energy until some time of a run, for drawing.
struct energy_point {
  double seconds = 0;
  double joules = 0;
};

struct measured_run {
  double seconds = 0;  ///< seconds of this machine, or simulated: see backend_facts::simulated
  std::optional<double> joules;
  energy_origin origin = energy_origin::unavailable;
  std::string source;  ///< source of the joules: rapl, perf, model, simulation ...
  std::string reason;  ///< why there are no joules, and how to get some
  /// CPU time of all workers; of a chip the time in which its cores were not halted, all
  /// together.
  double cpu_seconds = 0;
  /// The part of it that workers spent without a task: between finding none and beginning one.
  double idle_cpu_seconds = 0;
  std::vector<double> activity;  ///< shares of the time with 0, 1, ... workers in tasks of a graph
  std::size_t tasks = 0;         ///< tasks of the graph
  std::string wrong;             ///< why the answer is wrong, or there is none; empty: it is right
  std::string control;           ///< why clocks were not controlled, where the policy would
  std::vector<energy_point> power;  ///< energy over time, where it was recorded
};

/// Facts that are the same for all runs of a study.
struct backend_facts {
  std::string name;        ///< host or scc
  bool simulated = false;  ///< time and energy are exact: one run is as good as many
  unsigned workers = 0;
  std::string machine;  ///< in a few words, for people
};

/// One run of one policy.
struct run_request {
  std::string_view policy;
  std::string trace = {};  ///< a file; empty: none
  bool sampled = false;    ///< with measured_run::power, which costs some time
};

/// Runs one problem of one size, the same each time.
class runner {
 public:
  runner() = default;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  virtual const backend_facts& facts() const noexcept = 0;
  /// In words: what is computed, on what.
  virtual std::string about() const = 0;
  /// Throws for what no run can do: a policy that lacks an option, memory.
  virtual measured_run run(const run_request& what) = 0;
};

/// On threads of this machine, in its time.
std::unique_ptr<runner> make_host_runner(const setup& given, long long n);
/// On the simulated chip, in its time.
std::unique_ptr<runner> make_scc_runner(const setup& given, long long n);

}  // namespace creek::tool::compare
