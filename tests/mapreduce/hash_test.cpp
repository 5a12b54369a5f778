// SPDX-License-Identifier: Apache-2.0
// Hashes of keys that were chosen to have one hash, and which processes compute the same hashes.
#include <creek/mapreduce.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>
#include <creek/tasking/ext/backend_registry.hpp>
#include <creek/tasking/ext/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "support/shell.hpp"
#include "word_table/word_hash.hpp"

namespace creek::mapreduce {
namespace {

constexpr std::size_t key_count = 30'000;

std::string bytes_of(std::uint64_t number, std::size_t size = 8) {
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &number, std::min(size, sizeof number));
  return bytes;
}

/// Returns 'a' to 'p' for each four bits: no blank, no NUL.
std::string letters_of(std::uint64_t number, std::size_t size) {
  std::string text;
  for (; text.size() < size; number >>= 4) text += static_cast<char>('a' + number % 16);
  return text;
}

/// Keys that make a factor of a multiplication 0 if the other numbers are the fixed ones.
struct key_set {
  const char* name;
  std::vector<std::string> keys;
};
std::vector<key_set> chosen_keys() {
  const std::uint64_t low = fixed_hash_factors.low, high = fixed_hash_factors.high;
  const std::uint64_t high_with_length = high ^ (0 - 16 * 0xA0761D6478BD642Full);
  const std::string of_xxhash("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe", 8);  // begin of its secret
  std::vector<key_set> sets{{"short words", {}}, {"words of 16", {}},
                            {"second half", {}}, {"second half and length", {}},
                            {"words of 32", {}}, {"words of 64", {}}};
  for (std::size_t i = 0; i < key_count; ++i) {
    sets[0].keys.push_back(bytes_of(low) + letters_of(i, 4));
    sets[1].keys.push_back(bytes_of(low) + letters_of(i, 8));
    sets[2].keys.push_back(letters_of(i, 8) + bytes_of(high));
    sets[3].keys.push_back(letters_of(i, 8) + bytes_of(high_with_length));
    sets[4].keys.push_back(of_xxhash + letters_of(i, 8) + std::string(16, 'x'));
    sets[5].keys.push_back(of_xxhash + letters_of(i, 8) + std::string(48, 'x'));
  }
  return sets;
}

/// Returns the share of used slots in a table of about one slot per key; 0.6 for random hashes.
template <class Hashes>
double slots_used(const Hashes& hashes, int shift) {
  std::vector<bool> used(std::size_t{1} << 15);
  for (const std::uint64_t hash : hashes) used[hash >> shift & (used.size() - 1)] = true;
  return static_cast<double>(std::count(used.begin(), used.end(), true)) /
         static_cast<double>(used.size());
}

void expect_spread(const std::vector<std::uint64_t>& hashes, const std::string& name) {
  const std::set<std::uint64_t> different(hashes.begin(), hashes.end());
  EXPECT_GT(different.size(), hashes.size() - 10) << name;
  for (const int shift : {0, 17, 32, 49}) EXPECT_GT(slots_used(hashes, shift), 0.25) << name;
}

TEST(Hash, SpreadsChosenByteStrings) {
  for (const auto& [name, keys] : chosen_keys()) {
    std::vector<std::uint64_t> plain, in_word_table, in_tuples;
    for (const std::string& key : keys) {
      plain.push_back(default_hash(key));
      in_word_table.push_back(detail::hash_word(key, process_hash_secret));
      in_tuples.push_back(default_hash(std::pair(7, std::string_view(key))));
    }
    expect_spread(plain, name);
    expect_spread(in_word_table, name);
    expect_spread(in_tuples, name);
  }
}

TEST(Hash, SpreadsShortByteStringsAlsoWithoutASecret) {
  for (const auto& [name, keys] : chosen_keys()) {
    if (keys.front().size() > 16) continue;
    std::vector<std::uint64_t> hashes;
    for (const std::string& key : keys) hashes.push_back(repeatable_hash(key));
    expect_spread(hashes, name);
  }
}

TEST(Hash, SpreadsIntegersThatTheFixedNumbersDoNot) {
  std::vector<std::uint64_t> keys, hashes;
  for (std::uint64_t key = 0; keys.size() < 2000; ++key) {
    if (repeatable_hash(key) >> 54 == 0) keys.push_back(key);
  }
  std::array<int, 64> parts{};
  for (const std::uint64_t key : keys) ++parts[default_hash(key) >> 58];
  EXPECT_LT(*std::max_element(parts.begin(), parts.end()), 200) << "of 2000 keys in 64 parts";
}

/// Expects 200 keys in thirds and in bits below as even as random hashes have them, for any secret.
template <class KeyOf>
void expect_spread_for_any_secret(KeyOf key_of, const std::string& name) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    hash_secret secret{};
    secret.factors.low = random();
    secret.factors.high = random() | hash_factors::first_bit;
    std::array<int, 3> thirds{};
    std::array<int, 256> low{}, middle{};
    for (std::uint64_t k = 0; k < 200; ++k) {
      const std::uint64_t hash = hash_with(secret, key_of(k));
      ++thirds[(hash >> 32) * 3 >> 32];
      ++low[hash % 256];
      ++middle[hash >> 32 & 255];
    }
    EXPECT_GT(*std::min_element(thirds.begin(), thirds.end()), 20) << name;
    EXPECT_LT(*std::max_element(low.begin(), low.end()), 10) << name;
    EXPECT_LT(*std::max_element(middle.begin(), middle.end()), 10) << name;
  }
}

