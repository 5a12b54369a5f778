// SPDX-License-Identifier: Apache-2.0
// The benchmark executables: their list, their workloads, and one run of one of them. The protocol
// (one JSON object per line) is described in bench/README.md.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace creek::tool::bench {

enum class size_class { full, quick, smoke };

/// A workload as the peers describe it.
struct workload {
  std::string name;
  std::string about;
  std::string unit;
  std::vector<std::int64_t> full = {};  ///< sizes, ascending
  std::vector<std::int64_t> quick = {};
  std::vector<std::int64_t> smoke = {};
  unsigned min_workers = 1;
  bool limit = false;        ///< a limit of the machine, not a contest between peers
  bool all_workers = false;  ///< a limit of all workers together
  bool rate = false;         ///< figure = work / time
  bool warmup = true;        ///< an untimed run comes first
  bool calls = false;  ///< a run is many calls of a library: it also has the best and the first
  double scale = 1;
  std::string groups = "tasking";   ///< commands that run it, separated by blanks
  std::vector<std::string> bounds;  ///< limits that its figures are compared with
  std::string share_of;             ///< its figures are shares of this workload's best rate

  [[nodiscard]] bool in(const std::string& group) const;
  [[nodiscard]] const std::vector<std::int64_t>& sizes(size_class c) const;
  /// Returns the figure, in `unit`, of a run that did `work` in `total_ns`.
  [[nodiscard]] double figure(double total_ns, double work) const;
};

struct peer {
  std::string name;
  std::string version;
  std::filesystem::path program;
  std::vector<std::string> workloads;
  std::vector<std::string> options = {};  ///< passed to every run if a program has several peers
  [[nodiscard]] bool has(const std::string& name_of_workload) const;
};

/// A peer that this tool knows and did not find.
struct missing_peer {
  std::string name;
  std::string how;  ///< how to get it
};

/// Everything found.
struct catalogue {
  std::vector<peer> peers;      ///< in the order of the table
  std::optional<peer> machine;  ///< the peer that measures the limits
  std::map<std::string, workload> workloads;
  std::vector<missing_peer> missing;
};

/// Finds the executables in `folder` if not empty, else beside this program and in
/// ../libexec/creek, asks those that have a part in `group`, and keeps the workloads that belong to
/// it. Throws creek::error if there is none at all.
catalogue find_peers(const std::filesystem::path& folder, std::chrono::seconds limit,
                     const std::string& group = "tasking");

/// Returns the folder of this program.
std::filesystem::path own_folder();

struct request {
  std::string workload;
  std::int64_t n = 0;
  unsigned workers = 1;
  std::int64_t grain = 0;  ///< 0: the peer's default
  bool warmup = true;
  std::vector<std::string> extra;  ///< further options of the peer
};

/// Result of one process, or the reason why there is none.
struct measurement {
  double total_ns = 0;
  double work = 0;
  double best_ns = 0;   ///< of a workload of calls, with the work of one as all of them
  double first_ns = 0;  ///< first call of the process
  std::string answer = {};
  std::string failure;        ///< empty if all is well
  bool unmeasurable = false;  ///< failed because there was nothing to measure here
};

/// Runs one process for one timed run.
measurement measure(const peer& p, const request& r, std::chrono::seconds limit);

}  // namespace creek::tool::bench
