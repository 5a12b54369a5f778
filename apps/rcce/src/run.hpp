// SPDX-License-Identifier: Apache-2.0
// A run of an RCCE program: its UEs on the cores of a simulated chip, or on host threads.
#pragma once

#include <string>
#include <vector>

#include <creek/scc/spmd.hpp>

#include "program.hpp"
#include "ue.hpp"

namespace creek::rcce {

struct run_options {
  std::vector<std::string> command;  ///< the program and its arguments
  int ues = 0;
  std::vector<int> cores;  ///< core of the chip for each UE
  protocols chosen;
  scc_backend::machine_options chip;
};

struct run_result {
  std::vector<int> status;         ///< value that each UE's program returned
  scc_backend::run_report report;  ///< empty on the host
};

/// Runs the program on the chip. Throws usage_error, before any UE has begun, if the program or the
/// options do not fit, and creek::error if anything else ends the run, such as a deadlock.
run_result run_on_chip(const run_options& given);
/// Runs the program on host threads. A deadlock is not detected there: the run hangs.
run_result run_on_host(const run_options& given);

}  // namespace creek::rcce
