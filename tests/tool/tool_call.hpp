// SPDX-License-Identifier: Apache-2.0
// Calls of the tool from outside.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/shell.hpp"

namespace creek::tool_tests {

/// Runs `creek ARGUMENTS` through the shell. `redirect` says where the streams go: by default
/// standard output is captured, with "2>&1 >/dev/null" standard error instead.
inline support::outcome creek(const std::string& arguments,
                              const std::string& redirect = "2>/dev/null",
                              const std::string& environment = "") {
  return support::run_in_shell(environment + " " CREEK_TOOL " " + arguments + " " + redirect);
}

/// Bad usage and failures print one line and nothing on standard output.
inline void expect_complaint(const std::string& arguments, int code, const std::string& part,
                             const std::string& environment = "") {
  const support::outcome errors = creek(arguments, "2>&1 >/dev/null", environment);
  EXPECT_EQ(errors.code, code) << arguments;
  EXPECT_THAT(errors.output, testing::StartsWith("creek: ")) << arguments;
  EXPECT_THAT(errors.output, testing::HasSubstr(part)) << arguments;
  EXPECT_EQ(std::ranges::count(errors.output, '\n'), 1) << errors.output;
  EXPECT_EQ(creek(arguments, "2>/dev/null", environment).output, "") << arguments;
}

}  // namespace creek::tool_tests
