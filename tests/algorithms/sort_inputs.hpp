// SPDX-License-Identifier: Apache-2.0
// Inputs on which sorts have failed: orders, repetitions and patterns, of any length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace creek::support {

/// Returns named sequences of n small integers (below 2^31) from one generator.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> sort_inputs(
    std::size_t n, std::mt19937_64& random) {
  const auto make = [n](auto element) {
    std::vector<std::int64_t> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::int64_t>(element(i));
    return v;
  };
  auto nearly = make([](std::size_t i) { return i; });
  for (std::size_t i = 0; i < n / 100 + 1 && n > 0; ++i)
    std::swap(nearly[random() % n], nearly[random() % n]);
  return {
      {"random", make([&](std::size_t) { return random() >> 33; })},
      {"few values", make([&](std::size_t) { return random() % 3; })},
      {"ascending", make([](std::size_t i) { return i; })},
      {"descending", make([n](std::size_t i) { return n - i; })},
      {"all equal", make([](std::size_t) { return 42; })},
      {"organ pipe", make([n](std::size_t i) { return std::min(i, n - i); })},
      {"valley", make([n](std::size_t i) { return std::max(i, n - i); })},
      {"sawtooth", make([](std::size_t i) { return i % 97; })},
      {"two runs", make([n](std::size_t i) { return (i * 2) % (n | 1); })},
      {"one out of place", make([n](std::size_t i) { return i + 1 == n ? 0 : i + 1; })},
      {"nearly sorted", std::move(nearly)},
      {"median-of-three killer",
       make([n](std::size_t i) { return i % 2 == 0 ? i : n / 2 + i / 2; })},
  };
}

}  // namespace creek::support
