// SPDX-License-Identifier: Apache-2.0
// The tool from outside: exit codes, one-line errors, and the output of `creek info`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/process_facts.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

namespace {

using creek::support::outcome;
using testing::HasSubstr;
using testing::StartsWith;

// Runs `creek ARGUMENTS` through the shell. `redirect` says where the streams go: by default
// standard output is captured, with "2>&1 >/dev/null" standard error instead.
outcome creek(const std::string& arguments, const std::string& redirect = "2>/dev/null",
              const std::string& environment = "") {
  return creek::support::run_in_shell(environment + " " CREEK_TOOL " " + arguments + " " +
                                      redirect);
}

// Bad usage and failures print one line and nothing on standard output.
void expect_complaint(const std::string& arguments, int code, const std::string& part,
                      const std::string& environment = "") {
  const outcome errors = creek(arguments, "2>&1 >/dev/null", environment);
  EXPECT_EQ(errors.code, code) << arguments;
  EXPECT_THAT(errors.output, StartsWith("creek: ")) << arguments;
  EXPECT_THAT(errors.output, HasSubstr(part)) << arguments;
  EXPECT_EQ(std::ranges::count(errors.output, '\n'), 1) << errors.output;
  EXPECT_EQ(creek(arguments, "2>/dev/null", environment).output, "") << arguments;
}

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

/// Figures of the simulator, whose own tests run under the sanitizers.
class scc_figures : public testing::Test {
 protected:
  void SetUp() override {
    if (creek::support::under_sanitizer) GTEST_SKIP() << "takes a minute under a sanitizer";
  }
};

TEST_F(scc_figures, shows_ways_to_copy_beside_each_other) {
  const outcome all = creek("bench scc-copies --json --cores 4 --bytes 8192 --check");
  ASSERT_EQ(all.code, 0) << all.output;
  std::map<std::string, nlohmann::json> first;
  const auto found = nlohmann::json::parse(all.output);
  for (const auto& row : found.at("copies")) {
    first.try_emplace(row.at("copy"), row);
  }
  ASSERT_EQ(first.size(), 5U);
  const auto rate = [&](const char* how) {
    return first.at(how).at("virtual_MB_s_a_core").get<double>();
  };
  EXPECT_GT(rate("mpbt-target"), 2.5 * rate("plain")) << "lines instead of words";
  EXPECT_LT(first.at("copy-cores").at("held").get<double>(), 0.05);
  EXPECT_EQ(first.at("lut-remap").at("held"), 1.0);
  const auto one = nlohmann::json::parse(creek("bench scc-copies --json --method plain").output);
  for (const auto& row : one.at("copies")) EXPECT_EQ(row.at("copy"), "plain");
  expect_complaint("bench scc-copies --method best", 2, "best not in {plain,");
  expect_complaint("bench scc-copies --bytes 8000000", 2, "at most 7340032");
}

TEST_F(scc_figures, shows_message_protocols_beside_each_other) {
  const outcome all = creek("bench scc-messages --json --cores 4 --check");
  ASSERT_EQ(all.code, 0) << all.output;
  const auto tables = nlohmann::json::parse(all.output);
  for (const char* table : {"send_receive", "broadcast", "all_to_all", "barrier", "lock"}) {
    EXPECT_FALSE(tables.at(table).empty()) << table;
    for (const auto& row : tables.at(table)) {
      EXPECT_GT(row.value("virtual_us", row.value("virtual_us_each", 0.0)), 0.0) << row;
    }
  }
}

TEST_F(scc_figures, shows_what_invocations_take) {
  const std::string command =
      "bench scc-invoke --json --cores 4 --check --protocol vector --protocol ring";
  const outcome all = creek(command);
  ASSERT_EQ(all.code, 0) << all.output;
  EXPECT_EQ(creek(command).output, all.output);
  const auto tables = nlohmann::json::parse(all.output);
  EXPECT_EQ(tables.at("chip"), "scc-800");
  for (const char* table : {"round_trip", "step", "ring", "work_queue", "senders", "energy"}) {
    EXPECT_FALSE(tables.at(table).empty()) << table;
    for (const auto& row : tables.at(table)) {
      EXPECT_TRUE(row.at("protocol") == "vector" || row.at("protocol") == "ring") << row;
      for (const auto& [key, value] : row.items()) {
        if (value.is_number_float() && key != "network_cycles") {
          EXPECT_GT(value.get<double>(), 0.0) << key;
        }
      }
    }
  }
  for (const auto& row : tables.at("round_trip")) {
    EXPECT_NEAR(row.at("call_cycles").get<double>(), 1800, 400) << "[R12]: 1600 to 2000";
  }
  expect_complaint("bench scc-invoke --protocol mail", 2, "mail not in {vector,");
  expect_complaint("bench scc-invoke --cores 1", 2, "needs at least two cores");
}

TEST_F(scc_figures, its_primitives_are_within_three_percent_of_the_published) {
  const outcome result = creek("bench scc-primitives --json");
  EXPECT_EQ(result.code, 0);
  const auto found = nlohmann::json::parse(result.output);
  EXPECT_GT(found["primitives"].size(), 40U);
  for (const auto& one : found["primitives"]) {
    EXPECT_LE(std::abs(one["error"].get<double>()), 0.03) << one["name"];
  }
}

TEST_F(scc_figures, primitives_of_another_chip_are_compared_with_nothing) {
  const creek::support::temporary_folder folder;
  const std::string file = folder / "chip.json";
  std::ofstream(file) << R"({"name": "scc-533", "costs": {"l1_line": 90}})";
  const outcome other = creek("bench scc-primitives --json --chip " + file);
  EXPECT_EQ(other.code, 0);
  EXPECT_FALSE(nlohmann::json::parse(other.output)["primitives"][0].contains("paper"));
}

}  // namespace
