// SPDX-License-Identifier: Apache-2.0
// The seed of a random test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace creek::support {

/// Returns CREEK_TEST_SEED, which repeats a run, or a random seed; the same one at every call.
inline std::uint64_t chosen_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("CREEK_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }();
  return seed;
}

}  // namespace creek::support
