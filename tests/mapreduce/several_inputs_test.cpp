// SPDX-License-Identifier: Apache-2.0
// Jobs over several inputs against loops over std::map: the join of docs/mapreduce.md, and a job
// that combines.
#include <creek/mapreduce/inputs/several_inputs.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/spill.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mapreduce/cut_text.hpp"
#include "mapreduce/oracle.hpp"
#include "support/temporary_folder.hpp"

namespace guide {

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

struct first_text {};
struct second_text {};
struct made_words {};

/// Memory that is text in one split, and in another one where map() makes words.
std::array<char, 256> reused;

/// Combines pairs of several inputs.
struct words_of_two_texts {
  using key_type = std::string_view;
  using value_type = std::array<std::uint64_t, 2>;
  static constexpr bool may_group = true;

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
struct creek::wire<guide::customer> {
  static void put(std::vector<std::byte>& to, const guide::customer& one) {
    wire<std::string>::put(to, one.name);
  }
  template <class Cursor>
  static guide::customer get(Cursor& at) {
    return {wire<std::string>::get(at)};
  }
};

namespace guide {
namespace {

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

}  // namespace
}  // namespace guide
