// SPDX-License-Identifier: Apache-2.0
// Measuring several contestants side by side: one process a run, round robin over the contestants,
// so that whatever disturbs the machine disturbs all of them alike.
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
  std::vector<double> figures = {};  ///< in the workload's unit, in the order of the runs
  std::string answer = {};
  std::string failure = {};   ///< why there are no figures
  bool unmeasurable = false;  ///< ... and that is nobody's fault

  [[nodiscard]] double median() const;
  [[nodiscard]] double min() const;
  [[nodiscard]] double max() const;
  /// Half the distance between the quartiles, relative to the median.
  [[nodiscard]] double spread() const;
  [[nodiscard]] bool ok() const { return failure.empty() && !figures.empty(); }
};

struct plan {
  size_class size = size_class::full;
  std::vector<std::int64_t> sizes = {};  ///< instead of those of the size class, if any
  std::vector<unsigned> workers;
  int rounds = 5;
  std::int64_t grain = 0;                            ///< busy-loop steps in a microsecond
  std::chrono::seconds limit{120};                   ///< for one process
  std::function<void(const std::string&)> progress;  ///< told what is being measured
};

/// The sizes that a workload is run at: those asked for, or else its own.
const std::vector<std::int64_t>& sizes_of(const workload& w, const plan& how);

/// Runs one workload at one size for all contestants that have it. Serial code runs with one worker
/// only. A contestant whose answer differs from the serial one (else from the first) fails.
std::vector<series> compare(const workload& w, std::int64_t n,
                            const std::vector<contestant>& contestants, const plan& how);

/// Nanoseconds a step of the busy loop takes on this machine, as steps in a microsecond; 0 without
/// the peer that measures it.
std::int64_t calibrate_grain(const catalogue& found, const plan& how);

}  // namespace creek::tool::bench
