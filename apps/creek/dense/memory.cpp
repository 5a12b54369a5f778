// SPDX-License-Identifier: Apache-2.0
// Checks whether a problem fits into the memory that this process may use.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <filesystem>
#include <fstream>

#include "problem.hpp"

namespace creek::tool::dense {
namespace {

namespace fs = std::filesystem;

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

/// Returns the number in a file; `otherwise` for "max" and for missing files.
double number_in_file(const fs::path& file, double otherwise) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? value : otherwise;
}

/// Returns the smallest limit of the process's control group and those above it: version 2, and
/// version 1 as a container sees it.
double group_limit(double otherwise) {
  const fs::path root = "/sys/fs/cgroup";
  double least = number_in_file(root / "memory/memory.limit_in_bytes", otherwise);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (fs::path group = line.substr(4);; group = group.parent_path()) {
      least = std::min(least, number_in_file(root / group / "memory.max", otherwise));
      if (group.empty()) break;
    }
  }
  return least;
}

double usable_memory() {
  const auto machine = static_cast<double>(linalg::machine_memory());
  rlimit process{};
  const bool limited = getrlimit(RLIMIT_AS, &process) == 0 && process.rlim_cur != RLIM_INFINITY;
  return std::min(
      {machine, group_limit(machine), limited ? static_cast<double>(process.rlim_cur) : machine});
}

}  // namespace

void require_memory(const problem& what) {
  require_memory(what, bytes_needed(what));
}

void require_memory(const problem& what, double needed) {
  const double there = usable_memory();
  if (needed <= there) return;
  throw error(ENOMEM,
              fmt::format("{} of {} x {}, type {}: needs {:.3g} GiB, the machine has {:.3g} GiB",
                          what.command, what.rows, what.cols, static_cast<char>(what.type),
                          needed / gib, there / gib));
}

}  // namespace creek::tool::dense
