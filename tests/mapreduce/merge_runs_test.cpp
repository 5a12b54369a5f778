// SPDX-License-Identifier: Apache-2.0
// Sorted runs of all shapes, merged by any number of workers, against a stable sort of them all.
#include <creek/mapreduce/engine/merge_runs.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/tasking/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/few_cases.hpp"

namespace creek::mapreduce::detail {
namespace {

struct numbered {
  std::uint32_t key = 0;
  std::uint32_t run = 0;
  friend bool operator==(const numbered&, const numbered&) = default;
};

/// The same record without a default constructor.
struct made_of_one : numbered {
  explicit made_of_one(const numbered& from) : numbered(from) {}
};

constexpr auto by_key = [](const numbered& a, const numbered& b) { return a.key < b.key; };

struct several_runs {
  std::vector<std::vector<numbered>> records;
  std::vector<std::vector<std::uint64_t>> digits;  // digits of keys, without their last two bits
  std::vector<numbered> in_order;                  // equal keys by run
};

/// Returns `runs` of `size()` records each, with keys below `keys`.
template <class Size>
several_runs make_runs(std::mt19937_64& random, std::size_t runs, std::uint32_t keys, Size&& size) {
  several_runs made;
  for (std::uint32_t run = 0; run < runs; ++run) {
    std::vector<numbered> records(size());
    for (numbered& one : records) one = {static_cast<std::uint32_t>(random() % keys), run};
    std::ranges::stable_sort(records, by_key);
    made.in_order.insert(made.in_order.end(), records.begin(), records.end());
    made.digits.emplace_back();
    for (const numbered& one : records) made.digits.back().push_back(one.key >> 2);
    made.records.push_back(std::move(records));
  }
  std::ranges::stable_sort(made.in_order, by_key);
  return made;
}

several_runs random_runs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint32_t keys = random() % 2 == 0 ? 50 : 4'000'000'000;
  const std::size_t runs = random() % 70;
  return make_runs(random, runs, keys,
                   [&] { return random() % 3 == 0 ? random() % 3 : random() % 1000; });
}

template <class Record>
std::vector<numbered> merged(const several_runs& from, bool with_digits, std::size_t wanted) {
  std::vector<std::vector<Record>> copies;
  std::vector<sorted_run<Record>> runs;
  for (std::size_t i = 0; i < from.records.size(); ++i) {
    copies.emplace_back(from.records[i].begin(), from.records[i].end());
    runs.push_back({copies.back(), with_digits ? from.digits[i].data() : nullptr});
  }
  const auto all = merge_runs(std::span<const sorted_run<Record>>(runs), wanted, by_key);
  return {all.begin(), all.end()};
}

TEST(MergeRuns, AgreesWithAStableSort) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (std::uint64_t seed = 0; seed < (support::few_cases ? 5 : 15); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
      const several_runs from = random_runs(seed);
      const std::size_t size = from.in_order.size();
      for (const bool digits : {false, true}) {
        for (const std::size_t wanted :
             {std::size_t{0}, std::size_t{1}, size / 2, size, size + 9}) {
          const std::vector<numbered> expected(
              from.in_order.begin(),
              from.in_order.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, size)));
          ASSERT_EQ(rt.run([&] { return merged<numbered>(from, digits, wanted); }), expected);
        }
        ASSERT_EQ(rt.run([&] { return merged<made_of_one>(from, digits, size); }), from.in_order);
      }
    }
  }
}

TEST(MergeRuns, CutsManyRecordsIntoRanges) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (const std::size_t runs : {1u, 2u, 64u, 256u}) {
      for (const std::size_t size : {7'936u, 8'192u, 16'384u, 16'640u, 40'000u, 150'000u}) {
        if (support::few_cases && (workers != 2 || size != 40'000)) continue;
        for (const std::uint32_t keys : {3u, 20'000u, 4'000'000'000u}) {
          SCOPED_TRACE(testing::Message() << runs << " runs, " << size << " records, " << keys
                                          << " keys, " << workers << " workers");
          std::mt19937_64 random(runs + size + keys);
          const several_runs from = make_runs(random, runs, keys, [&] { return size / runs; });
          for (const bool digits : {false, true}) {
            ASSERT_EQ(rt.run([&] { return merged<numbered>(from, digits, size); }), from.in_order);
          }
        }
      }
    }
  }
}

