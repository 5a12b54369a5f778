// SPDX-License-Identifier: Apache-2.0
// Jobs of several kinds over both strategies and several worker counts against sequential
// references.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

constexpr std::array both = {strategy::combine_on_emit, strategy::emit_and_group};

runtime workers(unsigned count) {
  return runtime(scheduler_options{.workers = count});
}

TEST(WordCount, AgreesWithAMapForAllSettings) {
  for (const unsigned count : {1u, 2u, 5u}) {
    runtime rt = workers(count);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const std::string text = oracle::random_text(seed, 60000, 10 << seed);
      const auto expected = oracle::count_by_map(text);
      for (const strategy how : both) {
        for (const std::size_t split : {std::size_t{37}, std::size_t{4096}, std::size_t{1} << 20}) {
          const auto counted =
              rt.run([&] { return run(word_count{}, text, {.how = how, .split = split}); });
          EXPECT_EQ(oracle::as_map(counted), expected) << "seed " << seed << " split " << split;
          EXPECT_EQ(counted.distinct, expected.size());
          EXPECT_EQ(counted.size(), expected.size());
          EXPECT_EQ(counted.emitted,
                    std::accumulate(expected.begin(), expected.end(), 0ul,
                                    [](auto sum, auto& w) { return sum + w.second; }));
        }
      }
    }
  }
}

/// Plain bytes that cannot be copied.
struct only_moved {
  only_moved() = default;
  explicit only_moved(int from) : n(from) {}
  only_moved(only_moved&&) = default;
  only_moved& operator=(only_moved&&) = default;
  only_moved(const only_moved&) = delete;
  only_moved& operator=(const only_moved&) = delete;
  int n = 0;
};

struct sums_that_move {
  using key_type = int;
  using value_type = only_moved;
  static constexpr bool may_group = true;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(n % 7, only_moved(n));
  }
  static void combine(only_moved& into, only_moved&& from) { into.n += from.n; }
};

TEST(MoveOnlyValues, OfPlainBytesAreCombined) {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  runtime rt = workers(2);
  for (const strategy how : both) {
    const auto sums =
        rt.run([&] { return run(sums_that_move{}, std::span<const int>(numbers), {.how = how}); });
    ASSERT_EQ(sums.size(), 7u);
    EXPECT_EQ(sums[6].value.n, 142 * 6 + 7 * (141 * 142 / 2));
  }
}

TEST(WordCount, KeepsTheFirstOfTheOrder) {
  const std::string text = oracle::random_text(11, 200000, 5000);
  runtime rt = workers(2);
  for (const strategy how : both) {
    const auto all = rt.run([&] { return run(word_count{}, text, {.how = how}); });
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_TRUE(word_count{}.before(all[i - 1], all[i])) << i;
    }
    for (const std::size_t top : {1, 2, 20, 700, 100000}) {
      const auto some = rt.run([&] { return run(word_count{}, text, {.top = top, .how = how}); });
      ASSERT_EQ(some.size(), std::min(top, all.size()));
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
      EXPECT_EQ(some.distinct, all.distinct);
    }
  }
}

/// Its records are plain bytes in an order without digits.
struct sums_by_size {
  using key_type = int;
  using value_type = std::int64_t;
  static constexpr bool may_group = true;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(n % 20'011, n);
  }
  static void combine(std::int64_t& into, std::int64_t from) { into += from; }
  static bool before(const record<int, std::int64_t>& a, const record<int, std::int64_t>& b) {
    return a.value != b.value ? a.value > b.value : a.key < b.key;
  }
};

