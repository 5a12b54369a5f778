// SPDX-License-Identifier: Apache-2.0
// Jobs with a memory limit on ranks, here host threads: the results of run(), for random jobs,
// limits, and numbers of ranks and workers.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/spill_on_machines.hpp>

#include <gtest/gtest.h>

#include <creek/host/spmd.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "random_jobs.hpp"
#include "support/temporary_folder.hpp"

namespace creek::mapreduce {
namespace {

runtime workers_of(const host_communicator& c) {
  return runtime(scheduler_options{.workers = 1 + static_cast<unsigned>(c.rank()) % 2});
}

template <class Job, class Input>
spilled_rank_result<Job> run_job(int ranks, const Job& job, Input& from, const options& chosen,
                                 const memory_limit& limit) {
  spilled_rank_result<Job> result;
  spmd(ranks, [&](host_communicator& c) {
    runtime rt = workers_of(c);
    auto made = run_on_machines(job, c, rt, from, chosen, limit);
    if (c.rank() == 0) {
      result = std::move(made);
    } else {
      EXPECT_TRUE(made.records.empty());
    }
  });
  return result;
}

/// The records of all ranks, one rank after the other.
template <class Job>
struct joined_parts : result<Job> {
  spill_use spilled;
};

template <class Job>
void append(spilled_part<Job>& part, joined_parts<Job>& all) {
  std::uint64_t count = 0;
  part.for_each([&](const auto& /*record*/) { ++count; });
  const std::uint64_t again = part.for_each([&](auto record) {
    detail::for_each_view(record.key, [&](std::string_view& view) { view = all.keys.keep(view); });
    all.records.push_back(std::move(record));
  });
  EXPECT_EQ(count, again);
}

template <class Job, class Input>
joined_parts<Job> run_parts(int ranks, const Job& job, Input& from, const options& chosen,
                            const memory_limit& limit) {
  std::vector<spilled_part<Job>> parts(static_cast<std::size_t>(ranks));
  spmd(ranks, [&](host_communicator& c) {
    runtime rt = workers_of(c);
    parts[static_cast<std::size_t>(c.rank())] = run_in_parts(job, c, rt, from, chosen, limit);
  });
  joined_parts<Job> all;
  for (auto& part : parts) {
    EXPECT_EQ(part.emitted, parts[0].emitted);
    EXPECT_EQ(part.distinct, parts[0].distinct);
    EXPECT_EQ(part.spilled.bytes, parts[0].spilled.bytes);
    append(part, all);
  }
  all.emitted = parts[0].emitted;
  all.distinct = parts[0].distinct;
  all.spilled = parts[0].spilled;
  return all;
}

template <class Pair>
class MapReduceSpillOnMachines : public ::testing::Test {};

using spilled_kinds =
    std::conditional_t<support::few_cases,
                       ::testing::Types<std::pair<std::string_view, std::uint64_t>>,
                       ::testing::Types<std::pair<std::string_view, std::uint64_t>,
                                        std::pair<std::tuple<int, std::string>, wide>>>;
TYPED_TEST_SUITE(MapReduceSpillOnMachines, spilled_kinds);

template <class Job>
void check_with_limit(std::uint64_t seed, int ranks, const std::string& folder) {
  random_case<Job> one(seed);
  const memory_limit limit{(std::size_t{2} << (16 + one.random() % 6)) + one.random() % 5000,
                           folder};
  options chosen =
      one.random_options(one.random() % 2 == 0 || !combines<Job> ? strategy::emit_and_group
                                                                 : strategy::combine_on_emit);
  span_input<std::uint32_t> from(one.numbers, chosen.split);
  one.expect_result(run_job(ranks, one.job, from, chosen, limit), chosen);
  chosen.top = 0;
  one.expect_result(run_parts(ranks, one.job, from, chosen, limit), chosen);
}

TYPED_TEST(MapReduceSpillOnMachines, AgreesWithASequentialReference) {
  using key = typename TypeParam::first_type;
  using value = typename TypeParam::second_type;
  const support::temporary_folder folder;
  for (const int ranks : {1, 2, 3, 5}) {
    for (std::uint64_t seed = 0; seed < (support::few_cases ? 4 : 12); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(ranks));
      check_with_limit<random_job<key, value, form::does_both>>(seed, ranks, folder.path());
      check_with_limit<random_job<key, value, form::combines>>(seed, ranks, folder.path());
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Lists where a word begins, as `reduce` without `combine` does it.
struct lengths_of_words {
  using key_type = std::string_view;
  using value_type = std::uint32_t;
  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) {
      emit(word, static_cast<std::uint32_t>(word.size()));
    });
  }
  static std::uint64_t reduce(std::string_view /*word*/, const values<lengths_of_words>& all) {
    std::uint64_t sum = 0;
    for (const std::uint32_t one : all) sum += one;
    return sum;
  }
};

template <class Job>
void expect_same_words(const Job& job, std::size_t bytes, std::uint64_t peak) {
  const std::string text = oracle::random_text(5, 400'000, 50'000);
  const support::temporary_folder folder;
  const auto expected = run(job, text);
  for (const int ranks : {1, 2, 4, 7}) {
    text_view from(text, 5000);
    const memory_limit limit{bytes, folder.path()};
    const auto parts = run_parts(ranks, job, from, {}, limit);
    EXPECT_EQ(parts.records, expected.records) << ranks;
    EXPECT_EQ(parts.distinct, expected.distinct);
    EXPECT_EQ(parts.emitted, expected.emitted);
    EXPECT_GT(parts.spilled.bytes, expected.size() * 4);
    EXPECT_LE(parts.spilled.peak, peak) << ranks;
    const auto gathered = run_job(ranks, job, from, {.top = 7}, limit);
    EXPECT_TRUE(
        std::equal(gathered.begin(), gathered.end(), expected.begin(), expected.begin() + 7));
    EXPECT_LE(gathered.spilled.peak, peak) << ranks;
    EXPECT_EQ(gathered.sent_bytes == 0, ranks == 1);
  }
}

TEST(MapReduceSpillOnMachinesWords, StayWithinTheLimit) {
  // A message of 4 KiB from each of at most two workers to each rank, whose block may be half
  // empty.
  constexpr std::uint64_t messages = 2 * 7 * 2 * 8192;
  expect_same_words(word_count{.sorted = word_order::by_word}, 256 << 10, (256 << 10) + messages);
  expect_same_words(word_count{.sorted = word_order::by_word}, 2 << 20, (2 << 20) + messages);
  expect_same_words(lengths_of_words{}, 1 << 20, (1 << 20) + messages);
}

/// Words of which each occurs once.
std::string different_words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 2654435761ull) + ' ';
  return text;
}

