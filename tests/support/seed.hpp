// SPDX-License-Identifier: Apache-2.0
// Numbers that the environment sets: the seed of a random test, how long it takes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace creek::support {

/// Returns the number in a variable of the environment, or `otherwise` if it is not set.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// Returns CREEK_TEST_SEED, which repeats a run, or a random seed; the same one at every call.
inline std::uint64_t chosen_seed() {
  static const std::uint64_t seed = number_from("CREEK_TEST_SEED", std::random_device{}());
  return seed;
}

}  // namespace creek::support
