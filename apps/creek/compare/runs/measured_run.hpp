// SPDX-License-Identifier: Apache-2.0
// Result of one run under one policy, whichever backend ran it, and the runner that makes it.
#pragma once

#include <creek/core/energy.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/setup.hpp"

namespace creek::tool::compare {

/// A point of the energy over time, for drawing.
struct energy_point {
  double seconds = 0;
  double joules = 0;
};

struct measured_run {
  double seconds = 0;  ///< on this machine or simulated: see backend_facts::simulated
  std::optional<double> joules;
  energy_origin origin = energy_origin::unavailable;
  std::string source;  ///< source of the joules: rapl, perf, model, simulation ...
  std::string reason;  ///< why there are no joules, and how to get some
  /// CPU time of all workers; on a chip the sum over the cores of the time in which they were not
  /// halted.
  double cpu_seconds = 0;
  /// Part of cpu_seconds without a task: between finding none and beginning the next one.
  double idle_cpu_seconds = 0;
  std::vector<double> activity;  ///< shares of the time with 0, 1, ... workers in tasks of a graph
  std::size_t tasks = 0;         ///< tasks of the graph
  std::string wrong;             ///< why the answer is wrong or missing; empty: it is right
  std::string control;           ///< why clocks were not controlled though the policy would
  std::vector<energy_point> power;  ///< energy over time, where it was recorded
};

/// Facts that are the same for all runs of a study.
struct backend_facts {
  std::string name;        ///< host or scc
  bool simulated = false;  ///< time and energy are exact: one run is enough
  unsigned workers = 0;
  std::string machine;  ///< a short description for people
};

/// A request to run one policy once.
struct run_request {
  std::string_view policy;
  std::string trace = {};  ///< file to write; empty: none
  bool sampled = false;    ///< records measured_run::power, which costs some time
};

/// Runs one problem of one size, the same each time.
class runner {
 public:
  runner() = default;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  virtual const backend_facts& facts() const noexcept = 0;
  /// Returns in words what is computed, and on what.
  virtual std::string about() const = 0;
  /// Runs once. Throws if no run is possible: a policy lacks an option, or there is no memory.
  virtual measured_run run(const run_request& what) = 0;
};

/// Makes the runner for threads of this machine, in its time.
std::unique_ptr<runner> make_host_runner(const setup& given, long long n);
/// Makes the runner for the simulated chip, in its time.
std::unique_ptr<runner> make_scc_runner(const setup& given, long long n);

}  // namespace creek::tool::compare
