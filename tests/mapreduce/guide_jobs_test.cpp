// SPDX-License-Identifier: Apache-2.0
// The jobs of docs/mapreduce.md and jobs over several inputs against loops over std::map and
// std::vector, on text that stays and on text that goes away when it has been mapped.
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/several_inputs.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mapreduce/oracle.hpp"
#include "support/temporary_folder.hpp"

namespace guide {

using namespace creek::mapreduce;

struct count_words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
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

long number(std::string_view digits) {
  long n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}
/// Returns what comes before and after the first comma.
std::pair<std::string_view, std::string_view> fields(std::string_view line) {
  const std::size_t comma = line.find(',');
  return {line.substr(0, comma), line.substr(comma + 1)};
}

struct customer {
  std::string name;
};
struct order {
  long cents;
};

struct orders_by_customer {
  using key_type = std::string_view;
  using value_type = one_of<customer, order>;

  template <class Emit>
  static void map(const tagged_split<customer, text_split>& split, Emit& emit) {
    for_each_line(split.text, [&](std::string_view line) {
      const auto [id, name] = fields(line);
      emit(id, customer{std::string(name)});
    });
  }
  template <class Emit>
  static void map(const tagged_split<order, text_split>& split, Emit& emit) {
    for_each_line(split.text, [&](std::string_view line) {
      const auto [id, cents] = fields(line);
      emit(id, order{number(cents)});
    });
  }
  static auto reduce(const key_type&, const values<orders_by_customer>& all) {
    std::vector<std::pair<std::string, long>> rows;
    for (const customer& who : values_of<customer>(all)) {
      for (const order& what : values_of<order>(all)) rows.emplace_back(who.name, what.cents);
    }
    return rows;
  }
};

struct top_of_group {
  using key_type = std::string_view;
  using value_type = std::array<long, 3>;  // largest first
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

struct first_text {};
struct second_text {};
struct made_words {};

/// Memory that is text in one split, and in another one where map() makes words.
std::array<char, 256> reused;

/// Combines pairs of several inputs.
struct words_of_two_texts {
  using key_type = std::string_view;
  using value_type = std::array<std::uint64_t, 2>;

  template <class Emit>
  static void map(const tagged_split<first_text, text_split>& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) { emit(word, value_type{1, 0}); });
  }
  template <class Emit>
  static void map(const tagged_split<second_text, text_split>& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) { emit(word, value_type{0, 1}); });
  }
  template <class Emit>
  static void map(const tagged_split<made_words, std::span<const int>>& split, Emit& emit) {
    for (const int n : split) {
      const std::string word = "longer than 16 bytes " + std::to_string(n);
      std::ranges::copy(word, reused.begin());
      emit(std::string_view(reused.data(), word.size()), value_type{0, 1});
    }
  }
  static void combine(value_type& into, const value_type& from) {
    into[0] += from[0];
    into[1] += from[1];
  }
};

}  // namespace guide

template <>
struct creek::mapreduce::wire<guide::customer> {
  static void put(std::vector<std::byte>& to, const guide::customer& one) {
    wire<std::string>::put(to, one.name);
  }
  static guide::customer get(const std::byte*& at) { return {wire<std::string>::get(at)}; }
};

namespace guide {
namespace {

struct setting {
  std::size_t split;
  bool stays;
};

/// Text that is cut at lines and, if it does not stay, overwritten after each visit.
class cut_text {
 public:
  using split_type = text_split;

  cut_text(std::string_view text, setting chosen)
      : text_(text, chosen.split, text_units::lines), stays_(chosen.stays) {}
  [[nodiscard]] std::size_t splits() const { return text_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const { return text_.bytes(); }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    text_.visit(i, [&](const text_split& piece) {
      if (stays_) return f(piece);
      std::string copy(piece.text);
      f(text_split{copy, false, piece.from});
      std::ranges::fill(copy, '#');
    });
  }

