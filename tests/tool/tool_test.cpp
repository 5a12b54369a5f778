// SPDX-License-Identifier: Apache-2.0
// The tool from outside: exit codes, one-line errors, and the output of `creek info`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/temporary_folder.hpp"
#include "tool_call.hpp"

namespace {

using creek::support::outcome;
using creek::tool_tests::creek;
using creek::tool_tests::expect_complaint;
using testing::HasSubstr;

TEST(tool, version_and_help_succeed) {
  EXPECT_THAT(creek("--version").output, testing::MatchesRegex("creek [0-9.]+\n"));
  const outcome help = creek("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.output, HasSubstr("Examples:"));
  EXPECT_THAT(help.output, HasSubstr("info"));
  EXPECT_THAT(creek("info --help").output, HasSubstr("Examples:"));
}

TEST(tool, bad_usage_is_one_line_and_exit_code_2) {
  expect_complaint("", 2, "subcommand is required");
  expect_complaint("brook", 2, "brook: no such command");
  expect_complaint("--brook", 2, "--brook: no such command or option");
  expect_complaint("info --brook", 2, "--brook: not an option");
  expect_complaint("info extra", 2, "extra: not an option or argument");
  expect_complaint("info", 2, "CREEK_WORKERS", "CREEK_WORKERS=many");
}

TEST(tool, a_full_standard_output_is_a_failed_run) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const outcome result = creek("info", "2>&1 >/dev/full");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.output, "creek: standard output: No space left on device\n");
}

TEST(info, json_tells_everything) {
  const outcome result = creek("info --json");
  ASSERT_EQ(result.code, 0);
  const auto found = nlohmann::json::parse(result.output);
  EXPECT_EQ(found["schema_version"], 1);
  EXPECT_GE(found["limits"]["workers"], 1);
  EXPECT_LE(found["limits"]["workers"], found["limits"]["hardware"]);
  EXPECT_THAT(found["backends"], testing::Contains("host"));
  EXPECT_EQ(found["simd"]["target"], found["simd"]["usable"][0]);
  EXPECT_TRUE(found["linalg"]["instructions"].is_string());
  EXPECT_TRUE(found["fence"]["membarrier"].is_boolean());
  EXPECT_GT(found["clock"]["ghz"], 0.0);
  EXPECT_TRUE(found["cpu_clocks"]["can_be_set"].is_boolean());
  EXPECT_EQ(found["topology"]["distances"][0][0], 0);
}

TEST(info, shows_another_machine) {
  const auto found = nlohmann::json::parse(
      creek("info --json", "2>/dev/null", "HWLOC_SYNTHETIC='pack:2 numa:1 l3:1 core:4 pu:2'")
          .output);
  EXPECT_EQ(found["topology"]["packages"], 2);
  EXPECT_EQ(found["topology"]["cores"], 8);
}

TEST(info, more_workers_than_cpus_are_called_oversubscribed) {
  const std::string many = "CREEK_WORKERS=4096";
  const auto found = nlohmann::json::parse(creek("info --json", "2>/dev/null", many).output);
  EXPECT_EQ(found["workers"], 4096);
  EXPECT_EQ(found["oversubscribed"], true);
  EXPECT_THAT(creek("info", "2>/dev/null", many).output, HasSubstr("4096 by CREEK_WORKERS"));
}

TEST(info, text_names_each_part) {
  const outcome result = creek("info");
  EXPECT_EQ(result.code, 0);
  for (const char* part : {"creek ", "machine ", "caches ", "memory ", "workers ", "backends ",
                           "vectors ", "products ", "fences ", "clock ", "CPU clocks "}) {
    EXPECT_THAT(result.output, HasSubstr(part));
  }
}

TEST(scc, info_shows_the_chip_and_its_description_comes_back) {
  const outcome text = creek("scc info");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.output, HasSubstr("48 cores, 6 x 4 tiles of 2"));
  const auto found = nlohmann::json::parse(creek("scc info --json --chip scc-800").output);
  EXPECT_EQ(found["schema_version"], 1);
  EXPECT_EQ(found["cores"], 48);
  const creek::support::temporary_folder folder;
  const std::string file = folder / "chip.json";
  const outcome description = creek("scc info --chip scc-800 --description");
  EXPECT_EQ(creek("scc info --chip scc-800 --description", "> " + file).code, 0);
  EXPECT_EQ(creek("scc info --description --chip " + file).output, description.output);
}

TEST(scc, a_chip_that_there_is_not_is_bad_usage) {
  expect_complaint("scc info --chip scc-900", 2, "unknown chip 'scc-900'");
  expect_complaint("scc info --chip ./none.json", 2, "./none.json: No such file or directory");
  const creek::support::temporary_folder folder;
  const std::string file = folder / "chip.json";
  std::ofstream(file) << R"({"costs": {"uc_read": -4}})";
  expect_complaint("scc info --chip " + file, 2, "costs.uc_read must not be negative, but is -4");
  expect_complaint("bench scc-primitives --chip " + file, 2, "costs.uc_read");
}

TEST(scc, measures_computing_by_a_calibration_that_is_kept) {
  const creek::support::temporary_folder folder;
  const std::string config = "XDG_CONFIG_HOME=" + folder.path().string() + " ";
  const std::string count = "wordcount --backend scc --cores 2 --clock measured --json /etc/group";
  expect_complaint(count, 2, "run `creek scc calibrate` first", config);
  const outcome calibrated = creek("scc calibrate --seconds 0.05", "", config);
  ASSERT_EQ(calibrated.code, 0) << calibrated.output;
  const auto kept = nlohmann::json::parse(std::ifstream(folder.path() / "creek" / "clock.json"));
  EXPECT_GT(kept.at("cycles_a_host_second").get<double>(), 0);
  EXPECT_EQ(kept.at("kernels").size(), 3U);
  const auto counted = nlohmann::json::parse(creek(count, "", config).output);
  EXPECT_EQ(counted.at("simulated").at("clock"), "measured");
  EXPECT_EQ(counted.at("simulated").at("cycles_a_host_second"), kept.at("cycles_a_host_second"));
  const auto charged = nlohmann::json::parse(
      creek("wordcount --backend scc --cores 2 --json /etc/group", "", config).output);
  EXPECT_NE(counted.at("simulated").at("virtual_ms"), charged.at("simulated").at("virtual_ms"));
  EXPECT_EQ(counted.at("top"), charged.at("top"));
}

}  // namespace
