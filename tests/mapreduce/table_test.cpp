// SPDX-License-Identifier: Apache-2.0
// The general table against std::map: keys inside and outside of the source text, short and long,
// in any order with flush and merge; values that only move; exceptions of combine().
#include <creek/mapreduce/tables/grouped_values.hpp>
#include <creek/mapreduce/tables/table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/few_cases.hpp"

namespace creek::mapreduce {
namespace {

template <class Key>
struct sum_of {
  using key_type = Key;
  using value_type = std::uint64_t;
  static void combine(std::uint64_t& into, std::uint64_t&& from) { into += from; }
};

using counts = std::map<std::string, std::uint64_t>;

template <class Job, class Name>
counts contents(flat_table<Job>& table, Name&& name) {
  counts all;
  for (std::size_t part = 0; part < flat_table<Job>::partitions; ++part) {
    EXPECT_TRUE(table.verify(part));
    std::size_t size = 0;
    table.for_each(part, [&](auto& key, auto& value) {
      ++size;
      EXPECT_TRUE(all.emplace(name(key), value).second) << "twice: " << name(key);
    });
    EXPECT_EQ(size, table.size(part));
  }
  return all;
}

std::string text_of(std::string_view key) {
  return std::string(key);
}

/// A piece of the text, of up to 40 bytes: often at its very end, where less than 16 bytes follow.
std::string_view piece_of(std::string_view text, std::mt19937_64& random) {
  const std::size_t length = random() % 40;
  const bool at_end = random() % 4 == 0;
  const std::size_t last = text.size() - length;
  return text.substr(at_end ? last - random() % 3 : random() % last, length);
}

std::string random_letters(std::mt19937_64& random, std::size_t n) {
  std::string text(n, ' ');
  for (char& letter : text) letter = static_cast<char>(random() % 3 == 0 ? 0 : 'a' + random() % 2);
  return text;
}

TEST(FlatTable, ViewsOfTextAndOfTemporaryStrings) {
  for (std::uint64_t seed = 0; seed < (support::few_cases ? 5 : 20); ++seed) {
    std::mt19937_64 random(seed);
    counts expected;
    const sum_of<std::string_view> job;
    flat_table<sum_of<std::string_view>> table(job);
    const std::string stays = random_letters(random, 3000);
    for (int piece = 0; piece < 6; ++piece) {
      const bool stable = random() % 2 == 0;
      auto passing = std::make_unique<std::string>(random_letters(random, 2000));
      const std::string_view text = stable ? std::string_view(stays) : *passing;
      table.source(text, stable);
      for (int i = 0; i < 2000; ++i) {
        if (random() % 3 == 0) {  // of a string that lives as long as the call
          const std::string other = random_letters(random, random() % 30);
          table(other, 2);
          expected[other] += 2;
        } else {
          const std::string_view key = piece_of(text, random);
          table(key, 1);
          ++expected[std::string(key)];
        }
      }
      table.flush();
    }
    EXPECT_EQ(contents(table, text_of), expected) << "seed " << seed;
    EXPECT_EQ(table.emitted(), 12000u);
  }
}

TEST(FlatTable, CountsThePairsOfSplitsOfAnySize) {
  const sum_of<std::uint64_t> job;
  flat_table<sum_of<std::uint64_t>> table(job);
  std::uint64_t emitted = 0;
  for (const std::size_t pairs : {0, 1, 63, 64, 0, 65, 128, 1000, 3}) {
    const std::vector<std::uint64_t> elements(pairs, 7);
    table.source({}, false);
    table.will_read({reinterpret_cast<const char*>(elements.data()), 8 * pairs});
    for (const std::uint64_t element : elements) {
      table(element, 1);
      EXPECT_EQ(table.emitted(), ++emitted);
    }
    table.flush();
    EXPECT_EQ(table.emitted(), emitted);
  }
}

TEST(FlatTable, ShortTextsAreNotReadBeyondTheirEnd) {
  const sum_of<std::string_view> job;
  flat_table<sum_of<std::string_view>> table(job);
  for (std::size_t n = 0; n <= 20; ++n) {
    const std::vector<char> text(n, 'x');  // on the heap, where AddressSanitizer sees its end
    table.source({text.data(), n}, false);
    table({text.data(), n}, n + 1);
    table.flush();
  }
  const counts all = contents(table, text_of);
  EXPECT_EQ(all.size(), 21u);
  for (const auto& [key, value] : all) EXPECT_EQ(value, key.size() + 1);
}

TEST(FlatTable, ViewsInTuples) {
  using key = std::tuple<std::string_view, int>;
  const sum_of<key> job;
  flat_table<sum_of<key>> table(job);
  counts expected;
  std::mt19937_64 random(1);
  const auto name = [](const key& k) {
    return std::string(std::get<0>(k)) + '/' + std::to_string(std::get<1>(k));
  };
  const std::string stays = random_letters(random, 1000);
  table.source(stays, true);
  for (int i = 0; i < 20'000; ++i) {
    const std::string other = random_letters(random, random() % 20);
    const key made{i % 2 == 0 ? piece_of(stays, random) : std::string_view(other), i % 3};
    table(made, 1);
    ++expected[name(made)];
  }
  table.flush();
  EXPECT_EQ(contents(table, name), expected);
}

TEST(FlatTable, MergesParts) {
  for (const std::uint64_t shared : {10u, 3000u, 200'000u}) {
    const sum_of<std::uint64_t> job;
    std::vector<flat_table<sum_of<std::uint64_t>>> tables;
    for (int i = 0; i < 3; ++i) tables.emplace_back(job);
    std::mt19937_64 random(shared);
    counts expected;
    for (int i = 0; i < 60'000; ++i) {
      const std::uint64_t key = random() % shared;
      tables[key % 7 == 0 ? 0 : random() % 3](key, key + 1);
      expected[std::to_string(key)] += key + 1;
    }
    for (auto& table : tables) table.flush();
    for (std::size_t part = 0; part < flat_table<sum_of<std::uint64_t>>::partitions; ++part) {
      tables[0].merge(tables[1], part);
      tables[0].merge(tables[2], part);
      EXPECT_EQ(tables[1].size(part), 0u);
    }
    const auto name = [](std::uint64_t key) { return std::to_string(key); };
    EXPECT_EQ(contents(tables[0], name), expected);
    EXPECT_TRUE(contents(tables[2], name).empty());
  }
}

struct lists {
  using key_type = std::string;
  using value_type = std::unique_ptr<std::vector<int>>;
  static void combine(value_type& into, value_type&& from) {
    into->insert(into->end(), from->begin(), from->end());
  }
};

TEST(FlatTable, ValuesThatOnlyMove) {
  const lists job;
  flat_table<lists> table(job);
  for (int i = 0; i < 5000; ++i) {
    table(std::string(static_cast<std::size_t>(i % 700), 'k'),
          std::make_unique<std::vector<int>>(1, i));
  }
  table.flush();
  std::size_t keys = 0, values = 0;
  for (std::size_t part = 0; part < flat_table<lists>::partitions; ++part) {
    table.for_each(part, [&](std::string& key, auto& list) {
      ++keys;
      values += list->size();
      for (const int i : *list) EXPECT_EQ(static_cast<std::size_t>(i % 700), key.size());
    });
  }
  EXPECT_EQ(keys, 700u);
  EXPECT_EQ(values, 5000u);
}

/// Counts up to a limit per key.
struct at_most_three {
  using key_type = std::uint64_t;
  using value_type = std::string;
  static void combine(std::string& into, std::string&& from) {
    if (into.size() == 3) throw std::overflow_error("three are enough");
    into += from;
  }
};

TEST(FlatTable, AfterAnExceptionOfCombineNoPairIsLostOrAddedTwice) {
  const at_most_three job;
  flat_table<at_most_three> table(job);
  int thrown = 0;
  const auto attempt = [&](auto&& action) {
    try {
      action();
      return true;
    } catch (const std::overflow_error&) {
      ++thrown;
      return false;
    }
  };
  for (std::uint64_t i = 0; i < 4000; ++i) attempt([&] { table(i % 800, "x"); });
  while (!attempt([&] { table.flush(); })) {
  }
  EXPECT_EQ(thrown, 4000 - 3 * 800);
  for (std::size_t part = 0; part < flat_table<at_most_three>::partitions; ++part) {
    EXPECT_TRUE(table.verify(part));
    table.for_each(part, [](std::uint64_t, const std::string& value) { EXPECT_EQ(value, "xxx"); });
  }
}

/// Emits `pairs` pairs: few keys for a while, many for a while, so that the front of the table is
/// switched on and off.
template <class Emit>
void emit_changing_keys(std::mt19937_64& random, int pairs, Emit&& emit) {
  std::uint64_t keys = 1;
  for (int i = 0; i < pairs; ++i) {
    if (i % 10'000 == 0) keys = random() % 3 == 0 ? 1'000'000 : 1 + random() % 100;
    emit(random() % keys);
  }
}

TEST(FlatTable, CombinesFrequentKeysInFront) {
  for (std::uint64_t seed = 0; seed < (support::few_cases ? 1 : 5); ++seed) {
    std::mt19937_64 random(seed);
    const sum_of<std::uint64_t> numbers;
    const sum_of<std::string_view> texts;
    flat_table<sum_of<std::uint64_t>> by_number(numbers);
    flat_table<sum_of<std::string_view>> by_text(texts);
    std::map<std::uint64_t, std::uint64_t> expected;
    counts expected_texts;
    for (int split = 0; split < 4; ++split) {
      std::string text;
      emit_changing_keys(random, 60'000, [&](std::uint64_t key) {
        text += "a key of many bytes "[key % 20] + std::to_string(key * key * key % 1'000'003);
        text += key % 3 == 0 ? " with more of them than fit\n" : "\n";
        ++expected[key];
        by_number(key, 1);
      });
      by_number.flush();
      const auto passing = std::make_unique<std::string>(std::move(text));
      by_text.source(*passing, false);
      std::string_view left = *passing;
      for (std::size_t end; (end = left.find('\n')) != left.npos; left.remove_prefix(end + 1)) {
        ++expected_texts[std::string(left.substr(0, end))];
        by_text(left.substr(0, end), 1);
      }
      by_text.flush();
    }
    EXPECT_EQ(contents(by_text, text_of), expected_texts) << "seed " << seed;
    counts expected_numbers;
    for (const auto& [key, sum] : expected) expected_numbers[std::to_string(key)] = sum;
    EXPECT_EQ(contents(by_number, [](std::uint64_t key) { return std::to_string(key); }),
              expected_numbers)
        << "seed " << seed;
  }
}

/// Throws for some pairs of values, and leaves them as they are.
struct throws_at_times {
  using key_type = std::uint64_t;
  struct value_type {
    std::unique_ptr<std::uint64_t> count;
    bool throws = false;
  };
  static void combine(value_type& into, value_type&& from) {
    if (from.throws) throw std::overflow_error("as asked for");
    *into.count += *from.count;
  }
};

TEST(FlatTable, LosesOnlyPairsWhoseCombineThrows) {
  std::mt19937_64 random(1);
  const throws_at_times job;
  flat_table<throws_at_times> table(job);
  for (std::uint64_t key = 0; key < 100; ++key) table(key, {std::make_unique<std::uint64_t>(1)});
  table.flush();
  std::vector<std::uint64_t> expected(100, 1);
  int to_throw = 0, thrown = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t key = random() % 100;
    const bool throws = i > 10'000 && random() % 64 == 0;
    to_throw += throws;
    expected[key] += !throws;
    try {
      table(key, {std::make_unique<std::uint64_t>(1), throws});
    } catch (const std::overflow_error&) {
      ++thrown;
    }
  }
  table.flush();
  EXPECT_EQ(thrown, to_throw);
  for (std::size_t part = 0; part < flat_table<throws_at_times>::partitions; ++part) {
    EXPECT_TRUE(table.verify(part));
    table.for_each(part, [&](std::uint64_t key, const auto& value) {
      EXPECT_EQ(*value.count, expected[key]) << key;
    });
  }
}

/// Cannot hash multiples of 100.
struct hashes_at_times {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  static std::uint64_t hash(std::uint64_t key) {
    if (key % 100 == 0) throw std::domain_error("no hash");
    return key;
  }
  static void combine(std::uint64_t& into, std::uint64_t&& from) { into += from; }
};

TEST(FlatTable, LosesOnlyPairsWhoseHashThrows) {
  const hashes_at_times job;
  flat_table<hashes_at_times> table(job);
  counts expected;
  const auto attempt = [](auto&& action) {
    try {
      action();
      return true;
    } catch (const std::domain_error&) {
      return false;
    }
  };
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::uint64_t key = i % 3000;
    attempt([&] { table(key, i); });
    if (key % 100 != 0) expected[std::to_string(key)] += i;
  }
  while (!attempt([&] { table.flush(); })) {
  }
  EXPECT_EQ(contents(table, [](std::uint64_t key) { return std::to_string(key); }), expected);
}

/// Without data.
struct set_of {
  using key_type = std::uint64_t;
  struct value_type {};
  static void combine(value_type&, value_type&&) {}
};

TEST(FlatTable, KeepsKeysOfValuesWithoutData) {
  std::mt19937_64 random(3);
  const set_of job;
  std::vector<flat_table<set_of>> tables;
  for (int i = 0; i < 2; ++i) tables.emplace_back(job);
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t key = random() % (i < 50'000 ? 40 : 30'000);
    tables[random() % 2](key, {});
    expected.insert(key);
  }
  for (auto& table : tables) table.flush();
  std::set<std::uint64_t> found;
  for (std::size_t part = 0; part < flat_table<set_of>::partitions; ++part) {
    tables[0].merge(tables[1], part);
    EXPECT_TRUE(tables[0].verify(part));
    tables[0].for_each(part, [&](std::uint64_t key, set_of::value_type) {
      EXPECT_TRUE(found.insert(key).second) << key;
    });
  }
  EXPECT_EQ(found, expected);
}

