// SPDX-License-Identifier: Apache-2.0
// Jobs on ranks with workers of their own, here host threads: the results of run(), for random jobs
// of all kinds, numbers of ranks and workers.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/jobs/colour_histogram.hpp>
#include <creek/mapreduce/jobs/k_means.hpp>
#include <creek/mapreduce/machines.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <creek/core/messages/any_communicator.hpp>
#include <creek/host/spmd.hpp>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "random_jobs.hpp"
#include "support/temporary_folder.hpp"

namespace creek::mapreduce {
namespace {

/// Runs a job on ranks whose runtimes have one worker, two, one ... Returns the result of rank 0;
/// the other ranks must get nothing.
template <class Job, class Input>
rank_result<Job> run_job(int ranks, const Job& job, Input& from, const options& chosen = {}) {
  rank_result<Job> result;
  spmd(ranks, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 1 + static_cast<unsigned>(c.rank()) % 2});
    auto made = run_on_machines(job, c, rt, from, chosen);
    if (c.rank() == 0) {
      result = std::move(made);
    } else {
      EXPECT_TRUE(made.records.empty());
    }
  });
  return result;
}

/// Runs a job on ranks that keep a part each. Returns all parts in the order of the ranks, whose
/// totals must be equal.
template <class Job, class Input>
std::vector<rank_result<Job>> parts_of(int ranks, const Job& job, Input& from,
                                       const options& chosen = {}) {
  std::vector<rank_result<Job>> parts(static_cast<std::size_t>(ranks));
  spmd(ranks, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 1 + static_cast<unsigned>(c.rank()) % 2});
    parts[static_cast<std::size_t>(c.rank())] = run_in_parts(job, c, rt, from, chosen);
  });
  for (const auto& part : parts) {
    EXPECT_EQ(part.emitted, parts[0].emitted);
    EXPECT_EQ(part.distinct, parts[0].distinct);
    EXPECT_EQ(part.sent_bytes, parts[0].sent_bytes);
  }
  return parts;
}

/// Joins parts in the order of the ranks.
template <class Job>
rank_result<Job> joined(std::vector<rank_result<Job>> parts) {
  rank_result<Job> all = std::move(parts[0]);
  for (auto& part : std::span(parts).subspan(1)) {
    std::ranges::move(part.records, std::back_inserter(all.records));
    all.keys.adopt(std::move(part.keys));
  }
  return all;
}

template <class Pair>
class MapReduceMachines : public ::testing::Test {};

using machine_kinds =
    std::conditional_t<support::few_cases,
                       ::testing::Types<std::pair<std::string_view, std::uint64_t>,
                                        std::pair<std::tuple<std::string_view, int>, wide>>,
                       ::testing::Types<std::pair<std::string_view, std::uint64_t>,
                                        std::pair<std::tuple<std::string_view, int>, wide>,
                                        std::pair<std::tuple<int, std::string>, wide>,
                                        std::pair<std::uint64_t, std::uint64_t>>>;
TYPED_TEST_SUITE(MapReduceMachines, machine_kinds);

template <class Job>
void check_on_ranks(std::uint64_t seed, int ranks) {
  random_case<Job> one(seed);
  const options chosen =
      one.random_options(one.random() % 2 == 0 || !combines<Job> ? strategy::emit_and_group
                                                                 : strategy::combine_on_emit);
  span_input<std::uint32_t> from(one.numbers, chosen.split);
  one.expect_result(run_job(ranks, one.job, from, chosen), chosen);
  options all = chosen;
  all.top = 0;
  one.expect_result(joined(parts_of(ranks, one.job, from, all)), all);
}

