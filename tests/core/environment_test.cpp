// SPDX-License-Identifier: Apache-2.0
// The names of creek's environment variables, and which other names count as misspelt ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <creek/core/environment.hpp>

namespace creek {
namespace {

TEST(Environment, EachVariableHasARowInTheDocumentation) {
  std::ifstream page(CREEK_TEST_ENVIRONMENT_PAGE);
  ASSERT_TRUE(page);
  std::vector<std::string> documented;
  const std::regex row("^\\| `(CREEK_[A-Z_]+)` \\|.*");
  for (std::string line; std::getline(page, line);) {
    if (std::smatch found; std::regex_match(line, found, row)) documented.push_back(found[1]);
  }
  const auto known = environment_variables();
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(known.begin(), known.end()));
}

TEST(Environment, MisspeltNamesAreFound) {
  const auto meant = [](const char* name) {
    return std::string(variable_meant_by(name).value_or("none"));
  };
  EXPECT_EQ(meant("CREEK_IDEL"), "CREEK_IDLE") << "exchanged";
  EXPECT_EQ(meant("CREEK_IDL"), "CREEK_IDLE") << "missing";
  EXPECT_EQ(meant("CREEK_IDLEE"), "CREEK_IDLE") << "too many";
  EXPECT_EQ(meant("CREEK_IDLS"), "CREEK_IDLE") << "wrong";
  EXPECT_EQ(meant("CREEK_WORKRES"), "CREEK_WORKERS");
  EXPECT_EQ(meant("CREEK_WRKRES"), "CREEK_WORKERS") << "two letters";
  EXPECT_EQ(meant("CREEK_STACKSIZE"), "CREEK_STACK_SIZE");
  EXPECT_EQ(meant("CREEK_METERS"), "CREEK_METER");
}

TEST(Environment, OtherNamesAreLeftAlone) {
  for (const std::string_view name : environment_variables()) {
    EXPECT_EQ(variable_meant_by(name), std::nullopt) << name;
  }
  for (const char* name :
       {"CREEK_ROOT", "CREEK_DIR", "CREEK_HOME", "CREEK_SOURCE_DIR", "CREEK_TEST_SEED",
        "CREEK_TEST_ROUNDS", "CREEK_TEST_LINE_GB", "CREEK_CI_MINUTE", "CREEK_BENCH_BLAS",
        "CREEK_FUZZ_CORPUS", "CREEK_WITH_TBB", "CREEK", "WORKERS", "CREEL_IDLE", ""}) {
    EXPECT_EQ(variable_meant_by(name), std::nullopt) << name;
  }
}

TEST(EnvironmentWarning, ComesOncePerProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto warn = [] {
    setenv("CREEK_WORKRES", "2", 1);
    setenv("CREEK_TEST_SED", "2", 1);
    warn_of_misspelt_variables();
    warn_of_misspelt_variables();
    std::exit(0);
  };
  EXPECT_EXIT(warn(), testing::ExitedWithCode(0),
              testing::Eq("creek: CREEK_WORKRES: not a variable of creek; did you mean "
                          "CREEK_WORKERS?\n"));
}

}  // namespace
}  // namespace creek
