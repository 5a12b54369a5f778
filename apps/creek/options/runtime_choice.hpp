// SPDX-License-Identifier: Apache-2.0
// How the command line and the environment choose workers and their backend.
#pragma once

#include <array>
#include <cstdlib>
#include <string>

namespace creek::tool {

/// Names for --help; parse_scheduler(), parse_deque() and parse_idle() decide which are valid.
inline constexpr std::array<const char*, 4> scheduler_choices{"random", "last-victim", "latency",
                                                              "sharing"};
inline constexpr std::array<const char*, 2> deque_choices{"host", "mpb"};
inline constexpr std::array<const char*, 3> idle_choices{"poll", "backoff", "block"};

/// Returns CREEK_BACKEND, or the default.
inline std::string backend_of_environment() {
  const char* name = std::getenv("CREEK_BACKEND");
  return name != nullptr && *name != '\0' ? name : "host";
}

}  // namespace creek::tool
