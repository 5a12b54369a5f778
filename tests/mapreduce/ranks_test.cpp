// SPDX-License-Identifier: Apache-2.0
// The same jobs on ranks that send each other messages, host threads and simulated cores: the
// results of run(), for any number of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/ranks.hpp>
#include <creek/scc/spmd.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

constexpr strategy both[] = {strategy::automatic, strategy::emit_and_group};

/// Host threads, which share the host's few processors, so only a few ranks.
struct on_host {
  static constexpr int ranks[] = {1, 2, 3, 7};
  template <class F>
  static void run(int count, F&& f) {
    spmd(count, f);
  }
};
struct on_scc {
  static constexpr int ranks[] = {1, 2, 3, 7, 16, 48};
  template <class F>
  static void run(int count, F&& f) {
    simulate(count, f);
  }
};

/// Returns the result of rank 0; the other ranks must get nothing.
template <class Machine, class Job, class In>
rank_result<Job> run_job(int ranks, const Job& job, In& from, const options& chosen = {}) {
  rank_result<Job> result;
  Machine::run(ranks, [&](auto& c) {
    auto made = run_on_ranks(job, c, from, chosen);
    if (c.rank() == 0) {
      result = std::move(made);
    } else {
      EXPECT_TRUE(made.records.empty());
    }
  });
  return result;
}

template <class Machine>
class Ranks : public testing::Test {
 public:
  static rank_result<word_count> count(int ranks, std::string_view text,
                                       const options& chosen = {}) {
    text_view from(text, even_split(text.size(), ranks));
    return run_job<Machine>(ranks, word_count{}, from, chosen);
  }
};

using machines = testing::Types<on_host, on_scc>;
TYPED_TEST_SUITE(Ranks, machines);

TYPED_TEST(Ranks, CountWordsAsRunDoes) {
  const std::string text = oracle::random_text(21, 60000, 900);
  const auto expected = run(word_count{}, text);
  for (const int ranks : TypeParam::ranks) {
    for (const strategy how : both) {
      const auto counted = this->count(ranks, text, {.how = how});
      EXPECT_EQ(counted.records, expected.records) << ranks;
      EXPECT_EQ(counted.emitted, expected.emitted);
      EXPECT_EQ(counted.distinct, expected.distinct);
      EXPECT_EQ(counted.sent_bytes == 0, ranks == 1);
    }
  }
}

TYPED_TEST(Ranks, KeepTheFirstOfTheOrder) {
  const std::string text = oracle::random_text(22, 20000, 700);
  for (const std::size_t top : {1, 3, 50, 100000}) {
    const auto expected = run(word_count{}, text, {.top = top});
    const auto counted = this->count(7, text, {.top = top});
    EXPECT_EQ(counted.records, expected.records);
    EXPECT_EQ(counted.distinct, expected.distinct);
  }
  const auto unsorted = this->count(3, text, {.sort = false});
  EXPECT_EQ(oracle::as_map(unsorted), oracle::count_by_map(text));
}

TYPED_TEST(Ranks, EdgesOfInput) {
  const std::string great(100000, 'g');
  std::string same;
  for (int i = 0; i < 3000; ++i) same += "same ";
  for (const int ranks : TypeParam::ranks) {
    for (const strategy how : both) {
      const auto counts = [&](std::string_view text) {
        return oracle::as_map(this->count(ranks, text, {.how = how}));
      };
      EXPECT_TRUE(counts("").empty());
      EXPECT_TRUE(counts(" \n ").empty());
      EXPECT_EQ(counts("two words"), (oracle::word_map{{"two", 1}, {"words", 1}}));
      EXPECT_EQ(counts(same), (oracle::word_map{{"same", 3000}}));
      EXPECT_EQ(counts(great), (oracle::word_map{{great, 1}}));
      EXPECT_EQ(counts("x " + great + " y"), (oracle::word_map{{"x", 1}, {great, 1}, {"y", 1}}));
    }
  }
}

/// No combiner, keys and values that own memory, a result of another type.
struct first_letters {
  using key_type = std::string;
  using value_type = std::vector<std::string>;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    for_each_word(text, [&](std::string_view word) {
      emit(std::string(word.substr(0, 1)), std::vector{std::string(word)});
    });
  }
  static std::set<std::string> reduce(const std::string&, const values<first_letters>& lists) {
    std::set<std::string> all;
    for (const auto& list : lists) all.insert(list.begin(), list.end());
    return all;
  }
};

TYPED_TEST(Ranks, ReduceWithoutCombiner) {
  const std::string text = oracle::random_text(23, 8000, 300);
  const auto expected = run(first_letters{}, text);
  text_view from(text, 500);
  const auto made = run_job<TypeParam>(5, first_letters{}, from);
  EXPECT_EQ(made.records, expected.records);
  EXPECT_GT(made.size(), 2u);
}

