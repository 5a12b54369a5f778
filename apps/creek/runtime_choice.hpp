// SPDX-License-Identifier: Apache-2.0
// How the command line and the environment choose workers and their backend.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include <creek/core/error.hpp>
#include <creek/tasking/options.hpp>

namespace creek::tool {

/// The value of --workers. Throws usage_error.
inline unsigned checked_workers(long long asked) {
  if (asked < 1 || asked > scheduler_options::max_workers) {
    throw usage_error(
        fmt::format("--workers {}: must be 1 to {}", asked, scheduler_options::max_workers));
  }
  return static_cast<unsigned>(asked);
}

/// CREEK_BACKEND, or the default.
inline std::string backend_of_environment() {
  const char* name = std::getenv("CREEK_BACKEND");
  return name != nullptr && *name != '\0' ? name : "host";
}

}  // namespace creek::tool
