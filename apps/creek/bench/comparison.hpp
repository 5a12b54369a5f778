// SPDX-License-Identifier: Apache-2.0
// Measures several contestants side by side: one process per run, round robin over the contestants,
// so that a disturbance of the machine affects all of them alike.
#pragma once
#include <functional>

#include "peers.hpp"

namespace creek::tool::bench {

/// One column of a table: a peer, perhaps with options of its own.
struct contestant {
  std::string label;
  peer program;
  std::vector<std::string> options = {};
};

/// All runs of one contestant at one workload and number of workers.
struct series {
  std::string label;
  std::string version;
  std::string workload;
  unsigned workers = 1;
  std::int64_t n = 0;
  double work = 0;
  std::vector<double> figures = {};      ///< in the workload's unit, in the order of the runs
  std::vector<double> best_calls = {};   ///< of each run of a workload of calls
  std::vector<double> first_calls = {};  ///< likewise
  std::string answer = {};
  std::string failure = {};   ///< why there are no figures
  bool unmeasurable = false;  ///< the lack of figures is nobody's fault

  [[nodiscard]] double median() const;
  [[nodiscard]] double min() const;
  [[nodiscard]] double max() const;
  /// Returns half the distance between the quartiles, relative to the median.
  [[nodiscard]] double spread() const;
  [[nodiscard]] bool ok() const { return failure.empty() && !figures.empty(); }
};

struct plan {
  size_class size = size_class::full;
  std::vector<std::int64_t> sizes = {};  ///< replace those of the size class if not empty
  std::vector<unsigned> workers;
  int rounds = 5;
  std::int64_t grain = 0;                            ///< busy-loop steps in a microsecond
  std::chrono::seconds limit{120};                   ///< for one process
  std::function<void(const std::string&)> progress;  ///< called with what is being measured
};

/// Returns the sizes to run a workload at: those of the plan if any, else the workload's own.
const std::vector<std::int64_t>& sizes_of(const workload& w, const plan& how);

/// Runs one workload at one size for all contestants that have it. Serial code runs with one worker
/// only. A contestant fails if its answer differs from the serial one (else from the first).
std::vector<series> compare(const workload& w, std::int64_t n,
                            const std::vector<contestant>& contestants, const plan& how);

/// Measures the busy loop of this machine and returns its steps per microsecond; 0 without the peer
/// that measures it.
std::int64_t calibrate_grain(const catalogue& found, const plan& how);

}  // namespace creek::tool::bench
