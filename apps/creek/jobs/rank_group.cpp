// SPDX-License-Identifier: Apache-2.0
#include "rank_group.hpp"

#include <algorithm>
#include <creek/core/error.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace creek::tool {

namespace {

/// Throws usage_error for inputs that only rank 0 has.
void require_input_of_all_ranks(const job_options& given) {
  const std::vector<std::string> names = input_names(given);
  if (names.size() > 1 && std::ranges::find(names, "-") != names.end()) {
    throw usage_error(
        "-: only rank 0 has a standard input; with --backend mpi it must be the only input");
  }
}

}  // namespace

int on_ranks_if_asked(const command_line::command& asked, const job_options& given,
                      function_ref<void(rank_group*)> command) {
  if (backend_name(given) != "mpi") {
    command(nullptr);
    return 0;
  }
  refuse(asked, {"--energy"}, "not with --backend mpi");
  require_input_of_all_ranks(given);
  (void)scheduling(given);
  return on_ranks_of_mpi(command);
}

void gather_report(rank_group& ranks, job_report& report) {
  report.backend = "mpi";
  report.ranks = ranks.size();
  report.workers = ranks.reduce(report.workers, std::plus{}, 0);
  report.bytes = ranks.reduce(report.bytes, std::plus{}, 0);
  std::string lines;
  for (const std::string& each : report.skipped) lines += each + '\n';
  const std::uint64_t length = lines.size();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(ranks.size()));
  ranks.gather(std::span<const std::uint64_t>(&length, 1), std::span(lengths), 0);
  if (ranks.rank() != 0) return ranks.send(std::span<const char>(lines), 0);
  for (int from = 1; from < ranks.size(); ++from) {
    std::string theirs(lengths[static_cast<std::size_t>(from)], '\0');
    ranks.recv(std::span<char>(theirs), from);
    std::istringstream all(theirs);
    for (std::string line; std::getline(all, line);) {
      if (std::ranges::find(report.skipped, line) == report.skipped.end()) {
        report.skipped.push_back(line);
      }
    }
  }
}

}  // namespace creek::tool
