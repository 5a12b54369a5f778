// SPDX-License-Identifier: Apache-2.0
// The report of `creek info` on the clocks of other machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "power/recorded_machine.hpp"
#include "support/shell.hpp"

namespace {

using creek::power::recorded_machine;
using creek::support::outcome;
using creek::support::run_in_shell;
using testing::HasSubstr;

nlohmann::json clocks_as_json() {
  const outcome result = run_in_shell(CREEK_TOOL " info --json");
  EXPECT_EQ(result.code, 0);
  return nlohmann::json::parse(result.output)["cpu_clocks"];
}

TEST(info_clocks, tells_of_each_kind_of_core) {
  const recorded_machine machine("arm_big_little");
  const outcome result = run_in_shell(CREEK_TOOL " info");
  EXPECT_THAT(
      result.output,
      HasSubstr("CPU clocks cpufreq-dt, governor schedutil, 408 to 1416 MHz in 6 steps, set "
                "by speed: CPUs 0-3 in 1 policy\n"));
  EXPECT_THAT(result.output, HasSubstr("408 to 1800 MHz in 8 steps, set by speed: CPUs 4-5"));
}

TEST(info_clocks, json_has_every_policy) {
  const recorded_machine machine("intel_pstate_active");
  const auto found = clocks_as_json();
  ASSERT_EQ(found["policies"].size(), 8u);
  EXPECT_EQ(found["policies"][3]["cpus"], nlohmann::json::array({3}));
  EXPECT_EQ(found["policies"][3]["driver"], "intel_pstate");
  EXPECT_EQ(found["policies"][3]["governor"], "powersave");
  EXPECT_EQ(found["policies"][3]["highest_hz"], 4.2e9);
  EXPECT_EQ(found["policies"][3]["set_by"], "limits");
  EXPECT_EQ(found["policies"][3]["why_not"], nullptr);
}

TEST(info_clocks, says_why_they_cannot_be_set) {
  const recorded_machine machine("virtual_machine");
  const auto found = clocks_as_json();
  EXPECT_EQ(found["can_be_set"], false);
  EXPECT_THAT(found["why_not"].get<std::string>(), HasSubstr("virtual machine"));
  EXPECT_THAT(run_in_shell(CREEK_TOOL " info").output,
              HasSubstr("CPU clocks cannot be set: no policies in "));
}

TEST(info_clocks, a_tree_that_is_not_there_is_bad_usage) {
  const outcome result = run_in_shell("CREEK_SYSFS=/nowhere/at/all " CREEK_TOOL " info 2>&1");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.output, HasSubstr("creek: CREEK_SYSFS='/nowhere/at/all' is not a folder"));
}

}  // namespace
