// SPDX-License-Identifier: Apache-2.0
// Random jobs against a sequential reference: kinds of keys and values, with and without combiner
// and reducer, over both strategies, worker counts, splits, and with or without the last stages.
#include <creek/mapreduce.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace creek::mapreduce {
namespace {

/// Which keys there are and how often: what keeps some workers busy and others not.
enum class spread : std::uint8_t { even, skewed, one_key, one_heavy, all_different };
constexpr std::array spreads = {spread::even, spread::skewed, spread::one_key, spread::one_heavy,
                                spread::all_different};

std::vector<std::uint32_t> random_numbers(std::mt19937_64& random, std::size_t n, spread how) {
  std::vector<std::uint32_t> numbers(n);
  const std::uint64_t range = 1 + random() % (2 * n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t r = random();
    switch (how) {
      case spread::even:
        numbers[i] = static_cast<std::uint32_t>(r % range);
        break;
      case spread::skewed:
        numbers[i] = static_cast<std::uint32_t>((r % range) >> (r >> 32) % 20);
        break;
      case spread::one_key:
        numbers[i] = 5;
        break;
      case spread::one_heavy:
        numbers[i] = r % 10 != 0 ? 3 : static_cast<std::uint32_t>((r >> 8) % range);
        break;
      case spread::all_different:
        numbers[i] = static_cast<std::uint32_t>(i);
        break;
    }
  }
  return numbers;
}

// Keys of all kinds from a number, for most numbers different ones.
template <class Key>
Key key_of(std::uint32_t n, std::string_view) {
  return static_cast<Key>(n * 0x9E3779B97F4A7C15ull - 77);
}
template <>
std::string key_of(std::uint32_t n, std::string_view) {
  return std::string(n % 40, 'k') + std::to_string(n);
}
template <>
std::string_view key_of(std::uint32_t n, std::string_view text) {
  return text.substr(n % 1000, n / 1000);
}
template <>
std::tuple<int, std::string> key_of(std::uint32_t n, std::string_view) {
  return {static_cast<int>(n % 7), std::to_string(n / 7)};
}

/// A value that no register holds.
struct wide {
  std::array<std::uint64_t, 5> parts{};
  friend bool operator==(const wide&, const wide&) = default;
  wide& operator+=(const wide& more) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += more.parts[i];
    return *this;
  }
};

template <class Value>
Value value_of(std::uint32_t n) {
  if constexpr (std::is_same_v<Value, wide>) {
    return {{n, 0, 1, 0, n}};
  } else {
    return static_cast<Value>(n % 1000 + 1);
  }
}

enum class form : std::uint8_t { combines, reduces, does_both };

/// Emits every number some times, and some numbers not at all.
template <class Key, class Value>
struct job_base {
  using key_type = Key;
  using value_type = Value;
  std::string_view text;

  template <class Emit>
  void map(std::span<const std::uint32_t> numbers, Emit& emit) const {
    for (const std::uint32_t n : numbers) {
      if (n % 13 != 12) emit(key_of<Key>(n, text), value_of<Value>(n));
      if (n % 5 == 0) emit(key_of<Key>(n / 5, text), value_of<Value>(1));
    }
  }
};

template <class Key, class Value, form Form>
struct random_job;

template <class Key, class Value>
struct random_job<Key, Value, form::combines> : job_base<Key, Value> {
  static void combine(Value& into, Value&& from) { into += from; }
};

template <class Key, class Value>
struct random_job<Key, Value, form::reduces> : job_base<Key, Value> {
  static std::tuple<std::size_t, Value> reduce(
      const Key&, const value_list<Key, Value>& all) {  // how many, and their sum
    Value sum{};
    std::size_t count = 0;
    for (const Value& one : all) {
      sum += one;
      ++count;
    }
    EXPECT_EQ(count, all.size());
    return {count, sum};
  }
};

template <class Key, class Value>
struct random_job<Key, Value, form::does_both> : job_base<Key, Value> {
  static void combine(Value& into, Value&& from) { into += from; }
  static std::tuple<Value> reduce(const Key&, const value_list<Key, Value>& all) {
    Value sum{};
    for (const Value& one : all) sum += one;
    return {sum};
  }
};

template <class Job>
struct reference {
  std::map<typename Job::key_type, std::vector<typename Job::value_type>> values;
  std::uint64_t emitted = 0;
  void operator()(typename Job::key_type key, typename Job::value_type value) {
    values[key].push_back(value);
    ++emitted;
  }
};

template <class Job>
auto expected_value(const std::vector<typename Job::value_type>& all) {
  typename Job::value_type sum{};
  for (const auto& one : all) sum += one;
  if constexpr (!reduces<Job>) {
    return sum;
  } else if constexpr (combines<Job>) {
    return std::tuple(sum);
  } else {
    return std::tuple(all.size(), sum);
  }
}

