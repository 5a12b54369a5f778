// SPDX-License-Identifier: Apache-2.0
// Runs a problem and measures gemm beside it.
#pragma once

#include <creek/tasking/runtime.hpp>

#include "dense/jobs/output_files.hpp"
#include "problem.hpp"
#include "report.hpp"

namespace creek::tool::dense {

/// Reads or makes the operands, runs the work as often as asked, in turn with products of matrices
/// of the same type on the same workers, judges the last answer and, unless the run failed, writes
/// it. A numerical failure ends the runs. Call it outside of tasks.
report measure(const problem& what, input_files& files, output_files& outputs, runtime& workers);

}  // namespace creek::tool::dense
