// SPDX-License-Identifier: Apache-2.0
// Runs with a memory limit against runs without: everything spills many times, by one worker and by
// several, for jobs that combine and jobs that do not; and nothing is left behind by
// failures.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/spill.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "mapreduce/oracle.hpp"
#include "support/few_cases.hpp"
#include "support/temporary_folder.hpp"

namespace creek::mapreduce {
namespace {

using numbers = std::span<const std::uint64_t>;

/// Counts how often numbers occur.
struct count_numbers {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  static void map(numbers all, auto& emit) {
    for (const std::uint64_t n : all) emit(n, 1);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

/// Keys and values that own memory, with all values of a key at once: names and their positions.
struct places_of_names {
  using key_type = std::string;
  using value_type = std::string;
  static void map(numbers all, auto& emit) {
    for (const std::uint64_t n : all) {
      if (n == poison) throw error(EDOM, "poisoned");
      emit("a name " + std::string(n % 30, 'x') + std::to_string(n), std::to_string(n % 7));
    }
  }
  static std::tuple<std::uint64_t, std::string> reduce(
      const std::string& key, const value_list<std::string, std::string>& all) {
    if (key.ends_with("x13")) throw error(EDOM, "unlucky");
    std::string least = *all.begin();
    for (const std::string& one : all) least = std::min(least, one);
    return {all.size(), least};
  }
  static constexpr std::uint64_t poison = ~std::uint64_t{0};
};

/// Lists that grow when combined, and a hash whose values differ in one bit only.
struct lists {
  using key_type = std::uint64_t;
  using value_type = std::vector<std::uint64_t>;
  static void map(numbers all, auto& emit) {
    for (const std::uint64_t n : all) emit(n % 5, value_type{n});
  }
  static void combine(value_type& into, value_type&& from) {
    into.insert(into.end(), from.begin(), from.end());
  }
  static std::uint64_t hash(std::uint64_t key) { return key & 1; }
};

/// Returns the records of a run in comparable form, with copies of their data.
template <class Record>
auto owned(const Record& one) {
  if constexpr (std::is_same_v<decltype(Record::key), std::string_view>) {
    return std::pair(std::string(one.key), one.value);
  } else {
    return std::pair(one.key, one.value);
  }
}
template <class Result>
auto all_of(const Result& made) {
  std::vector<decltype(owned(made[0]))> all;
  for (const auto& one : made) all.push_back(owned(one));
  return all;
}

/// Returns the limit plus the index of the blocks, which a run may use beyond its share.
std::uint64_t most_memory(const memory_limit& limit, const spill_use& used) {
  return limit.bytes + 2 * sizeof(spill_block) * (64 * used.runs + used.bytes / 4096);
}

constexpr std::array<unsigned, 3> all_workers{2, 1, 8};
constexpr std::span<const unsigned> tested_workers(all_workers.data(), support::few_cases ? 1 : 3);

class MapReduceSpill : public testing::Test {
 protected:
  /// Expects the result of a run without a limit, kept and delivered, and that pairs are written if
  /// they do not fit. Returns the spill use.
  template <class Job, class Input>
  spill_use check(runtime& rt, const Job& job, Input& from, const options& chosen,
                  std::size_t share, bool fits = false) {
    SCOPED_TRACE("workers " + std::to_string(rt.worker_count()) + ", share " +
                 std::to_string(share) + ", top " + std::to_string(chosen.top) + ", sort " +
                 std::to_string(chosen.sort) + ", strategy " +
                 std::to_string(static_cast<int>(chosen.how)));
    const memory_limit limit{share * rt.worker_count(), folder_.path()};
    const auto plain = rt.run([&] { return run(job, from, chosen); });
    const auto kept = rt.run([&] { return run(job, from, chosen, limit); });
    std::vector<decltype(owned(plain[0]))> handed;
    const run_summary summary = rt.run([&] {
      return run_to(job, from, chosen, limit,
                    [&](const auto& one) { handed.push_back(owned(one)); });
    });
    auto expected = all_of(plain);
    auto got = all_of(kept);
    if (!chosen.sort) {
      std::ranges::sort(expected);
      std::ranges::sort(got);
      std::ranges::sort(handed);
    }
    EXPECT_TRUE(got == expected) << got.size() << " records for " << expected.size();
    EXPECT_TRUE(handed == expected) << handed.size() << " records for " << expected.size();
    EXPECT_EQ(kept.emitted, plain.emitted);
    EXPECT_EQ(kept.distinct, plain.distinct);
    EXPECT_EQ(summary.emitted, plain.emitted);
    EXPECT_EQ(summary.distinct, plain.distinct);
    EXPECT_EQ(summary.records, expected.size());
    EXPECT_GT(kept.times[stage::merge].count(), 0);
    EXPECT_GT(summary.times[stage::merge].count(), 0);
    EXPECT_LE(kept.spilled.peak, most_memory(limit, kept.spilled));
    EXPECT_LE(summary.spilled.peak, most_memory(limit, summary.spilled));
    EXPECT_EQ(kept.spilled.runs == 0, fits);
    EXPECT_EQ(kept.spilled.bytes == 0, fits);
    expect_nothing_left();
    return kept.spilled;
  }