TEST(FrontCache, AKeyThatIsFrequentReplacesAnother) {
  detail::front_cache<std::uint64_t, std::uint64_t> cache;
  const auto combine = [](std::uint64_t& into, std::uint64_t&& from) { into += from; };
  using pairs = std::map<std::uint64_t, std::uint64_t>;
  /// Returns the pair that is left to the caller, if any.
  const auto put = [&](std::uint64_t key) {
    std::uint64_t value = 1;
    return cache.put(0, key, value, combine) ? pairs{} : pairs{{key, value}};  // all in one place
  };
  while (!cache.is_on()) {
  }
  EXPECT_EQ(put(7), pairs{});
  EXPECT_EQ(put(7), pairs{});
  EXPECT_EQ(put(8), (pairs{{8, 1}}));
  EXPECT_EQ(put(8), (pairs{{7, 2}}));  // no votes for 7 are left
  EXPECT_EQ(put(8), pairs{});
  pairs evicted;
  const auto evict = [&](std::uint64_t&& key, std::uint64_t&& value) { evicted[key] += value; };
  cache.flush(evict);
  EXPECT_EQ(evicted, (pairs{{8, 2}}));
  EXPECT_FALSE(cache.is_on());
  cache.flush(evict);
  EXPECT_EQ(evicted.size(), 1u);
}

