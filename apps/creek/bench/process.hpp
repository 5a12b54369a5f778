// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end and reads what it printed.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace creek::tool::bench {

struct process_result {
  std::string output;
  std::string errors;
  int exit_code = 0;  ///< 128 + signal if it was killed
  bool timed_out = false;
};

/// Runs `program` with `arguments`, standard input empty, and waits for its end; kills it after
/// `limit`. Throws creek::error if it cannot be started.
process_result run_process(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments, std::chrono::seconds limit);

}  // namespace creek::tool::bench
