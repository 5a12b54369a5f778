// SPDX-License-Identifier: Apache-2.0
// Baseline without sharing: a std::vector used as a stack.
#include "config.hpp"

namespace bench::deque {
namespace {

sample run_vector(const settings& s) {
  std::vector<std::uint64_t> stack;
  return run(
      s,
      [&](std::uint64_t value) {
        stack.push_back(value);
        asm volatile("" : : : "memory");
      },
      [&] {
        const std::uint64_t value = stack.back();
        stack.pop_back();
        asm volatile("" : : : "memory");
        return value;
      });
}

const registration registered{what, run_vector};

}  // namespace
}  // namespace bench::deque