TEST(PlainRecords, AreInOrderAndTheFirstOfItAreKept) {
  std::vector<int> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<record<int, std::int64_t>> all(20'011);
  for (int key = 0; key < 20'011; ++key) all[static_cast<std::size_t>(key)].key = key;
  for (const int n : numbers) all[static_cast<std::size_t>(n % 20'011)].value += n;
  std::ranges::sort(all, sums_by_size::before);
  for (const unsigned count : {1u, 2u, 5u}) {
    runtime rt = workers(count);
    for (const strategy how : both) {
      for (const std::size_t top : {std::size_t{0}, std::size_t{1}, std::size_t{300},
                                    std::size_t{9'000}, all.size(), 2 * all.size()}) {
        const auto some = rt.run([&] {
          return run(sums_by_size{}, std::span<const int>(numbers), {.top = top, .how = how});
        });
        const std::size_t kept = top == 0 ? all.size() : std::min(top, all.size());
        ASSERT_EQ(some.size(), kept);
        ASSERT_TRUE(std::equal(
            some.begin(), some.end(), all.begin(),
            [](const auto& a, const auto& b) { return a.key == b.key && a.value == b.value; }))
            << "top " << top << ", workers " << count;
      }
    }
  }
}

TEST(WordCount, SortsByUnsignedBytes) {
  const std::string text = "b \xC3\xA4 a\x01 a a\xFF Z";
  const auto counted = run(word_count{.sorted = word_order::by_word}, text);
  std::vector<std::string> words;
  for (const auto& word : counted) words.emplace_back(word.key);
  EXPECT_THAT(words, testing::ElementsAre("Z", "a", "a\x01", "a\xFF", "b", "\xC3\xA4"));
}

TEST(WordCount, EdgesOfInput) {
  const auto count = [](std::string_view text) {
    return oracle::as_map(run(word_count{}, text, {.split = 16}));
  };
  EXPECT_TRUE(count("").empty());
  EXPECT_TRUE(count(" \n ").empty());
  EXPECT_EQ(count("one"), (oracle::word_map{{"one", 1}}));
  std::string same;
  for (int i = 0; i < 10000; ++i) same += "same ";
  EXPECT_EQ(count(same), (oracle::word_map{{"same", 10000}}));
  const std::string great(1 << 20, 'g');
  EXPECT_EQ(count("x " + great + " y"), (oracle::word_map{{"x", 1}, {great, 1}, {"y", 1}}));
}

TEST(WordCount, ResultOutlivesItsMove) {
  auto first = run(word_count{}, std::string_view("ab ab longer_than_eight_bytes"));
  const auto second = std::move(first);
  EXPECT_EQ(oracle::as_map(second), (oracle::word_map{{"ab", 2}, {"longer_than_eight_bytes", 1}}));
}

/// Integer keys, the general table.
struct histogram {
  using key_type = int;
  using value_type = long;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(n % 1000 - 500, n);
  }
  static void combine(long& into, long from) { into += from; }
};

TEST(Engine, IntegerKeys) {
  std::vector<int> numbers(200000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::map<int, long> expected;
  for (const int n : numbers) expected[n % 1000 - 500] += n;
  runtime rt = workers(3);
  for (const strategy how : both) {
    const auto made = rt.run([&] {
      return run(histogram{}, std::span<const int>(numbers), {.how = how, .split = 1000});
    });
    std::map<int, long> seen;
    for (const auto& [key, value] : made) seen[key] = value;
    EXPECT_EQ(seen, expected);
    EXPECT_TRUE(std::is_sorted(made.begin(), made.end(),
                               [](const auto& a, const auto& b) { return a.key < b.key; }));
  }
}

/// No combiner, move-only values, owned keys, a reducer with its own result type.
struct inverted_index {
  using key_type = std::string;
  using value_type = std::unique_ptr<std::size_t>;
  const char* base;
  template <class Emit>
  void map(std::string_view text, Emit& emit) const {
    for_each_word(text, [&](std::string_view word) {
      emit(std::string(word), std::make_unique<std::size_t>(word.data() - base));
    });
  }
  static std::set<std::size_t> reduce(const std::string&, const values<inverted_index>& places) {
    std::set<std::size_t> all;
    for (const auto& place : places) all.insert(*place);
    return all;
  }
};

TEST(Engine, ReducesWithoutCombiner) {
  const std::string text = oracle::random_text(5, 40000, 400);
  runtime rt = workers(2);
  const auto index =
      rt.run([&] { return run(inverted_index{text.data()}, text, {.split = 1000}); });
  const auto counts = oracle::count_by_map(text);
  ASSERT_EQ(index.size(), counts.size());
  auto expected = counts.begin();
  for (const auto& [word, places] : index) {
    EXPECT_EQ(word, expected->first);
    EXPECT_EQ(places.size(), expected->second);
    for (const std::size_t place : places) EXPECT_EQ(text.compare(place, word.size(), word), 0);
    ++expected;
  }
}

/// Tuples as keys, a combiner and a reducer.
struct mean_length {
  using key_type = std::tuple<char, bool>;
  using value_type = std::pair<std::uint64_t, std::uint64_t>;
  static constexpr bool may_group = true;
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
};

TEST(Engine, StrategiesAgreeOnTuplesAndReducers) {
  const std::string text = oracle::random_text(8, 90000, 2000);
  runtime rt = workers(2);
  const auto one = rt.run([&] { return run(mean_length{}, text, {.how = both[0], .split = 512}); });
  const auto other =
      rt.run([&] { return run(mean_length{}, text, {.how = both[1], .split = 512}); });
  EXPECT_EQ(one.records, other.records);
  EXPECT_GT(one.size(), 10u);
}

struct throwing : histogram {
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    if (numbers[0] == 50000) throw std::runtime_error("map failed");
    histogram::map(numbers, emit);
  }
};

TEST(Engine, ExceptionOfAMapperEndsTheRun) {
  std::vector<int> numbers(100000);
  std::iota(numbers.begin(), numbers.end(), 0);
  runtime rt = workers(2);
  for (const strategy how : both) {
    EXPECT_THROW((void)rt.run([&] {
      return run(throwing{}, std::span<const int>(numbers), {.how = how, .split = 1000});
    }),
                 std::runtime_error);
  }
}

TEST(Engine, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  try {
    (void)run(word_count{}, std::string_view("a b"), {.stop = source.get_token()});
    FAIL() << "did not stop";
  } catch (const error& e) {
    EXPECT_EQ(e.code().value(), ECANCELED);
  }
}

/// Does not say that it may group.
struct combined_words {
  using key_type = std::string_view;
  using value_type = int;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    for_each_word(text, [&](std::string_view word) { emit(word, 1); });
  }
  static void combine(int& into, int from) { into += from; }
};

TEST(Engine, RefusesOptionsThatDoNotFit) {
  EXPECT_THROW((void)run(word_count{}, std::string_view("a"), {.top = 1, .sort = false}),
               usage_error);
  EXPECT_THROW(
      (void)run(inverted_index{nullptr}, std::string_view("a"), {.how = strategy::combine_on_emit}),
      usage_error);
  EXPECT_THROW(
      (void)run(combined_words{}, std::string_view("a"), {.how = strategy::emit_and_group}),
      usage_error);
}

TEST(Engine, ReportsStagesAndProgress) {
  const std::string text = oracle::random_text(3, 100000, 1000);
  progress done;
  const auto counted = run(word_count{}, text, {.how = both[1], .split = 1000, .report = &done});
  EXPECT_EQ(done.splits_done, (text.size() + 999) / 1000);
  EXPECT_GT(done.bytes_done, text.size() * 9 / 10);
  for (const stage s : {stage::map, stage::group, stage::reduce, stage::sort}) {
    EXPECT_GT(counted.times[s].count(), 0) << stage_names[static_cast<std::size_t>(s)];
  }
  for (const stage s : {stage::combine, stage::partition}) {  // this plan does not have them
    EXPECT_EQ(counted.times[s].count(), 0) << stage_names[static_cast<std::size_t>(s)];
  }
}

/// A plan with a stage replaced by one that counts its calls.
class counting_group : public combine_on_emit<word_count> {
 public:
  using combine_on_emit::combine_on_emit;
  void group(std::size_t part) {
    ++calls;
    combine_on_emit::group(part);
  }
  std::atomic<int> calls{0};
};

TEST(Engine, StagesCanBeReplaced) {
  const word_count job;
  text_view text("a b a");
  counting_group plan(job, {}, 1);
  const auto counted = run_plan(plan, text, {}, 1);
  EXPECT_EQ(oracle::as_map(counted), (oracle::word_map{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(plan.calls, static_cast<int>(plan.partitions()));
}

}  // namespace
}  // namespace creek::mapreduce