 private:
  text_view text_;
  bool stays_;
};

template <class F>
void for_each_setting(F&& f) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    creek::runtime rt(creek::scheduler_options{.workers = workers});
    for (const std::size_t split : {1u, 37u, 1000u, 1u << 20}) {
      for (const bool stays : {true, false}) {
        SCOPED_TRACE(testing::Message() << workers << " workers, split " << split
                                        << (stays ? "" : ", text goes away"));
        rt.run([&] { f(setting{split, stays}); });
      }
    }
  }
}

constexpr std::array both = {strategy::combine_on_emit, strategy::emit_and_group};

template <class Result>
auto as_map(const Result& made) {
  std::map<std::string, std::decay_t<decltype(made[0].value)>> seen;
  for (const auto& [key, value] : made) {
    EXPECT_TRUE(seen.emplace(std::string(key), value).second) << key;
  }
  return seen;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  if (text.size() % 2 != 0) text.pop_back();  // the last line may have no end
  return text;
}

/// Returns short and long names.
std::string name_of(std::uint64_t n) {
  return std::string(n % 3 * 10, 'n') + std::to_string(n);
}

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

class Join : public testing::Test {
 protected:
  using rows = std::vector<std::pair<std::string, long>>;

  /// Some numbers have several customers or none, and some customers have no order.
  void fill(std::size_t customers, std::size_t orders) {
    std::vector<std::string> left, right;
    std::multimap<std::string, std::string> names;
    for (std::size_t i = 0; i < customers; ++i) {
      const std::string id = name_of(random() % customers);
      const std::string name = "customer " + name_of(i);
      names.emplace(id, name);
      wanted[id];
      left.push_back(id + ',' + name);
    }
    for (std::size_t i = 0; i < orders; ++i) {
      const std::string id = name_of(random() % (customers + customers / 2));
      const long cents = static_cast<long>(random() % 10000);
      wanted[id];
      for (auto [one, end] = names.equal_range(id); one != end; ++one) {
        wanted[id].emplace_back(one->second, cents);
      }
      right.push_back(id + ',' + std::to_string(cents));
    }
    for (auto& [id, all] : wanted) std::ranges::sort(all);
    customer_lines = joined(left);
    order_lines = joined(right);
  }

  /// Values of a key come in no order.
  template <class Result>
  static std::map<std::string, rows> sorted_rows(const Result& made) {
    auto seen = as_map(made);
    for (auto& [id, all] : seen) std::ranges::sort(all);
    return seen;
  }

  std::mt19937_64 random{2};
  std::string customer_lines, order_lines;
  std::map<std::string, rows> wanted;
};

TEST_F(Join, OfTwoInputs) {
  fill(60, 200);
  for_each_setting([&](setting chosen) {
    cut_text customers(customer_lines, chosen), orders(order_lines, chosen);
    const several_inputs tables(tagged<customer>(customers), tagged<order>(orders));
    progress done;
    const auto made = run(orders_by_customer{}, tables, {.report = &done});
    EXPECT_EQ(sorted_rows(made), wanted);
    EXPECT_TRUE(std::ranges::is_sorted(made, {}, [](const auto& one) { return one.key; }));
    EXPECT_EQ(done.bytes_done, customer_lines.size() + order_lines.size());
    EXPECT_EQ(sorted_rows(run(orders_by_customer{}, tables, {.sort = false})), wanted);
    const auto first = run(orders_by_customer{}, tables, {.top = 5});
    EXPECT_EQ(sorted_rows(first),
              (std::map<std::string, rows>(wanted.begin(), std::next(wanted.begin(), 5))));
  });
}

