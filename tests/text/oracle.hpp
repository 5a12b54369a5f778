// SPDX-License-Identifier: Apache-2.0
// Cases of Python's standard library, as oracle.py prints them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "support/shell.hpp"

namespace creek::text {

inline std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string part; std::getline(from, part, separator);) parts.push_back(part);
  return parts;
}

inline std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// Returns the three fields of each case.
inline std::vector<std::array<std::string, 3>> oracle(const std::string& kind, std::uint64_t seed) {
  const auto made = support::run_in_shell(std::string(std::getenv("CREEK_TEST_PYTHON")) + " -B " +
                                          std::getenv("CREEK_TEST_ORACLE") + " " + kind + " " +
                                          std::to_string(seed));
  EXPECT_EQ(made.code, 0);
  std::vector<std::array<std::string, 3>> cases;
  for (const std::string& line : split(made.output, '\n')) {
    std::vector<std::string> fields = split(line, ';');
    fields.resize(3);
    cases.push_back({fields[0], fields[1], fields[2]});
  }
  return cases;
}

}  // namespace creek::text