TEST(Hash, SpreadsKeysInOrderForAnySecret) {
  for (const int shift : {0, 3, 12, 32, 56}) {
    expect_spread_for_any_secret([&](std::uint64_t k) { return k << shift; },
                                 "shift " + std::to_string(shift));
  }
  expect_spread_for_any_secret([](std::uint64_t k) { return k * 100; }, "hundreds");
  expect_spread_for_any_secret([](std::uint64_t k) { return std::pair(k % 20, k / 20); }, "pairs");
  expect_spread_for_any_secret([](std::uint64_t k) { return std::to_string(k); }, "digits");
}

template <class Table>
std::size_t largest_part(const Table& table) {
  std::size_t largest = 0;
  for (std::size_t part = 0; part < Table::partitions; ++part) {
    largest = std::max(largest, table.size(part));
  }
  return largest;
}

TEST(Hash, SpreadsChosenKeysInTheWordTable) {
  for (const auto& [name, keys] : chosen_keys()) {
    word_table table;
    word_writer writer(table);
    for (const std::string& key : keys) writer(key, 2);
    writer.flush();
    writer.finish();
    for (std::size_t part = 0; part < word_table::partitions; ++part) writer.drain(part);
    EXPECT_EQ(table.size(), keys.size()) << name;
    EXPECT_LT(largest_part(table), keys.size() / 8) << name;
  }
}

TEST(Hash, SpreadsChosenKeysInTheGeneralTable) {
  const word_count job;
  for (const auto& [name, keys] : chosen_keys()) {
    flat_table<word_count> table(job);
    for (const std::string& key : keys) table(key, 1);
    table.flush();
    EXPECT_LT(largest_part(table), keys.size() / 8) << name;
  }
}

TEST(Hash, CountsChosenWords) {
  std::string text;
  const std::vector<key_set> sets = chosen_keys();
  for (const std::string& key : sets.front().keys) text += key + ' ';
  text += text;
  const auto expected = oracle::count_by_map(text);
  for (const strategy how : {strategy::automatic, strategy::emit_and_group}) {
    EXPECT_EQ(oracle::as_map(run(word_count{}, text, {.how = how})), expected);
  }
}

TEST(Hash, RepeatsInEveryProcessWhereItMust) {
  EXPECT_EQ(repeatable_hash(std::uint64_t{1}), 0x1541f2e33579836fu);
  EXPECT_EQ(repeatable_hash(std::string_view("creek")), 0x465bb28fdaad8cf3u);
}