/// Hashes like std::hash of GCC: the number itself.
struct own_hash {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  static void combine(std::uint64_t& into, std::uint64_t&& from) { into += from; }
  static std::uint64_t hash(std::uint64_t key) { return key; }
};

TEST(FlatTable, SpreadsBadHashes) {
  for (const int shift : {0, 20, 40}) {
    const own_hash job;
    flat_table<own_hash> table(job);
    constexpr std::uint64_t keys = 20'000;
    for (std::uint64_t key = 0; key < keys; ++key) table(key << shift, 1);
    table.flush();
    for (std::size_t part = 0; part < flat_table<own_hash>::partitions; ++part) {
      EXPECT_LT(table.size(part), keys / 32) << shift;
      EXPECT_GT(table.size(part), keys / 128) << shift;
    }
  }
}

/// Cannot be moved twenty times.
struct tires {
  explicit tires(int& alive, int& moves) : alive_(&alive), moves_(&moves) { ++*alive_; }
  tires(tires&& other) : alive_(other.alive_), moves_(other.moves_) {
    if (++*moves_ == 20) throw std::runtime_error("tired");
    ++*alive_;
  }
  ~tires() { --*alive_; }

 private:
  int* alive_;
  int* moves_;
};

TEST(GroupedValues, DestroysWhatWasMovedBeforeAnException) {
  int alive = 0, moves = 0;
  {
    detail::grouped_values<tires> values(3);
    for (std::size_t i = 0; i < 30; ++i) values.expect(i % 3);
    values.allocate();
    const auto add_all = [&] {
      for (std::size_t i = 0; i < 30; ++i) values.add(i % 3, tires(alive, moves));
    };
    EXPECT_THROW(add_all(), std::runtime_error);
    EXPECT_EQ(alive, 19);
    EXPECT_EQ(values[0].size(), 7u);
    EXPECT_EQ(values[2].size(), 6u);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace creek::mapreduce
