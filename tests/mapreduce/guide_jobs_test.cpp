// SPDX-License-Identifier: Apache-2.0
// The jobs of docs/mapreduce.md over one input against loops over std::map and std::vector.
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/run.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mapreduce/cut_text.hpp"
#include "mapreduce/oracle.hpp"

namespace guide {

struct count_words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  static constexpr bool may_group = true;
  using split_type = text_split;

  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) { emit(word, 1); });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
  using counted = record<std::string_view, std::uint64_t>;
  static bool before(const counted& a, const counted& b) {
    return a.value != b.value ? a.value > b.value : a.key < b.key;
  }
};

struct top_of_group {
  using key_type = std::string_view;
  using value_type = std::array<long, 3>;  // largest first
  static constexpr bool may_group = true;
  using split_type = text_split;
  static constexpr long none = std::numeric_limits<long>::min();

  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_line(split.text, [&](std::string_view line) {
      const auto [group, score] = fields(line);
      emit(group, value_type{number(score), none, none});
    });
  }
  static void combine(value_type& into, const value_type& from) {
    std::array<long, 6> both;
    std::ranges::merge(into, from, both.begin(), std::greater());
    std::copy_n(both.begin(), into.size(), into.begin());
  }
};

struct session {
  long begin, end;
  std::uint64_t events;
  friend auto operator<=>(const session&, const session&) = default;
};

struct sessions_of_user {
  using key_type = std::string_view;
  using value_type = long;
  using split_type = text_split;

  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_line(split.text, [&](std::string_view line) {
      const auto [user, second] = fields(line);
      emit(user, number(second));
    });
  }
  static std::vector<session> reduce(std::string_view, const values<sessions_of_user>& all) {
    std::vector<long> times(all.begin(), all.end());
    std::ranges::sort(times);
    std::vector<session> sessions;
    for (const long time : times) {
      if (sessions.empty() || time - sessions.back().end > 30 * 60) {
        sessions.push_back({time, time, 0});
      }
      sessions.back().end = time;
      ++sessions.back().events;
    }
    return sessions;
  }
};

namespace {

TEST(GuideJobs, CountsWords) {
  const std::string text = creek::mapreduce::oracle::random_text(1, 6000, 200);
  const auto wanted = creek::mapreduce::oracle::count_by_map(text);
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [word, count] : wanted) order.emplace_back(count, word);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for_each_setting([&](setting chosen) {
    cut_text from(text, chosen);
    for (const strategy how : both) {
      EXPECT_EQ(as_map(run(count_words{}, from, {.how = how})), wanted);
      const auto most = run(count_words{}, from, {.top = 7, .how = how});
      ASSERT_EQ(most.size(), 7u);
      for (std::size_t i = 0; i < most.size(); ++i) {
        EXPECT_EQ(most[i].key, order[i].second);
        EXPECT_EQ(most[i].value, order[i].first);
      }
    }
  });
}

TEST(GuideJobs, KeepsTheLargestOfEachGroup) {
  std::mt19937_64 random(5);
  std::vector<std::string> lines;
  std::map<std::string, std::vector<long>> groups;
  for (int i = 0; i < 700; ++i) {
    const std::string group = name_of(random() % (1 + random() % 90));
    const long score = static_cast<long>(random() % 400) - 200;
    groups[group].push_back(score);
    lines.push_back(group + ',' + std::to_string(score));
  }
  std::map<std::string, std::array<long, 3>> wanted;
  for (auto& [group, scores] : groups) {
    std::ranges::sort(scores, std::greater());
    scores.resize(3, top_of_group::none);
    std::ranges::copy(scores, wanted[group].begin());
  }
  const std::string text = joined(lines);
  for_each_setting([&](setting chosen) {
    cut_text from(text, chosen);
    for (const strategy how : both) {
      EXPECT_EQ(as_map(run(top_of_group{}, from, {.how = how})), wanted);
    }
  });
}

TEST(GuideJobs, CutsALogIntoSessions) {
  std::mt19937_64 random(6);
  std::vector<std::string> lines;
  std::map<std::string, std::vector<session>> wanted;
  const std::array<long, 4> within = {0, 1, 1799, 1800};
  const std::array<long, 2> between = {1801, 90000};
  for (std::uint64_t user = 0; user < 40; ++user) {
    const std::string name = name_of(user);
    long now = static_cast<long>(random() % 100000);
    for (std::uint64_t sessions = 1 + random() % 5; sessions > 0; --sessions) {
      session one{now, now, 1 + random() % 8};
      for (std::uint64_t event = 0; event < one.events; ++event) {
        if (event != 0) one.end += within[random() % within.size()];
        lines.push_back(name + ',' + std::to_string(one.end));
      }
      wanted[name].push_back(one);
      now = one.end + between[random() % between.size()];
    }
  }
  std::ranges::shuffle(lines, random);
  const std::string text = joined(lines);
  for_each_setting([&](setting chosen) {
    cut_text from(text, chosen);
    EXPECT_EQ(as_map(run(sessions_of_user{}, from)), wanted);
  });
}

TEST(TextView, IsCutAtLines) {
  const std::string text = "one two\n\nthree four five\nsix";
  for (std::size_t split = 1; split <= text.size() + 1; ++split) {
    text_view from(text, split, text_units::lines);
    std::vector<std::string_view> lines;
    for (std::size_t i = 0; i < from.splits(); ++i) {
      from.visit(i, [&](const text_split& piece) {
        EXPECT_EQ(piece.text.data(), text.data() + piece.from.offset);
        for_each_line(piece.text, [&](std::string_view line) { lines.push_back(line); });
      });
    }
    EXPECT_EQ(lines, (std::vector<std::string_view>{"one two", "", "three four five", "six"}));
  }
}

}  // namespace
}  // namespace guide