TYPED_TEST(MapReduceMachines, AgreeWithASequentialReference) {
  using key = typename TypeParam::first_type;
  using value = typename TypeParam::second_type;
  for (const int ranks : {1, 2, 3, 5}) {
    for (std::uint64_t seed = 0; seed < (support::few_cases ? 4 : 12); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(ranks));
      check_on_ranks<random_job<key, value, form::combines>>(seed, ranks);
      check_on_ranks<random_job<key, value, form::reduces>>(seed, ranks);
      check_on_ranks<random_job<key, value, form::does_both>>(seed, ranks);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(MapReduceMachinesWords, AreThoseOfOneProcess) {
  const support::temporary_folder folder;
  std::string text;
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    const std::string part = oracle::random_text(static_cast<std::uint64_t>(i), 100'000, 3000);
    names.push_back(folder / (std::to_string(i) + ".txt"));
    std::ofstream(names.back()) << part << '\n';
    text += part + '\n';
  }
  const auto expected = run(word_count{}, text);
  for (const int ranks : {1, 2, 4}) {
    text_files from(names, {.split = 30'000});
    const auto counted = run_job(ranks, word_count{}, from);
    EXPECT_EQ(counted.records, expected.records) << ranks;
    EXPECT_EQ(counted.emitted, expected.emitted);
    EXPECT_EQ(counted.distinct, expected.distinct);
    EXPECT_EQ(counted.sent_bytes == 0, ranks == 1);
    const auto most = run_job(ranks, word_count{}, from, {.top = 7});
    EXPECT_TRUE(std::equal(most.begin(), most.end(), expected.begin(), expected.begin() + 7));
    EXPECT_EQ(most.distinct, expected.distinct);
  }
  text_view nothing("");
  EXPECT_TRUE(run_job(3, word_count{}, nothing).records.empty());
}

/// Combines and reduces to another type, by which records are ordered.
struct ordered_by_reduced {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  using counted = record<key_type, std::string>;

  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) { emit(word, 1); });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
  static std::string reduce(std::string_view /*word*/, const values<ordered_by_reduced>& all) {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : all) sum += one;
    return std::to_string(sum);
  }
  static bool before(const counted& a, const counted& b) {
    const auto size = [](const counted& one) { return one.value.size(); };
    if (size(a) != size(b)) return size(a) > size(b);
    return a.value != b.value ? a.value > b.value : a.key < b.key;
  }
};

TEST(MapReduceMachinesWords, AreOrderedByWhatReduceReturns) {
  const std::string text = oracle::random_text(9, 50'000, 700);
  const auto expected = run(ordered_by_reduced{}, text);
  for (const std::size_t top : {0, 9}) {
    text_view from(text, 3000);
    const auto made = run_job(3, ordered_by_reduced{}, from, {.top = top});
    ASSERT_EQ(made.size(), top == 0 ? expected.size() : top);
    EXPECT_TRUE(std::equal(made.begin(), made.end(), expected.begin()));
  }
}

/// Expects that pairs in messages have the byte form of wire<Key> and wire<Value>.
template <class Key, class Value>
void expect_wire_form(const Key& key, const Value& value) {
  detail::message_blocks messages;
  std::vector<std::byte> expected, found;
  for (int i = 0; i < 1000; ++i) {
    messages.put(key, value);
    put_pair(expected, key, value);
  }
  for (const auto& block : messages.blocks()) {
    const auto bytes = std::as_bytes(std::span(block.bytes.get(), block.size));
    found.insert(found.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(found, expected);
}

TEST(MapReduceMachinesMessages, HaveTheFormOfWire) {
  const std::string long_text(5000, 'x');
  expect_wire_form(std::string_view("key"), std::uint64_t{7});
  expect_wire_form(std::string_view(), true);
  expect_wire_form(std::string(long_text), -1.5);
  expect_wire_form(std::tuple(std::string_view(long_text), 3, 'c'), word_order::by_word);
  expect_wire_form(std::pair(std::int8_t{-1}, std::tuple(std::string("a"))), std::tuple<>());
  expect_wire_form(std::uint32_t{9}, std::vector<std::string>{"a", "", long_text});
  expect_wire_form(std::tuple(std::vector<int>{1, 2}, 'c'), wide{{1, 2, 3, 4, 5}});
}

TEST(MapReduceMachinesParts, AreRangesOfTheOrderOfOneProcess) {
  const std::string text = oracle::random_text(5, 400'000, 20'000);
  for (const auto sorted : {word_order::by_count, word_order::by_word}) {
    const auto expected = run(word_count{.sorted = sorted}, text);
    for (const int ranks : {1, 2, 4, 7}) {
      text_view from(text, 5000);
      auto parts = parts_of(ranks, word_count{.sorted = sorted}, from);
      for (const auto& part : parts) {
        const std::size_t even = expected.size() / static_cast<std::size_t>(ranks);
        EXPECT_NEAR(static_cast<double>(part.size()), static_cast<double>(even),
                    0.15 * static_cast<double>(even));
      }
      EXPECT_EQ(joined(std::move(parts)).records, expected.records) << ranks;
    }
  }
  const auto expected = run(ordered_by_reduced{}, text);
  text_view from(text, 5000);
  EXPECT_EQ(joined(parts_of(3, ordered_by_reduced{}, from)).records, expected.records);
}

TEST(MapReduceMachinesParts, MayBeEmpty) {
  for (const std::string_view text : {"", "word", "one two two"}) {
    const auto expected = run(word_count{}, text);
    for (const int ranks : {2, 6}) {
      text_view from(text, 4);
      EXPECT_EQ(joined(parts_of(ranks, word_count{}, from)).records, expected.records);
    }
  }
}

/// Orders words by their length alone.
struct by_length : ordered_by_reduced {
  static std::string reduce(std::string_view word, const values<by_length>& /*all*/) {
    return std::string(word);
  }
  static bool before(const counted& a, const counted& b) { return a.key.size() < b.key.size(); }
};

TEST(MapReduceMachinesParts, KeepEqualRecordsTogether) {
  const std::string text = oracle::random_text(8, 60'000, 3000);
  text_view from(text, 5000);
  const auto parts = parts_of(4, by_length{}, from);
  std::size_t longest = 0, all = 0;
  for (const auto& part : parts) {
    all += part.size();
    if (part.records.empty()) continue;
    EXPECT_GT(part[0].key.size(), longest);
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end(), by_length::before));
    longest = part[part.size() - 1].key.size();
  }
  EXPECT_EQ(all, run(by_length{}, text).size());
}

/// An input whose splits are plain numbers.
struct numbered_splits {
  static std::size_t splits() { return 40; }
  static std::uint64_t bytes() { return 0; }
  template <class F>
  static void visit(std::size_t i, F&& f) {
    f(static_cast<int>(i));
  }
};

/// Collects the splits by their last digit.
struct splits_by_digit {
  using key_type = int;
  using value_type = wide;  // pairs that are not moved
  template <class Emit>
  static void map(int split, Emit& emit) {
    emit(split % 10, wide{{static_cast<std::uint64_t>(split)}});
  }
  static std::uint64_t reduce(int /*digit*/, const values<splits_by_digit>& all) {
    std::uint64_t sum = 0;
    for (const wide& one : all) sum += one.parts[0];
    return sum;
  }
};

TEST(MapReduceMachinesInput, MayHaveSplitsOfAnyType) {
  numbered_splits from;
  const auto made = run_job(3, splits_by_digit{}, from);
  ASSERT_EQ(made.size(), 10u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(made[static_cast<std::size_t>(i)].key, i);
    EXPECT_EQ(made[static_cast<std::size_t>(i)].value, 60u + 4u * static_cast<unsigned>(i));
  }
}

/// Counts numbers by a hash that is another one on each rank, as one with a secret would be.
struct other_hash_on_each_rank {
  using key_type = std::uint32_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::span<const std::uint32_t> numbers, Emit& emit) {
    for (const std::uint32_t n : numbers) emit(n, 1);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
  std::uint64_t hash(std::uint32_t key) const { return hash_integer(key ^ own_salt); }
  std::uint64_t own_salt = 0;
};

/// Returns the message of the usage_error that one of two ranks throws.
template <class F>
std::string refusal(F&& f) {
  try {
    spmd(2, [&](host_communicator& c) {
      runtime rt(scheduler_options{.workers = 1});
      f(c, rt);
    });
  } catch (const usage_error& why) {
    return why.what();
  }
  return "nothing";
}

TEST(MapReduceMachinesMisuse, IsRefused) {
  std::vector<std::uint32_t> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const std::string hash = refusal([&](host_communicator& c, runtime& rt) {
    span_input<std::uint32_t> from(numbers, 100);
    other_hash_on_each_rank job;
    job.own_salt = static_cast<std::uint64_t>(c.rank());
    (void)run_on_machines(job, c, rt, from);
  });
  EXPECT_NE(hash.find("the job's hash() gives other numbers"), std::string::npos) << hash;
  const std::string input = refusal([&](host_communicator& c, runtime& rt) {
    span_input<std::uint32_t> from(
        std::span<const std::uint32_t>(numbers).first(1000 - static_cast<std::size_t>(c.rank())),
        100);
    (void)run_on_machines(other_hash_on_each_rank{}, c, rt, from);
  });
  EXPECT_NE(input.find("other splits or bytes"), std::string::npos) << input;
  const std::string top = refusal([&](host_communicator& c, runtime& rt) {
    span_input<std::uint32_t> from(numbers, 100);
    (void)run_in_parts(other_hash_on_each_rank{}, c, rt, from, {.top = 3});
  });
  EXPECT_NE(top.find("options.top must be 0"), std::string::npos) << top;
}

TEST(MapReduceMachinesArrays, AreAddedUp) {
  std::vector<pixel> pixels(100'000);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::uint64_t bits = hash_integer(i);
    pixels[i] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8 & 15),
                 static_cast<std::uint8_t>(bits >> 16 & 1)};
  }
  span_input<pixel> from(pixels, 1000);
  const auto expected = run(colour_histogram{}, std::span<const pixel>(pixels));
  for (const int ranks : {1, 2, 5}) {
    const auto made = run_job(ranks, colour_histogram{}, from);
    EXPECT_EQ(made.records, expected.records) << ranks;
  }
}

/// Clusters on host threads, each with its share of the points, and returns the results of all.
std::vector<k_means_result> cluster_on_ranks(int ranks, std::span<const float> points,
                                             const k_means_options& chosen) {
  const std::size_t d = chosen.dimensions;
  std::vector<k_means_result> made(static_cast<std::size_t>(ranks));
  spmd(ranks, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 1 + static_cast<unsigned>(c.rank()) % 2});
    any_communicator_of<host_communicator> all(c);
    const point_range share = k_means_share(points.size() / d, c.rank(), ranks);
    made[static_cast<std::size_t>(c.rank())] =
        k_means_on_machines(points.subspan(share.first * d, share.count * d), all, rt, chosen);
  });
  return made;
}

