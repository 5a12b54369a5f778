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

/// Throws usage_error, before any UE has begun, if the program or the options do not fit; whatever
/// else ends the run (a deadlock on the chip) is creek::error.
run_result run_on_chip(const run_options& given);
/// A deadlock cannot be seen there: the run hangs.
run_result run_on_host(const run_options& given);

}  // namespace creek::rcce
