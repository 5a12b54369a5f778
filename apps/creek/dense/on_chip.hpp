// SPDX-License-Identifier: Apache-2.0
// `creek lu|chol|qr --backend scc`: one factorization in the shared memory of a simulated chip,
// or by messages between its cores.
#pragma once

#include <string>

#include "chip/chip_options.hpp"
#include "options/policy_options.hpp"
#include "problem.hpp"

namespace creek::command_line {
class command;
}

namespace creek::tool::dense {

struct chip_request {
  std::string backend;  ///< empty: the environment decides
  chip_options chip;
  std::string policy = "blocking";
  std::string memory = "shared";  ///< "shared" or "messages"
  std::string moves = "uncached";
  policy_limits limits;
};

void add_chip_request(command_line::command& command, chip_request& given);

/// Returns whether the simulated chip was asked for. If not, throws usage_error for its options.
bool is_on_chip(const command_line::command& command, const chip_request& given);

/// Runs the factorization, prints time, energy and residual, and returns the exit code.
int run_on_chip(const request& what, const chip_request& given);

}  // namespace creek::tool::dense