TEST(MapReduceMachinesClusters, AreThoseOfOneProcessToTheBit) {
  // One split, some splits, and more splits than parts of a round.
  for (const std::size_t n : {std::size_t{40}, std::size_t{50'000}, std::size_t{2'200'000}}) {
    std::vector<float> points(2 * n);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i] = static_cast<float>(hash_integer(i) >> 40) * 1e-4f;
    }
    for (const auto start :
         {k_means_start::random, k_means_start::plus_plus, k_means_start::first}) {
      const k_means_options chosen{
          .clusters = 9,
          .dimensions = 2,
          .start = start,
          .seed = 5,
          .max_rounds = 4,
          .bounds = n == 50'000 ? k_means_bounds::on : k_means_bounds::automatic};
      const k_means_result expected = k_means(points, chosen);
      for (const int ranks : {1, 2, 3, 5}) {
        for (const k_means_result& each : cluster_on_ranks(ranks, points, chosen)) {
          EXPECT_EQ(each.centres, expected.centres) << n << " points, " << ranks << " ranks";
          EXPECT_EQ(each.sizes, expected.sizes);
          EXPECT_EQ(each.inertia, expected.inertia);
          EXPECT_EQ(each.rounds, expected.rounds);
          EXPECT_EQ(each.converged, expected.converged);
        }
      }
    }
  }
}

TEST(MapReduceMachinesClusters, NeedTheShareOfEachRank) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{3'000'001}}) {
    for (const int ranks : {1, 2, 7, 300}) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const point_range share = k_means_share(n, rank, ranks);
        EXPECT_EQ(share.first, next) << n << " points, rank " << rank << " of " << ranks;
        next += share.count;
      }
      EXPECT_EQ(next, n);
    }
  }
  const std::vector<float> points(2 * 8192);
  spmd(2, [&](host_communicator& c) {
    runtime rt(scheduler_options{.workers = 1});
    any_communicator_of<host_communicator> all(c);
    const std::size_t wrong = c.rank() == 0 ? 8193 : 8191;
    EXPECT_THROW((void)k_means_on_machines(std::span(points).first(wrong), all, rt,
                                           {.clusters = 2, .dimensions = 1}),
                 usage_error);
  });
}

}  // namespace
}  // namespace creek::mapreduce