TEST(MapReduceSpillOnMachinesWords, HaveTablesOfTheirOwnInMuchMemory) {
  const std::string text = different_words(3'000'000);  // more than the limit of all ranks
  const word_count job{.sorted = word_order::by_word};
  const auto expected = run(job, text);
  const support::temporary_folder folder;
  constexpr std::size_t limit = 34 << 20;  // for one worker: enough for such a table
  std::vector<spilled_part<word_count>> parts(2);
  spmd(2, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 1});
    text_view from(text, 5000);
    parts[static_cast<std::size_t>(c.rank())] =
        run_in_parts(job, c, rt, from, {}, {limit, folder.path()});
  });
  std::size_t i = 0;
  bool is_right = true;
  for (auto& part : parts) {
    EXPECT_LE(part.spilled.peak, limit);
    part.for_each([&](const auto& word) {
      is_right = is_right && i < expected.size() && word.key == expected[i].key;
      ++i;
    });
  }
  EXPECT_TRUE(is_right);
  EXPECT_EQ(i, expected.size());
}

TEST(MapReduceSpillOnMachinesMisuse, IsRefused) {
  const std::string text = "one two";
  const support::temporary_folder folder;
  const auto refused = [&](const word_count& job, const options& chosen,
                           const memory_limit& limit) {
    spmd(2, [&](host_communicator& c) {
      runtime rt = workers_of(c);
      text_view from(text, 4);
      EXPECT_THROW(static_cast<void>(run_in_parts(job, c, rt, from, chosen, limit)), usage_error);
    });
  };
  const word_count by_word{.sorted = word_order::by_word};
  refused(by_word, {}, {1 << 10, folder.path()});
  refused(by_word, {}, {1 << 20, ""});
  refused(by_word, {.top = 3}, {1 << 20, folder.path()});
  refused(word_count{}, {}, {1 << 20, folder.path()});
  spmd(1, [&](host_communicator& c) {
    runtime rt = workers_of(c);
    text_view from(text, 4);
    EXPECT_THROW(static_cast<void>(run_on_machines(by_word, c, rt, from, {}, {1 << 20, "/none"})),
                 error);
  });
}

}  // namespace
}  // namespace creek::mapreduce
