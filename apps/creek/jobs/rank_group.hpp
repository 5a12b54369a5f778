// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI run, for commands that do not depend on MPI.
#pragma once

#include <algorithm>
#include <creek/core/function_ref.hpp>
#include <creek/core/messages/collectives.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "job_options.hpp"
#include "job_report.hpp"

namespace creek::tool {

/// This process as one of several ranks, which send each other bytes. One thread uses it.
class rank_group : public collectives<rank_group> {
 public:
  virtual ~rank_group() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void send_bytes(std::span<const std::byte> data, int to) = 0;
  virtual void receive_bytes(std::span<std::byte> data, int from) = 0;
  /// Records what this rank does, for the line that names a rank that ended.
  virtual void doing(const char* stage) = 0;

  template <class T>
  void send(std::span<const T> data, int to) {
    send_bytes(std::as_bytes(data), to);
  }
  template <class T>
  void recv(std::span<T> data, int from) {
    receive_bytes(std::as_writable_bytes(data), from);
  }
};

/// Calls `command` with null or, with --backend mpi, on each rank with the ranks; there it prints
/// and writes on rank 0 only. Returns the exit code. Faults of the options are thrown before there
/// are ranks; a later failure has been reported.
[[nodiscard]] int on_ranks_if_asked(const job_options& given,
                                    function_ref<void(rank_group*)> command);

/// Implements that for --backend mpi. Throws usage_error in a tool without MPI.
[[nodiscard]] int on_ranks_of_mpi(function_ref<void(rank_group*)> command);

/// Throws usage_error for inputs that only rank 0 has.
void require_input_of_all_ranks(const job_options& given);

/// Adds up, on rank 0, what each rank has done: workers, bytes, and files that it skipped. All
/// ranks call it.
template <class Ranks>
void gather_report(Ranks& ranks, job_report& report) {
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
