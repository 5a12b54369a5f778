// SPDX-License-Identifier: Apache-2.0
// `creek lu|chol|qr --backend mpi`: factorizations of a generated matrix on the ranks of an MPI
// run, each of which has workers that follow a power policy.
#pragma once

#include "on_chip.hpp"
#include "problem.hpp"

namespace creek::tool::dense {

/// Returns whether ranks were asked for. If so, throws usage_error for options that they lack.
bool is_on_ranks(const command_line::command& command, const request& what,
                 const chip_request& given);

/// Runs the factorization on all ranks, of which rank 0 prints time, energy and residual, and
/// returns the exit code of this rank.
int run_on_ranks(const command_line::command& command, const request& what,
                 const chip_request& given);

}  // namespace creek::tool::dense