TEST(RecordVector, KeepsAlignment) {
  struct alignas(128) wide {
    char bytes[128];
  };
  for (const std::size_t size : {1u, 3u, 100'000u}) {
    const record_vector<wide> some(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(some.data()) % alignof(wide), 0u) << size;
  }
}

using counted = record<std::string_view, std::uint64_t>;

/// Returns words that begin alike, end in NUL or are prefixes of others, each once.
std::vector<counted> odd_words(std::uint64_t seed, std::size_t size, std::vector<std::string>& to) {
  std::mt19937_64 random(seed);
  std::set<std::string> words;
  while (words.size() < size) {
    std::string word = random() % 2 == 0 ? "" : "the same beginning of many words";
    if (random() % 8 == 0) word.append(random() % 600, 'x');
    for (std::size_t more = random() % 12; more > 0; --more) {
      word += std::string_view("\0ab\xff", 4)[random() % 4];
    }
    words.insert(word);
  }
  to.assign(words.begin(), words.end());
  std::ranges::shuffle(to, random);
  constexpr std::uint64_t counts[] = {1,       1,         2, 300, (1 << 24) - 2, (1 << 24) - 1,
                                      1 << 24, 1ull << 60};
  std::vector<counted> records;
  for (const std::string& word : to)
    records.push_back({word, counts[random() % std::size(counts)]});
  return records;
}

TEST(DigitSorter, WordsByCountAndByWordAsTheyCompare) {
  for (const word_order by : {word_order::by_count, word_order::by_word}) {
    const word_count job{.sorted = by};
    const record_order<word_count> order{&job};
    std::vector<std::string> words;
    std::vector<counted> records = odd_words(7, 20'000, words);
    std::vector<counted> expected = records;
    std::ranges::sort(expected, order);
    std::vector<std::uint64_t> digits;
    for (const counted& one : records) digits.push_back(order.digits(one, 0));
    const std::size_t half = records.size() / 2;
    const sorted_run<counted> all{records, digits.data()};
    const sorted_run<counted> runs[] = {all.part(0, half), all.part(half, records.size())};
    std::vector<counted> sorted;
    std::vector<std::uint64_t> in_order(records.size());
    digit_sorter<counted, record_order<word_count>>(order).move_to(std::back_inserter(sorted), runs,
                                                                   in_order.data());
    EXPECT_EQ(sorted, expected);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      ASSERT_EQ(in_order[i], order.digits(expected[i], 0));
    }
  }
}

/// Sorts keys by their digits, from two runs, and compares.
template <class Key>
void expect_sorted_by_digits(const std::vector<Key>& keys) {
  using one = record<Key, int>;
  using order_type = key_order<one>;
  static_assert(order_type::has_digits && !order_type::by_bytes);
  const order_type order(&keys);
  std::vector<one> records;
  std::vector<std::uint64_t> digits;
  for (const Key& key : keys) {
    records.push_back({key, static_cast<int>(records.size())});
    digits.push_back(order.digits(records.back(), 0));
  }
  std::vector<one> expected = records, sorted;
  std::ranges::stable_sort(expected, order);
  const std::size_t half = records.size() / 2;
  const sorted_run<one> all{records, digits.data()};
  const sorted_run<one> runs[] = {all.part(0, half), all.part(half, records.size())};
  digit_sorter<one, order_type>(order).move_to(std::back_inserter(sorted), runs);
  EXPECT_EQ(sorted, expected);
}

TEST(DigitSorter, TuplesByTheirFirstPart) {
  std::mt19937_64 random(9);
  std::vector<std::string> words;
  const std::vector<counted> records = odd_words(9, 5000, words);
  std::vector<std::tuple<std::string_view, int>> of_words;
  std::vector<std::pair<std::int8_t, std::string>> of_numbers;
  for (const counted& each : records) {
    of_words.emplace_back(each.key.substr(0, random() % 12), static_cast<int>(random() % 3) - 1);
    of_numbers.emplace_back(static_cast<std::int8_t>(random()), std::string(each.key));
  }
  expect_sorted_by_digits(of_words);
  expect_sorted_by_digits(of_numbers);
}

TEST(MergeRuns, WordsInManyRanges) {
  std::vector<std::string> words;
  const std::vector<counted> records = odd_words(8, support::few_cases ? 20'000 : 60'000, words);
  for (const word_order by : {word_order::by_count, word_order::by_word}) {
    const word_count job{.sorted = by};
    const record_order<word_count> order{&job};
    std::vector<counted> expected = records;
    std::ranges::sort(expected, order);
    for (const unsigned workers : {1u, 3u}) {
      options chosen;
      mapreduce::runs<word_count> all(job, chosen, 128);
      runtime rt(scheduler_options{.workers = workers});
      const auto merged = rt.run([&] {
        const auto size_of = [&](std::size_t part) { return (records.size() - part + 127) / 128; };
        for (std::size_t part = 0; part < 128; ++part) {
          all.expect_all(part, size_of);
          for (std::size_t i = part; i < records.size(); i += 128) {
            all.add(part, records[i].key, records[i].value);
          }
          all.sort(part);
        }
        return all.merge();
      });
      EXPECT_TRUE(std::ranges::equal(merged, expected)) << workers << " workers";
    }
  }
}

TEST(Runs, TableThatMiscountsIsRefused) {
  const word_count job;
  options unsorted;
  unsorted.sort = false;
  const auto two = [](std::size_t) { return std::size_t{2}; };
  mapreduce::runs<word_count> few(job, unsorted, 1);
  few.expect_all(0, two);
  few.add(0, "a", 1);
  EXPECT_THROW(static_cast<void>(few.merge()), usage_error);
  few.add(0, "b", 1);
  EXPECT_EQ(few.merge().size(), 2u);
  mapreduce::runs<word_count> many(job, unsorted, 1);
  many.expect_all(0, two);
  many.add(0, "a", 1);
  many.add(0, "b", 1);
  EXPECT_THROW(many.add(0, "c", 1), usage_error);
}

}  // namespace
}  // namespace creek::mapreduce::detail
