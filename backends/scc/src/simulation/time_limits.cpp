// SPDX-License-Identifier: Apache-2.0
#include "time_limits.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

void time_limits::throw_stuck() const {
  throw error(std::error_code(EDEADLK, std::generic_category()),
              simulation_.cores().report(
                  "livelock: nothing but polling for " +
                  std::to_string(stuck_after_.femtoseconds / 1'000'000'000'000) + " ms"));
}

void time_limits::throw_end_of_time() {
  throw error(std::error_code(EOVERFLOW, std::generic_category()),
              "simulated chip: virtual time ends after " +
                  std::to_string(latest.femtoseconds / 1'000'000'000'000'000) + " seconds");
}

}  // namespace creek::scc_backend
