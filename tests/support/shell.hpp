// SPDX-License-Identifier: Apache-2.0
// Runs programs as a user does at a shell.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace creek::support {

struct outcome {
  int code = -1;  ///< exit status; -1 if it ended by a signal or could not be run
  std::string output;
};

/// Runs a command line and captures its standard output.
inline outcome run_in_shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  outcome result;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    result.output.append(part.data(), n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace creek::support
