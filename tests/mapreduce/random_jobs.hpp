// SPDX-License-Identifier: Apache-2.0
// Random jobs and their sequential reference: kinds of keys and values, with and without combiner
// and reducer, over both strategies, worker counts, splits, and with or without the last stages.
#pragma once

#include <creek/mapreduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

#include "support/few_cases.hpp"

namespace creek::mapreduce {

/// The distribution of keys, which decides whether some workers are busier than others.
enum class spread : std::uint8_t { even, skewed, one_key, one_heavy, all_different };
inline constexpr std::array spreads = {spread::even, spread::skewed, spread::one_key,
                                       spread::one_heavy, spread::all_different};

inline std::vector<std::uint32_t> random_numbers(std::mt19937_64& random, std::size_t n,
                                                 spread how) {
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

// Makes keys of all kinds from a number; most numbers make different keys.
template <class Key>
Key key_of(std::uint32_t n, std::string_view) {
  return static_cast<Key>(n * 0x9E3779B97F4A7C15ull - 77);
}
template <>
inline std::string key_of(std::uint32_t n, std::string_view) {
  return std::string(n % 40, 'k') + std::to_string(n);
}
template <>
inline std::string_view key_of(std::uint32_t n, std::string_view text) {
  return text.substr(n % 1000, n / 1000);
}
template <>
inline std::tuple<int, std::string> key_of(std::uint32_t n, std::string_view) {
  return {static_cast<int>(n % 7), std::to_string(n / 7)};
}
template <>
inline std::tuple<std::string_view, int> key_of(std::uint32_t n, std::string_view text) {
  return {key_of<std::string_view>(n / 7, text), static_cast<int>(n % 7)};
}

/// A value that does not fit a register.
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

/// Emits every number some times, and some numbers never.
template <class Key, class Value>
struct job_base {
  using key_type = Key;
  using value_type = Value;
  static constexpr bool may_group = true;
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
      const Key&, const value_list<Key, Value>& all) {  // their number and sum
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

/// A job with its input and the result that it must have.
template <class Job>
struct random_case {
  std::mt19937_64 random;
  std::string text = std::string(4096, ' ');
  std::vector<std::uint32_t> numbers;
  Job job;
  reference<Job> wanted;

  explicit random_case(std::uint64_t seed) : random(seed) {
    for (char& c : text) c = static_cast<char>(random());
    const std::size_t n = std::array<std::size_t, 4>{0, 1, 300, 9000}[random() % 4] + random() % 90;
    numbers = random_numbers(random, n, spreads[random() % spreads.size()]);
    job.text = text;
    job.map(std::span<const std::uint32_t>(numbers), wanted);
  }
  random_case(const random_case&) = delete;
  random_case& operator=(const random_case&) = delete;

  [[nodiscard]] options random_options(strategy how) {
    const bool sort = random() % 2 == 0;
    return {.top = sort && random() % 3 == 0 ? 1 + random() % 50 : 0,
            .sort = sort,
            .how = how,
            .split = 1 + random() % (random() % 2 == 0 ? 50 : 20000)};
  }

  template <class Result>
  void expect_result(const Result& made, const options& chosen) const {
    ASSERT_EQ(made.emitted, wanted.emitted);
    ASSERT_EQ(made.distinct, wanted.values.size());
    ASSERT_EQ(made.size(),
              chosen.top == 0 ? wanted.values.size() : std::min(chosen.top, wanted.values.size()));
    auto next = wanted.values.begin();
    std::map<typename Job::key_type, int> seen;
    for (const auto& [key, value] : made) {
      if (chosen.sort) {
        ASSERT_EQ(key, (next++)->first);
      }
      ASSERT_EQ(++seen[key], 1);
      const auto found = wanted.values.find(key);
      ASSERT_NE(found, wanted.values.end());
      ASSERT_EQ(value, expected_value<Job>(found->second));
    }
  }
};

template <class Job>
void check(std::uint64_t seed, runtime& rt) {
  random_case<Job> one(seed);
  for (const strategy how : {strategy::emit_and_group, strategy::combine_on_emit}) {
    if (how == strategy::combine_on_emit && !combines<Job>) continue;
    const options chosen = one.random_options(how);
    one.expect_result(
        rt.run([&] { return run(one.job, std::span<const std::uint32_t>(one.numbers), chosen); }),
        chosen);
  }
}

template <class Key, class Value>
void check_forms(std::uint64_t seed, runtime& rt) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(rt.worker_count()));
  check<random_job<Key, Value, form::combines>>(seed, rt);
  check<random_job<Key, Value, form::reduces>>(seed, rt);
  check<random_job<Key, Value, form::does_both>>(seed, rt);
}

/// Runs jobs of these kinds on one to eight workers. Call it in a test.
template <class Key, class Value>
void check_on_workers() {
  for (const unsigned workers : {1u, 2u, 3u, 8u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      check_forms<Key, Value>(100 * workers + seed, rt);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace creek::mapreduce