TEST_F(Join, OfMoreThanTheMemoryHolds) {
  fill(2000, 30000);
  const creek::support::temporary_folder folder;
  for (const unsigned workers : {1u, 3u}) {
    creek::runtime rt(creek::scheduler_options{.workers = workers});
    for (const bool stays : {true, false}) {
      cut_text customers(customer_lines, {5000, stays}), orders(order_lines, {5000, stays});
      const several_inputs tables(tagged<customer>(customers), tagged<order>(orders));
      const memory_limit limit{.bytes = workers * memory_limit::least, .directory = folder.path()};
      const auto made = rt.run([&] { return run(orders_by_customer{}, tables, {}, limit); });
      EXPECT_EQ(sorted_rows(made), wanted);
      EXPECT_GT(made.spilled.bytes, 100'000u);
    }
  }
}

TEST(SeveralInputs, AreToldApartByJobsThatCombine) {
  const std::string texts[] = {creek::mapreduce::oracle::random_text(3, 4000, 300),
                               creek::mapreduce::oracle::random_text(4, 9000, 300)};
  std::map<std::string, std::array<std::uint64_t, 2>> wanted;
  for (const std::size_t i : {0u, 1u}) {
    for (const auto& [word, count] : creek::mapreduce::oracle::count_by_map(texts[i])) {
      wanted[word][i] = count;
    }
  }
  for_each_setting([&](setting chosen) {
    cut_text first(texts[0], chosen), second(texts[1], {2 * chosen.split, !chosen.stays});
    const several_inputs two(tagged<first_text>(first), tagged<second_text>(second));
    for (const strategy how : both) {
      EXPECT_EQ(as_map(run(words_of_two_texts{}, two, {.how = how})), wanted);
    }
  });
}

/// One split, of text in `reused`.
struct reused_text {
  static std::size_t splits() { return 1; }
  static std::uint64_t bytes() { return reused.size(); }
  template <class F>
  void visit(std::size_t, F&& f) const {
    reused.fill(' ');
    f(text_split{{reused.data(), reused.size()}, false});
  }
};

TEST(SeveralInputs, ForgetTheTextOfTheSplitBefore) {
  std::vector<int> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::map<std::string, std::array<std::uint64_t, 2>> wanted;
  for (const int n : numbers) wanted["longer than 16 bytes " + std::to_string(n)][1] = 1;
  reused_text text;
  span_input<int> made(numbers);
  const several_inputs two(tagged<first_text>(text), tagged<made_words>(made));
  creek::runtime rt(creek::scheduler_options{.workers = 1});  // the splits come in order
  for (const strategy how : both) {
    EXPECT_EQ(as_map(rt.run([&] { return run(words_of_two_texts{}, two, {.how = how}); })), wanted);
  }
}

TEST(SeveralInputs, GiveTheSplitsOfAll) {
  const std::array<int, 10> left{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  span_input<int> few(left, 4);
  text_view empty(""), text("a b c d", 2);
  const several_inputs all(tagged<int>(few), tagged<void>(empty), tagged<char>(text));
  EXPECT_EQ(all.splits(), 3u + 0u + 4u);
  EXPECT_EQ(all.bytes(), sizeof(left) + 7);
  std::string seen;
  for (std::size_t i = 0; i < all.splits(); ++i) {
    all.visit(i, [&]<class Tag, class Split>(const tagged_split<Tag, Split>& split) {
      if constexpr (std::is_same_v<Tag, int>) {
        for (const int n : split) seen += std::to_string(n);
        seen += '|';
      } else {
        seen += std::string(split.text) + '|';
      }
    });
  }
  EXPECT_EQ(seen, "0123|4567|89|a |b |c |d|");
}

TEST(ValuesOf, SkipsTheOthers) {
  using value = one_of<int, std::string>;
  using list = value_list<int, value>;
  const std::vector<emitted<int, value>> pairs = {{7, "a"}, {7, 1}, {7, 2}, {7, "b"}, {7, 3}};
  for (std::size_t from = 0; from <= pairs.size(); ++from) {
    const std::span<const emitted<int, value>> rest(pairs);
    const list all(rest.subspan(from));
    std::vector<const void*> wanted, seen;
    for (const value& one : all) {
      if (one.index() == 0) wanted.push_back(&one);
    }
    const auto numbers = values_of<int>(all);
    for (const int& one : numbers) seen.push_back(&one);
    ASSERT_EQ(seen.size(), wanted.size());
    EXPECT_EQ(numbers.empty(), wanted.empty());
    for (std::size_t i = 0; i < seen.size(); ++i) {  // a value is where its variant is
      EXPECT_EQ(seen[i], std::get_if<int>(static_cast<const value*>(wanted[i])));
    }
    if (!numbers.empty()) {
      EXPECT_EQ(&numbers.front(), seen[0]);
    }
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::distance(values_of<std::string>(all))),
              all.size() - wanted.size());
  }
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
