// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI run, for commands that do not depend on MPI.
#pragma once

#include <creek/core/function_ref.hpp>
#include <creek/core/messages/any_communicator.hpp>
#include <cstddef>
#include <span>
#include <vector>

#include "job_options.hpp"
#include "job_report.hpp"

namespace creek::tool {

/// This process as one of the ranks.
using rank_group = any_communicator;

/// Calls `command` with null or, with --backend mpi, on each rank with the ranks; there it prints
/// and writes on rank 0 only. Returns the exit code. Faults of the options are thrown before there
/// are ranks; a later failure has been reported.
[[nodiscard]] int on_ranks_if_asked(const command_line::command& asked, const job_options& given,
                                    function_ref<void(rank_group*)> command);

/// Implements that for --backend mpi. Throws usage_error in a tool without MPI.
[[nodiscard]] int on_ranks_of_mpi(function_ref<void(rank_group*)> command);

/// Returns on rank 0 the bytes of all ranks, in the order of the ranks, and nothing elsewhere. All
/// ranks call it.
[[nodiscard]] std::vector<std::byte> gather_bytes(rank_group& ranks,
                                                  std::span<const std::byte> mine);

/// Adds up, on rank 0, what each rank has done: workers, bytes, and files that it skipped. All
/// ranks call it.
void gather_report(rank_group& ranks, job_report& report);

}  // namespace creek::tool
