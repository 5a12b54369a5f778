// SPDX-License-Identifier: Apache-2.0
// Counters: arithmetic, JSON, and reading while the owner writes.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include <creek/core/measuring/counters.hpp>

namespace creek {
namespace {

TEST(counters, add_and_snapshot) {
  worker_counters mine;
  mine.add(counter::tasks);
  mine.add(counter::tasks, 4);
  mine.add(counter::idle_ns, 1'000'000'000'000);
  const counter_values now = mine.snapshot();
  EXPECT_EQ(now[counter::tasks], 5U);
  EXPECT_EQ(now[counter::idle_ns], 1'000'000'000'000U);
  EXPECT_EQ(now[counter::bytes], 0U);
}

TEST(counters, sum_and_difference) {
  worker_counters mine;
  mine.add(counter::steals_tried, 10);
  const counter_values before = mine.snapshot();
  mine.add(counter::steals_tried, 7);
  const counter_values after = mine.snapshot();
  EXPECT_EQ((after - before)[counter::steals_tried], 7U);
  EXPECT_EQ(total_of(std::array{before, after})[counter::steals_tried], 27U);
  EXPECT_EQ(total_of({}), counter_values{});
}

TEST(counters, names_are_distinct) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < counter_count; ++i) names.insert(name_of(static_cast<counter>(i)));
  EXPECT_EQ(names.size(), counter_count);
  EXPECT_EQ(name_of(counter::tasks), "tasks");
  EXPECT_EQ(name_of(counter::parked_ns), "parked_ns");
}

TEST(counters, json_holds_the_total_and_each_worker) {
  std::array<counter_values, 2> workers;
  workers[0][counter::messages] = 3;
  workers[1][counter::messages] = 4;
  const auto document = nlohmann::json::parse(to_json(workers));
  EXPECT_EQ(document["total"]["messages"], 7);
  EXPECT_EQ(document["workers"][1]["messages"], 4);
  EXPECT_EQ(document["workers"][0].size(), counter_count);
  EXPECT_EQ(nlohmann::json::parse(to_json(workers[0]))["messages"], 3);
  // The text equals that of nlohmann-json, to the byte.
  EXPECT_EQ(nlohmann::ordered_json::parse(to_json(workers)).dump(), to_json(workers));
}

TEST(counters, workers_do_not_share_lines) {
  std::array<worker_counters, 2> workers;
  const auto distance = reinterpret_cast<char*>(&workers[1]) - reinterpret_cast<char*>(&workers[0]);
  EXPECT_EQ(distance % 128, 0);
}

TEST(counters, a_reader_sees_numbers_that_only_grow) {
  worker_counters mine;
  std::jthread owner([&](std::stop_token stop) {
    while (!stop.stop_requested()) mine.add(counter::tasks);
  });
  std::uint64_t last = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now = mine.snapshot()[counter::tasks];
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace creek