/// Prints hashes for the test below, in its own process.
TEST(HashOf, ThisProcess) {
  std::printf("hash %llx %llx %llx\n", static_cast<unsigned long long>(default_hash(1)),
              static_cast<unsigned long long>(default_hash(std::string(20, 'x'))),
              static_cast<unsigned long long>(default_hash(std::string(300, 'x'))));
}

/// Counts the words of a text by their number of letters and sum of bytes.
struct count_by_number {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    for_each_word(split.text, [&](std::string_view word) {
      std::uint64_t number = word.size();
      for (const char letter : word) number = number * 31 + static_cast<unsigned char>(letter);
      emit(number, 1);
    });
  }
  static void combine(std::uint64_t& to, std::uint64_t from) { to += from; }
};

/// Prints the result of a run on the simulated chip for a test below, in its own process. The order
/// of unsorted records and the schedule depend on hashes.
TEST(HashOf, RunsOnTheChip) {
  std::string text;
  for (std::uint64_t i = 0; i < 3000; ++i) text += letters_of(i * 7919 % 1500, 4 + i % 20) + ' ';
  scheduler_options workers;
  workers.workers = 3;
  scc_backend::task_report report;
  scc chip(workers);
  chip.report = &report;
  std::uint64_t order = 0;
  const auto add = [&order](const auto& made) {
    for (const auto& [key, count] : made.records) {
      order = order * 31 + repeatable_hash(key) + count;
    }
  };
  {
    runtime on_chip(chip);
    on_chip.run([&] {
      for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
        const options unsorted{.sort = false, .how = how, .split = 1024};
        add(run(word_count{}, text, unsorted));
        add(run(count_by_number{}, text, unsorted));
      }
    });
  }
  std::printf("hash %llx %llx\n", static_cast<unsigned long long>(order),
              static_cast<unsigned long long>(report.schedule));
}

std::string hash_in_another_process(const std::string& environment,
                                    const std::string& test = "ThisProcess") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return support::run_in_shell(environment + " '" + self + "' --gtest_filter=HashOf." + test +
                               " | grep ^hash")
      .output;
}

TEST(Hash, IsTheSameInAllRunsOnTheChip) {
  const std::string none = "env -u CREEK_HASH_SEED -u CREEK_BACKEND";
  const std::string one = hash_in_another_process(none, "RunsOnTheChip");
  EXPECT_THAT(one, testing::StartsWith("hash "));
  EXPECT_EQ(one, hash_in_another_process(none, "RunsOnTheChip"));
}

TEST(Hash, DiffersFromProcessToProcessUnlessASeedIsGiven) {
  const std::string none = "env -u CREEK_HASH_SEED -u CREEK_BACKEND";
  const std::string one = hash_in_another_process(none);
  EXPECT_THAT(one, testing::StartsWith("hash "));
  EXPECT_NE(one, hash_in_another_process(none));
  const std::string seeded = hash_in_another_process("env CREEK_HASH_SEED=7");
  EXPECT_THAT(seeded, testing::StartsWith("hash "));
  EXPECT_EQ(seeded, hash_in_another_process("env CREEK_HASH_SEED=7"));
  EXPECT_NE(seeded, hash_in_another_process("env CREEK_HASH_SEED=8"));
  const std::string chip = none + " CREEK_BACKEND=scc";
  EXPECT_EQ(hash_in_another_process(chip), hash_in_another_process(chip));
}

TEST(Hash, RegistryAgreesWithBackendsWhoseRunsRepeat) {
  for (const std::string& name : backends()) {
    runtime here(scheduler_options{.workers = 2}, name);
    here.run([&] {
      const ext::executor* const executor = ext::current_executor();
      EXPECT_EQ(ext::runs_repeat_on(name), executor->traits().runs_repeat) << name;
    });
  }
  EXPECT_FALSE(ext::runs_repeat_on("abacus"));
}

}  // namespace
}  // namespace creek::mapreduce