template <class Job>
void check(std::uint64_t seed, runtime& rt) {
  std::mt19937_64 random(seed);
  std::string text(4096, ' ');
  for (char& c : text) c = static_cast<char>(random());
  const std::size_t n = std::array<std::size_t, 4>{0, 1, 300, 9000}[random() % 4] + random() % 90;
  const std::vector<std::uint32_t> numbers =
      random_numbers(random, n, spreads[random() % spreads.size()]);
  const Job job{{text}};
  reference<Job> wanted;
  job.map(std::span(numbers), wanted);

  for (const strategy how : {strategy::emit_and_group, strategy::combine_on_emit}) {
    if (how == strategy::combine_on_emit && !combines<Job>) continue;
    const bool sort = random() % 2 == 0;
    const options chosen{.top = sort && random() % 3 == 0 ? 1 + random() % 50 : 0,
                         .sort = sort,
                         .how = how,
                         .split = 1 + random() % (random() % 2 == 0 ? 50 : 20000)};
    const auto made =
        rt.run([&] { return run(job, std::span<const std::uint32_t>(numbers), chosen); });
    ASSERT_EQ(made.emitted, wanted.emitted);
    ASSERT_EQ(made.distinct, wanted.values.size());
    ASSERT_EQ(made.size(),
              chosen.top == 0 ? wanted.values.size() : std::min(chosen.top, wanted.values.size()));
    auto next = wanted.values.begin();
    std::map<typename Job::key_type, int> seen;
    for (const auto& [key, value] : made) {
      if (sort) {
        ASSERT_EQ(key, (next++)->first);
      }
      ASSERT_EQ(++seen[key], 1);
      const auto found = wanted.values.find(key);
      ASSERT_NE(found, wanted.values.end());
      ASSERT_EQ(value, expected_value<Job>(found->second));
    }
  }
}

template <class Key, class Value>
void check_forms(std::uint64_t seed, runtime& rt) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(rt.worker_count()));
  check<random_job<Key, Value, form::combines>>(seed, rt);
  check<random_job<Key, Value, form::reduces>>(seed, rt);
  check<random_job<Key, Value, form::does_both>>(seed, rt);
}

template <class Pair>
class MapReduceProperties : public ::testing::Test {};

using kinds =
    ::testing::Types<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int32_t, double>,
                     std::pair<std::uint32_t, wide>, std::pair<std::string, std::uint64_t>,
                     std::pair<std::string_view, std::int64_t>,
                     std::pair<std::tuple<int, std::string>, std::uint64_t>>;
TYPED_TEST_SUITE(MapReduceProperties, kinds);

TYPED_TEST(MapReduceProperties, AgreeWithASequentialReference) {
  for (const unsigned workers : {1u, 2u, 3u, 8u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      check_forms<typename TypeParam::first_type, typename TypeParam::second_type>(
          100 * workers + seed, rt);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// A job that can go either way combines few keys and groups many, with the same answer.
TEST(MapReduceStrategy, FollowsTheNumberOfKeys) {
  using job = random_job<std::uint64_t, std::uint64_t, form::combines>;
  for (const unsigned workers : {1u, 2u, 7u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (const bool many : {false, true}) {
      SCOPED_TRACE(std::to_string(workers) + " workers, " + (many ? "many" : "few") + " keys");
      std::vector<std::uint32_t> numbers(1'500'000);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<std::uint32_t>(many ? i : i % 1000);
      }
      span_input<std::uint32_t> from(numbers, 1000);
      const job sums{};
      const options chosen{};
      combine_or_group<job> plan(sums, chosen, workers);
      const auto made = rt.run([&] { return run_plan(plan, from, chosen, workers); });
      EXPECT_EQ(plan.groups(), many);
      const auto wanted = rt.run([&] {
        return run(job{}, std::span<const std::uint32_t>(numbers),
                   {.how = strategy::combine_on_emit});
      });
      EXPECT_EQ(made.emitted, wanted.emitted);
      EXPECT_EQ(made.distinct, wanted.distinct);
      EXPECT_EQ(made.records, wanted.records);
    }
  }
}

/// Memory of grouping follows the different keys where the job combines.
TEST(MapReduceStrategy, GroupingCombinesWhatHasDoubled) {
  using job = random_job<std::uint64_t, std::uint64_t, form::combines>;
  std::vector<std::uint32_t> numbers(1'000'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 5 * (i % 2);
  runtime rt(scheduler_options{.workers = 1});
  const auto made = rt.run([&] {
    return run(job{}, std::span<const std::uint32_t>(numbers), {.how = strategy::emit_and_group});
  });
  EXPECT_EQ(made.emitted, 2 * numbers.size());
  ASSERT_EQ(made.size(), 3u);  // keys of 0, 1 and 5
  std::uint64_t sum = 0;
  for (const auto& one : made) sum += one.value;
  EXPECT_EQ(sum, numbers.size() / 2 * (1 + 2 + 6 + 2));
}

/// One worker would be left with nearly all pairs if heavy keys were not combined before.
TEST(MapReduceSkew, HeavyKeysAreCombinedByEveryMapper) {
  using job = random_job<std::uint64_t, std::uint64_t, form::combines>;
  const std::vector<std::uint32_t> numbers(400'000, 7);
  runtime rt(scheduler_options{.workers = 4});
  const auto made = rt.run([&] {
    return run(job{}, std::span<const std::uint32_t>(numbers),
               {.how = strategy::emit_and_group, .split = 1000});
  });
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].value, 8 * numbers.size());
  EXPECT_EQ(made.emitted, numbers.size());
}

}  // namespace
}  // namespace creek::mapreduce