/// Tuples as keys, pairs as values, a combiner, a reducer, a hash and an order of its own.
struct mean_length {
  using key_type = std::tuple<char, bool>;
  using value_type = std::pair<std::uint64_t, std::uint64_t>;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    for_each_word(text, [&](std::string_view w) {
      emit(std::tuple(w[0], w.size() > 9), std::pair(1ul, std::uint64_t{w.size()}));
    });
  }
  static void combine(value_type& into, value_type&& from) {
    into.first += from.first;
    into.second += from.second;
  }
  static double reduce(const key_type&, const values<mean_length>& all) {
    value_type sum{0, 0};
    for (const value_type& one : all) combine(sum, value_type(one));
    return static_cast<double>(sum.second) / static_cast<double>(sum.first);
  }
  static std::uint64_t hash(const key_type& key) {
    return static_cast<unsigned char>(std::get<0>(key));
  }
  static bool before(const record<key_type, double>& a, const record<key_type, double>& b) {
    return std::tuple(b.value, a.key) < std::tuple(a.value, b.key);
  }
};

TYPED_TEST(Ranks, TakeHashAndOrderOfTheJob) {
  const std::string text = oracle::random_text(24, 30000, 900);
  const auto expected = run(mean_length{}, text);
  for (const int ranks : TypeParam::ranks) {
    for (const strategy how : both) {
      text_view from(text, 777);
      const auto made = run_job<TypeParam>(ranks, mean_length{}, from, {.how = how});
      EXPECT_EQ(made.records, expected.records) << ranks;
    }
  }
}

struct histogram {
  using key_type = int;
  using value_type = long;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(n % 100 - 50, n);
  }
  static void combine(long& into, long from) { into += from; }
};

TYPED_TEST(Ranks, IntegerKeysOfArrays) {
  std::vector<int> numbers(20000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * i % 7919);
  const auto expected = run(histogram{}, std::span<const int>(numbers));
  for (const int ranks : TypeParam::ranks) {
    span_input<int> from(numbers, even_split(numbers.size(), ranks));
    EXPECT_EQ(run_job<TypeParam>(ranks, histogram{}, from).records, expected.records);
  }
}

/// Texts of two files, cut at lines; the memory of a split is freed when `map` returns.
struct passing_files {
  std::array<std::string, 2> texts;
  std::size_t split;

  [[nodiscard]] std::size_t pieces(std::size_t file) const {
    return (texts[file].size() + split - 1) / split;
  }
  [[nodiscard]] std::size_t splits() const { return pieces(0) + pieces(1); }
  [[nodiscard]] std::uint64_t bytes() const { return texts[0].size() + texts[1].size(); }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    const std::size_t file = i < pieces(0) ? 0 : 1;
    const std::string_view all = texts[file];
    const std::string_view piece = cut(all, i - file * pieces(0), split, &is_line_end);
    if (piece.empty()) return;
    std::string copy(piece);
    f(text_split{
        copy,
        false,
        {static_cast<std::uint32_t>(file), static_cast<std::uint64_t>(piece.data() - all.data())}});
    std::ranges::fill(copy, '?');
  }
};

passing_files some_files() {
  return {{oracle::random_text(31, 30000, 300), oracle::random_text(32, 20000, 300)}, 2500};
}

TYPED_TEST(Ranks, KeepViewsInKeysOfTuples) {
  passing_files from = some_files();
  const auto expected = run(inverted_index{}, from);
  EXPECT_GT(expected.size(), 300u);
  for (const int ranks : TypeParam::ranks) {
    for (const strategy how : both) {
      const auto made = run_job<TypeParam>(ranks, inverted_index{}, from, {.how = how});
      EXPECT_EQ(made.records, expected.records) << ranks;
    }
  }
}

TYPED_TEST(Ranks, FillArraysAsRunDoes) {
  passing_files from = some_files();
  const string_match job({"a", "ab", "absent"});
  const auto expected = run(job, from);
  EXPECT_GT(expected[1].value.occurrences, expected[1].value.lines);
  for (const int ranks : TypeParam::ranks) {
    const auto made = run_job<TypeParam>(ranks, job, from);
    EXPECT_EQ(made.records, expected.records) << ranks;
    EXPECT_EQ(made.emitted, static_cast<std::uint64_t>(3 * ranks));
  }
  EXPECT_THROW((void)run_job<TypeParam>(2, job, from, {.how = strategy::emit_and_group}),
               usage_error);
  passing_files nothing{{}, 100};
  EXPECT_EQ(run_job<TypeParam>(3, job, nothing).records, run(job, nothing).records);
}

/// Adds up the results of a filter: lines seen, lines found, and the text of these in order.
template <class Result>
std::tuple<std::uint64_t, std::uint64_t, std::string> all_lines(const Result& filtered) {
  std::tuple<std::uint64_t, std::uint64_t, std::string> all;
  for (const auto& [from, piece] : filtered) {
    std::get<0>(all) += piece.seen;
    std::get<1>(all) += piece.found;
    for (const filtered_line& line : piece.lines) {
      std::get<2>(all) += std::to_string(line.number) + ':' + std::string(line.text);
    }
  }
  return all;
}