  void expect_nothing_left() const {
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(one.path(), gone);
      EXPECT_FALSE(target.starts_with(folder_.path().string())) << target;
    }
  }

  support::temporary_folder folder_;
};

std::vector<std::uint64_t> random_numbers(std::uint64_t seed, std::size_t n, std::uint64_t range) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> all(n);
  for (auto& one : all) one = random() % 3 == 0 ? random() % 40 + 20 : random() % range + 20;
  return all;
}

TEST_F(MapReduceSpill, CombinesAsWithoutALimit) {
  for (const unsigned workers : tested_workers) {
    runtime rt(scheduler_options{.workers = workers});
    for (std::uint64_t seed = 0; seed < (support::few_cases ? 1 : 3); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto all = random_numbers(seed, 20000 * workers + 60000, 100000);
      span_input<std::uint64_t> from(all, 1000 + 999 * seed);
      for (const strategy how : {strategy::automatic, strategy::emit_and_group}) {
        check(rt, count_numbers{}, from, {.how = how}, memory_limit::least);
        check(rt, count_numbers{}, from, {.top = 100, .how = how}, memory_limit::least * 2);
        check(rt, count_numbers{}, from, {.sort = false, .how = how}, memory_limit::least * 5);
      }
    }
  }
}

TEST_F(MapReduceSpill, CountsWordsAsWithoutALimit) {
  for (const unsigned workers : tested_workers) {
    runtime rt(scheduler_options{.workers = workers});
    const std::string text =
        oracle::random_text(workers, support::few_cases ? 1'000'000 : 3'000'000, 60'000);
    text_view from(text, 10'000);
    // The longest words of the text have 700 bytes.
    check(rt, word_count{}, from, {}, memory_limit::least);
    check(rt, word_count{.sorted = word_order::by_word}, from, {}, memory_limit::least * 7);
    check(rt, word_count{}, from, {.top = 20}, memory_limit::least);
  }
}

/// The share is large enough for a word table per mapper, which is emptied when it is full.
TEST_F(MapReduceSpill, CountsWordsInTablesOfTheirOwn) {
  runtime rt(scheduler_options{.workers = 2});
  const std::size_t part = support::few_cases ? 8 : 1;
  std::string text;
  std::mt19937_64 random(5);
  while (text.size() < 40'000'000 / part) {
    text += std::to_string(random() % (random() % 2 == 0 ? 1000 : 100'000'000'000));
    text += random() % 9000 == 0 ? std::string(300, 'l') + ' ' : " ";
  }
  text_view from(text, (std::size_t{20} << 20) / part);  // one split is more than the share
  const spill_use used = check(rt, word_count{.sorted = word_order::by_word}, from, {},
                               (std::size_t{24} << 20) / part);
  EXPECT_GT(used.runs, 2u) << "no table was full twice";
}

TEST_F(MapReduceSpill, ReducesAsWithoutALimit) {
  for (const unsigned workers : tested_workers) {
    runtime rt(scheduler_options{.workers = workers});
    const auto all = random_numbers(workers, 30'000, 3000);
    span_input<std::uint64_t> from(all, 500);
    // All 10'000 values of the 40 frequent keys must be in memory for a moment.
    check(rt, places_of_names{}, from, {}, memory_limit::least * 4);
    check(rt, places_of_names{}, from, {.sort = false}, memory_limit::least * 16);
  }
}

/// Counts numbers by a hash that a test can change.
struct changing_hash {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  std::uint64_t salt = 0;

  static void combine(value_type& into, value_type&& from) { into += from; }
  std::uint64_t hash(key_type key) const { return hash_integer(key ^ salt); }
};

TEST(SpillTable, VerifyFindsPairsThatAreNotFound) {
  changing_hash job;
  spill_meter meter;
  spill_table<changing_hash> table(job, std::size_t{1} << 20, meter);
  EXPECT_TRUE(table.verify());
  for (std::uint64_t key = 0; key < 5000; ++key) {
    std::uint64_t one = 1;
    const std::uint64_t hash = spread_hash(job, key, current_hash_secret());
    stored_key<std::uint64_t> stored(std::uint64_t{key}, {});
    ASSERT_TRUE(table.combine(hash, stored, one));
  }
  EXPECT_TRUE(table.verify());
  job.salt = 1;
  EXPECT_FALSE(table.verify());
}

TEST(FlatTable, VerifyFindsPairsThatAreNotFound) {
  changing_hash job;
  flat_table<changing_hash> table(job);
  for (std::uint64_t key = 0; key < 5000; ++key) table(key, 1);
  table.flush();
  EXPECT_TRUE(table.verify(3));
  job.salt = 1;
  EXPECT_FALSE(table.verify(3));
}

TEST_F(MapReduceSpill, EmptyInput) {
  runtime rt(scheduler_options{.workers = 3});
  span_input<std::uint64_t> none(std::span<const std::uint64_t>{});
  check(rt, count_numbers{}, none, {}, memory_limit::least, true);
  check(rt, places_of_names{}, none, {}, memory_limit::least, true);
}

TEST_F(MapReduceSpill, WritesNothingThatFits) {
  const auto all = random_numbers(3, 20'000, 3000);
  const std::string text = oracle::random_text(3, 300'000, 6000);
  span_input<std::uint64_t> from(all, 500);
  text_view words(text, 10'000);
  for (const unsigned workers : {1u, 3u, 8u}) {
    runtime rt(scheduler_options{.workers = workers});
    check(rt, count_numbers{}, from, {}, std::size_t{1} << 20, true);
    check(rt, count_numbers{}, from, {.how = strategy::emit_and_group}, std::size_t{8} << 20, true);
    check(rt, places_of_names{}, from, {}, std::size_t{16} << 20, true);
    check(rt, word_count{}, words, {}, std::size_t{4} << 20, true);
    check(rt, word_count{.sorted = word_order::by_word}, words, {}, std::size_t{32} << 20, true);
  }
}

/// Every other of 200 000 numbers occurs once; the rest are 1000 that occur often.
TEST_F(MapReduceSpill, WritesLittleMoreThanTheRarePairs) {
  std::vector<std::uint64_t> all(200'000);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i % 2 == 0 ? i + 2000 : hash_integer(i) % 1000;
  runtime rt(scheduler_options{.workers = 1});
  const auto made = rt.run([&] {
    return run(count_numbers{}, numbers(all), {},
               {.bytes = std::size_t{512} << 10, .directory = folder_.path()});
  });
  EXPECT_EQ(made.size(), 101'000u);
  // The rare pairs were written once: a partition is smaller than the memory, so none is parted
  // again.
  EXPECT_LE(made.spilled.bytes, 100'000 * 16 * 13 / 10);
}

TEST_F(MapReduceSpill, HeavyKeyIsCombinedDown) {
  const std::vector<std::uint64_t> all(300'000, 7);
  span_input<std::uint64_t> from(all, 1000);
  runtime rt(scheduler_options{.workers = 2});
  check(rt, count_numbers{}, from, {.how = strategy::emit_and_group}, memory_limit::least);
}

TEST_F(MapReduceSpill, ValuesThatGrowAreSpilledAndCombined) {
  std::vector<std::uint64_t> all(20'000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i % 2 == 0 ? 2 : 5 * i + 1;  // two keys
  runtime rt(scheduler_options{.workers = 2});
  const auto made = rt.run([&] {
    return run(lists{}, numbers(all), {.split = 500},
               {.bytes = 2 * memory_limit::least, .directory = folder_.path()});
  });
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].value.size() + made[1].value.size(), all.size());
  EXPECT_GT(made.spilled.runs, 4u);
}

/// Returns the message of the error that a run throws.
template <class Error, class F>
std::string thrown_by(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST_F(MapReduceSpill, HeavyKeyWithoutCombinerIsAnErrorThatNamesTheLimit) {
  for (const unsigned workers : {1u, 8u}) {
    runtime rt(scheduler_options{.workers = workers});
    const memory_limit limit{memory_limit::least * workers, folder_.path()};
    const auto go = [&](std::size_t n) {
      const std::vector<std::uint64_t> all(n, 7);
      return rt.run([&] { return run(places_of_names{}, numbers(all), {.split = 100}, limit); });
    };
    // More than a worker's share, but not more than all shares.
    if (workers == 8) {
      EXPECT_EQ(std::get<0>(go(2000)[0].value), 2000u);
    }
    const std::string why = thrown_by<error>([&] { (void)go(40'000); });
    EXPECT_NE(why.find("40000 values of one key"), std::string::npos) << why;
    EXPECT_NE(why.find(std::to_string(limit.bytes) + " bytes"), std::string::npos) << why;
    expect_nothing_left();
  }
}

TEST_F(MapReduceSpill, AnEnormousPairIsAnErrorThatNamesTheLimit) {
  const std::string text = "small " + std::string(100'000, 'w') + " end";
  runtime rt(scheduler_options{.workers = 1});
  const memory_limit limit{memory_limit::least, folder_.path()};
  const std::string why = thrown_by<error>(
      [&] { (void)rt.run([&] { return run(word_count{}, std::string_view(text), {}, limit); }); });
  EXPECT_NE(why.find("65536 bytes"), std::string::npos) << why;
  expect_nothing_left();
}

TEST_F(MapReduceSpill, ExceptionsLeaveNothingBehind) {
  for (const unsigned workers : {1u, 4u}) {
    runtime rt(scheduler_options{.workers = workers});
    const memory_limit limit{memory_limit::least * 4 * workers, folder_.path()};
    auto all = random_numbers(1, 20'000, 3000);
    span_input<std::uint64_t> from(all, 500);
    std::uint64_t seen = 0;
    const auto go = [&] {
      return rt.run([&] {
        return run_to(places_of_names{}, from, {}, limit, [&](const auto&) {
          if (++seen == 100) throw error(EDOM, "enough");
        });
      });
    };
    EXPECT_EQ(thrown_by<error>(go), error(EDOM, "enough").what());
    expect_nothing_left();
    EXPECT_EQ(seen, 100u);
    all[15'000] = 13;
    EXPECT_EQ(thrown_by<error>(go), error(EDOM, "unlucky").what());
    expect_nothing_left();
    all[15'001] = places_of_names::poison;
    EXPECT_EQ(thrown_by<error>(go), error(EDOM, "poisoned").what());
    expect_nothing_left();
  }
}

TEST_F(MapReduceSpill, AStopEndsTheRun) {
  runtime rt(scheduler_options{.workers = 2});
  const auto all = random_numbers(1, 50'000, 50'000);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW((void)rt.run([&] {
    return run(count_numbers{}, numbers(all), {.stop = source.get_token()},
               {.bytes = 2 * memory_limit::least, .directory = folder_.path()});
  }),
               error);
  expect_nothing_left();
}

TEST_F(MapReduceSpill, LimitsThatCannotBe) {
  runtime rt(scheduler_options{.workers = 2});
  const std::vector<std::uint64_t> all{1, 2, 3};
  const auto go = [&](memory_limit limit) {
    return [&all, &rt, limit] {
      (void)rt.run([&] { return run(count_numbers{}, numbers(all), {}, limit); });
    };
  };
  const std::size_t enough = 2 * memory_limit::least;
  EXPECT_THROW(go({enough, ""})(), usage_error);
  EXPECT_THROW(go({0, folder_.path()})(), usage_error);
  const std::string small = thrown_by<usage_error>(go({enough - 1, folder_.path()}));
  EXPECT_NE(small.find("at least " + std::to_string(enough)), std::string::npos) << small;
  const std::string missing = folder_ / "missing";
  EXPECT_EQ(thrown_by<error>(go({enough, missing})),
            error(ENOENT, missing + ": cannot make a spill file").what());
  EXPECT_EQ(thrown_by<error>(go({enough, "/proc/self/status"})),
            error(ENOTDIR, "/proc/self/status: cannot make a spill file").what());
  expect_nothing_left();
}

/// The file itself: written data are read back, and anything else is an error.
TEST_F(MapReduceSpill, DamageIsFound) {
  spill_file file(folder_.path());
  spill_meter meter;
  block_writer writer(file, meter, 100, 1000, 0);
  spill_blocks parts[2];
  writer.begin(parts);
  for (int i = 0; i < 50; ++i) {
    writer.bytes().resize(writer.bytes().size() + 7, std::byte(i));
    writer.item(i < 20 ? 0 : 1, 0x80u | static_cast<unsigned>(i & 1));
  }
  writer.finish();
  block_reader reader(file, meter);
  std::vector<std::byte> expected, got;
  for (int i = 0; i < 50; ++i) expected.insert(expected.end(), 7, std::byte(i));
  for (const spill_blocks& part : parts) {
    ASSERT_GT(part.size(), 1u);
    for (spill_block block : part) {
      std::ranges::copy(reader.read(block), std::back_inserter(got));
      EXPECT_EQ(block.first_hash | block.differing, 0x81u);
      ++block.offset;
      EXPECT_THROW((void)reader.read(block), error);
    }
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(file.bytes(), 350u);
  const spill_block behind{.offset = 345, .checksum = 0, .bytes = 20, .items = 1};
  EXPECT_THROW((void)reader.read(behind), error);
  EXPECT_THROW(
      {
        writer.bytes().resize(writer.bytes().size() + 1001);
        writer.item(0, 0);
      },
      error);
}

}  // namespace
}  // namespace creek::mapreduce
