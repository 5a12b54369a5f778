// SPDX-License-Identifier: Apache-2.0
// Figures of the simulated chip as the tool prints them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/temporary_folder.hpp"
#include "tool_call.hpp"

namespace {

using creek::support::outcome;
using creek::tool_tests::creek;
using creek::tool_tests::expect_complaint;

TEST(scc_figures, shows_ways_to_copy_beside_each_other) {
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

TEST(scc_figures, shows_message_protocols_beside_each_other) {
  const outcome all = creek("bench scc-messages --json --cores 4 --check");
  ASSERT_EQ(all.code, 0) << all.output;
  const auto tables = nlohmann::json::parse(all.output);
  for (const char* table : {"send_receive", "broadcast", "all_to_all", "halo", "barrier", "lock"}) {
    EXPECT_FALSE(tables.at(table).empty()) << table;
    for (const auto& row : tables.at(table)) {
      EXPECT_GT(row.value("virtual_us", row.value("virtual_us_each", 0.0)), 0.0) << row;
    }
  }
}

TEST(scc_figures, shows_what_invocations_take) {
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

TEST(scc_figures, its_primitives_are_within_three_percent_of_the_published) {
  const outcome result = creek("bench scc-primitives --json");
  EXPECT_EQ(result.code, 0);
  const auto found = nlohmann::json::parse(result.output);
  EXPECT_GT(found["primitives"].size(), 40U);
  for (const auto& one : found["primitives"]) {
    EXPECT_LE(std::abs(one["error"].get<double>()), 0.03) << one["name"];
  }
}

TEST(scc_figures, primitives_of_another_chip_are_compared_with_nothing) {
  const creek::support::temporary_folder folder;
  const std::string file = folder / "chip.json";
  std::ofstream(file) << R"({"name": "scc-533", "costs": {"l1_line": 90}})";
  const outcome other = creek("bench scc-primitives --json --chip " + file);
  EXPECT_EQ(other.code, 0);
  EXPECT_FALSE(nlohmann::json::parse(other.output)["primitives"][0].contains("paper"));
}

}  // namespace