TYPED_TEST(Ranks, SendFilteredLines) {
  passing_files from = some_files();
  for (const auto detail : {filter_detail::counts, filter_detail::text, filter_detail::lines}) {
    const line_filter job("ab", {detail, false});
    const auto expected = all_lines(run(job, from));
    EXPECT_GT(std::get<1>(expected), 10u);
    for (const int ranks : TypeParam::ranks) {
      for (const strategy how : both) {
        EXPECT_EQ(all_lines(run_job<TypeParam>(ranks, job, from, {.how = how})), expected);
      }
    }
  }
}

struct throwing : histogram {
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    if (numbers[0] == 500) throw std::runtime_error("map failed");
    histogram::map(numbers, emit);
  }
};

TYPED_TEST(Ranks, ExceptionOfAMapperEndsTheProgram) {
  std::vector<int> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  span_input<int> from(numbers, 100);
  EXPECT_THROW((void)run_job<TypeParam>(4, throwing{}, from), std::runtime_error);
}

TYPED_TEST(Ranks, RefuseOptionsThatDoNotFit) {
  EXPECT_THROW((void)this->count(2, "a", {.top = 1, .sort = false}), usage_error);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW((void)this->count(2, "a b", {.stop = source.get_token()}), error);
}

TYPED_TEST(Ranks, TellWhenEachStageBegins) {
  const std::string text = oracle::random_text(25, 3000, 100);
  std::vector<std::vector<stage>> began(3);
  progress done;
  TypeParam::run(3, [&](auto& c) {
    text_view from(text, even_split(text.size(), 3));
    (void)run_on_ranks(word_count{}, c, from, {.report = &done},
                       [&](stage s) { began[static_cast<std::size_t>(c.rank())].push_back(s); });
  });
  const std::vector all{stage::map,    stage::combine, stage::partition, stage::group,
                        stage::reduce, stage::sort,    stage::merge};
  for (const auto& stages : began) EXPECT_EQ(stages, all);
  EXPECT_EQ(done.splits_done, 3u);
  EXPECT_GT(done.bytes_done, text.size() - 10);
}

// --- Virtual time on the simulated chip
// ---------------------------------------------------

scc_backend::run_report count_on_chip(const std::string& text, std::uint64_t seed, strategy how,
                                      rank_result<word_count>& result) {
  scc_backend::machine_options on;
  on.seed = seed;
  return simulate(
      16,
      [&](scc_communicator& c) {
        text_view from(text, even_split(text.size(), 16));
        auto made = run_on_ranks(word_count{}, c, from, {.how = how});
        if (c.rank() == 0) result = std::move(made);
      },
      on);
}

TEST(RanksInVirtualTime, ARunRepeatsExactlyAndASeedChangesItsTimesOnly) {
  const std::string text = oracle::random_text(26, 30000, 500);
  rank_result<word_count> first, second, other;
  const auto a = count_on_chip(text, 7, strategy::automatic, first);
  const auto b = count_on_chip(text, 7, strategy::automatic, second);
  const auto c = count_on_chip(text, 8, strategy::automatic, other);
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.switches, b.switches);
  EXPECT_NE(a.ended, c.ended);
  EXPECT_EQ(first.records, second.records);
  EXPECT_EQ(first.records, other.records);
}

TEST(RanksInVirtualTime, CombiningSendsLessAndTakesLess) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "w" + std::to_string(i % 97) + ' ';
  rank_result<word_count> combined, plain;
  const auto with = count_on_chip(text, 0, strategy::automatic, combined);
  const auto without = count_on_chip(text, 0, strategy::emit_and_group, plain);
  EXPECT_EQ(combined.records, plain.records);
  EXPECT_LT(5 * combined.sent_bytes, plain.sent_bytes);
  EXPECT_LT(with.length(), without.length());
}

TEST(RanksInVirtualTime, NoAccessToSharedMemoryIsWrong) {
  const std::string text = oracle::random_text(28, 40000, 500);
  for (const int ranks : {2, 7, 48}) {
    for (const strategy how : both) {
      scc_backend::machine_options on;
      on.check = true;
      const auto report = simulate(
          ranks,
          [&](scc_communicator& c) {
            text_view from(text, even_split(text.size(), ranks));
            (void)run_on_ranks(word_count{}, c, from, {.how = how});
          },
          on);
      EXPECT_TRUE(report.faults.empty()) << ranks;
    }
  }
}

TEST(RanksInVirtualTime, WorkIsCharged) {
  const std::string text = oracle::random_text(27, 100000, 500);
  rank_result<word_count> result;
  const auto report = count_on_chip(text, 0, strategy::automatic, result);
  // Reading every byte alone takes three cycles per byte on one of 16 cores.
  const auto looking = cycles{3 * 100000 / 16} * scc_backend::chip::scc_533().clocks.core;
  EXPECT_GT(report.length(), looking);
}

}  // namespace
}  // namespace creek::mapreduce
