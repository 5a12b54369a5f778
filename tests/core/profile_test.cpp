// SPDX-License-Identifier: Apache-2.0
// Profiles as text and JSON, and what CREEK_PROFILE may say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/measuring/profile.hpp>

#include "support/temporary_folder.hpp"

namespace creek {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::array<profile::task, 2> two_tasks{
    {{"render(scene&)::<lambda()>", 4, 12ms, 5ms, 1500us}, {"\"b\"", 1, 950ns, 950ns, 0ns}}};
const std::array<profile::worker, 2> two_workers{
    {{9ms, 500us, 500us, 0ns}, {3'000'950ns, 0ns, 6'999'050ns, 0ns}}};
const profile of_two_workers{
    .backend = "host", .duration = 10ms, .tasks = two_tasks, .workers = two_workers};

/// Returns what `print(file)` prints.
template <class Print>
std::string printed(Print print) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const memory = open_memstream(&text, &bytes);
  print(memory);
  std::fclose(memory);
  std::string all(text, bytes);
  std::free(text);
  return all;
}
std::string table_of(const profile& times, std::size_t most = 20) {
  return printed([&](std::FILE* to) { print(times, to, most); });
}
std::string json_of(const profile& times) {
  return printed([&](std::FILE* to) { print_json(times, to); });
}

TEST(profile_table, has_a_row_per_task_and_worker) {
  EXPECT_EQ(table_of(of_two_workers),
            "creek: profile of 2 workers on host, 10.0 ms of wall time (CREEK_PROFILE)\n"
            "      time    share      count       mean    longest  suspended  task, with what ran "
            "within it\n"
            "   12.0 ms   60.0 %          4    3.00 ms    5.00 ms    1.50 ms  "
            "render(scene&)::<lambda()>\n"
            "    950 ns    0.0 %          1     950 ns     950 ns       0 ns  \"b\"\n"
            "    worker    running  searching   sleeping    waiting\n"
            "         0     90.0 %      5.0 %      5.0 %      0.0 %\n"
            "         1     30.0 %      0.0 %     70.0 %      0.0 %\n"
            "       all     60.0 %      2.5 %     37.5 %      0.0 %\n");
}

TEST(profile_table, sums_up_what_exceeds_its_length) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("task " + std::to_string(i));
  std::vector<profile::task> tasks;
  for (int i = 0; i < 30; ++i) {
    tasks.push_back({names[i].c_str(), 1, 1ms, std::chrono::microseconds{i}, 2ms});
  }
  const std::vector<profile::worker> workers(30, {.running = 1ms, .sleeping = 1ms});
  const std::string table = table_of({"host", 1s, tasks, workers}, 3);
  EXPECT_THAT(table, HasSubstr("  task 2\n"));
  EXPECT_THAT(table, Not(HasSubstr("task 3\n")));
  EXPECT_THAT(
      table,
      HasSubstr(
          "   27.0 ms   45.0 %         27    1.00 ms    29.0 us    54.0 ms  27 other names\n"));
  EXPECT_THAT(table, HasSubstr("\n    others     50.0 %"));
  EXPECT_THAT(table, HasSubstr("\n       all     50.0 %"));
}

TEST(profile_table, shortens_long_names_in_the_middle) {
  const std::string begin = "begin_of_the_name<", end = ">::run()::<lambda()>";
  const std::string long_name = begin + std::string(500, 'x') + end;
  const std::array<profile::task, 2> tasks{
      {{long_name.c_str(), 1, 1ms, 1ms, 0ms},
       {"creek::detail::loop<{anonymous}::a\nb>", 1, 1ms, 1ms, 0ms}}};
  const std::string table = table_of({"host", 1s, tasks, {}});
  EXPECT_THAT(table, HasSubstr(begin + "xxxxxxxxxxxx...xxxxxxx" + end + "\n"));
  EXPECT_THAT(table, HasSubstr("  loop<a b>\n"));
}

TEST(profile_table, of_nothing_has_no_shares) {
  EXPECT_THAT(table_of({.backend = "host"}), HasSubstr("\n       all      0.0 %"));
}

TEST(profile_json, has_every_time_in_nanoseconds) {
  const json found = json::parse(json_of(of_two_workers));
  EXPECT_EQ(found["schema_version"], 1);
  EXPECT_EQ(found["backend"], "host");
  EXPECT_EQ(found["duration_ns"], 10'000'000);
  EXPECT_EQ(found["tasks"][0], (json{{"name", "render(scene&)::<lambda()>"},
                                     {"count", 4},
                                     {"total_ns", 12'000'000},
                                     {"longest_ns", 5'000'000},
                                     {"waited_ns", 1'500'000}}));
  EXPECT_EQ(found["tasks"][1]["name"], "\"b\"");
  EXPECT_EQ(found["workers"][1], (json{{"running_ns", 3'000'950},
                                       {"searching_ns", 0},
                                       {"sleeping_ns", 6'999'050},
                                       {"waiting_ns", 0}}));
  EXPECT_TRUE(json::parse(json_of({}))["tasks"].empty());
}

class profile_variable : public testing::Test {
 protected:
  ~profile_variable() override { unsetenv("CREEK_PROFILE"); }
  static void set(const std::string& value) { setenv("CREEK_PROFILE", value.c_str(), 1); }
  support::temporary_folder folder_;
};

TEST_F(profile_variable, turns_the_profile_on_and_off) {
  EXPECT_FALSE(profile_output::from_environment());
  for (const char* off : {"", "0"}) {
    set(off);
    EXPECT_FALSE(profile_output::from_environment()) << off;
  }
  set("1");
  testing::internal::CaptureStderr();
  profile_output::from_environment()->write(of_two_workers);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), table_of(of_two_workers));
  const auto file = folder_ / "profile.json";
  set(file.string());
  profile_output::from_environment()->write(of_two_workers);
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), json_of(of_two_workers));
}

TEST_F(profile_variable, refuses_other_values) {
  for (const char* wrong : {"yes", "2", ".json", "profile.txt"}) {
    set(wrong);
    try {
      (void)profile_output::from_environment();
      ADD_FAILURE() << wrong;
    } catch (const usage_error& why) {
      EXPECT_EQ(why.what(),
                "CREEK_PROFILE='" + std::string(wrong) +
                    "': give 0, 1 for a table, or the name of a file that ends in .json");
    }
    EXPECT_THROW(warn_of_no_profile("scc"), usage_error);
  }
  set("/no/such/folder/profile.json");
  EXPECT_THROW((void)profile_output::from_environment(), error);
}

TEST_F(profile_variable, has_no_effect_on_other_backends_but_a_line) {
  warn_of_no_profile("scc");
  set("1");
  testing::internal::CaptureStderr();
  warn_of_no_profile("scc");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "creek: CREEK_PROFILE: only the host backend has a profile; this runtime is on scc\n");
}

}  // namespace
}  // namespace creek
