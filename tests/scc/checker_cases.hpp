// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of the coherence checker.
#pragma once

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <creek/scc/check.hpp>

/// Returns the faults as the tool prints them; empty if there are none.
inline std::string text_of(const std::vector<creek::scc_backend::fault>& faults) {
  std::ostringstream out;
  print(out, faults);
  return out.str();
}

/// A task that goes through deques.
struct checked_task {
  std::array<std::uint32_t, 10> words{};
};
