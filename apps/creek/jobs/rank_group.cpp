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

std::vector<std::byte> gather_bytes(rank_group& ranks, std::span<const std::byte> mine) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks.size()));
  counts[0] = mine.size();
  return ranks.all_to_all_v(mine, std::span<const std::uint64_t>(counts)).data;
}

void gather_report(rank_group& ranks, job_report& report) {
  report.backend = "mpi";
  report.ranks = ranks.size();
  report.workers = ranks.reduce(report.workers, std::plus{}, 0);
  report.bytes = ranks.reduce(report.bytes, std::plus{}, 0);
  report.peak_bytes = ranks.reduce(
      report.peak_bytes, [](auto a, auto b) { return std::max(a, b); }, 0);
  std::string lines;
  for (const std::string& each : report.skipped) lines += each + '\n';
  const std::vector<std::byte> all = gather_bytes(ranks, std::as_bytes(std::span(lines)));
  if (ranks.rank() != 0) return;
  std::istringstream from(std::string(reinterpret_cast<const char*>(all.data()), all.size()));
  report.skipped.clear();
  for (std::string line; std::getline(from, line);) {
    if (std::ranges::find(report.skipped, line) == report.skipped.end()) {
      report.skipped.push_back(line);
    }
  }
}

}  // namespace creek::tool
