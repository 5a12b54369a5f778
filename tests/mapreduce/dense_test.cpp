// SPDX-License-Identifier: Apache-2.0
// Jobs over small ranges of keys: arrays against hash tables, pairs and sequential references.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace creek::mapreduce {
namespace {

runtime workers_of_dense(unsigned count) {
  return runtime(scheduler_options{.workers = count});
}

std::vector<int> random_numbers(std::uint64_t seed, std::size_t count, int below) {
  std::mt19937_64 random(seed);
  std::vector<int> numbers(count);
  for (int& n : numbers) n = static_cast<int>(random() % static_cast<std::uint64_t>(below));
  return numbers;
}

/// Sums of numbers by the numbers themselves, in a hash table...
struct hashed_sums {
  using key_type = int;
  using value_type = long;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(n, 2 * n + 1);
  }
  static void combine(long& into, long from) { into += from; }
};

/// ... and in arrays.
struct dense_sums : hashed_sums {
  static constexpr bool may_group = true;
  std::size_t keys;
  explicit dense_sums(std::size_t n) : keys(n) {}
  [[nodiscard]] std::size_t dense_keys() const { return keys; }
};

TEST(DenseTable, GivesWhatTheHashTableGives) {
  static_assert(dense<dense_sums> && !fills<dense_sums> && !dense<hashed_sums>);
  for (const unsigned count : {1u, 2u, 5u}) {
    runtime rt = workers_of_dense(count);
    for (const int keys : {1, 2, 63, 64, 65, 1000, 5000}) {
      const auto numbers = random_numbers(static_cast<std::uint64_t>(keys), 20000, (keys + 1) / 2);
      const std::span<const int> data(numbers);
      const options chosen{.split = 700};
      const auto expected = rt.run([&] { return run(hashed_sums{}, data, chosen); });
      const dense_sums job(static_cast<std::size_t>(keys));
      for (const strategy how : {strategy::automatic, strategy::emit_and_group}) {
        const auto made = rt.run([&] { return run(job, data, {.how = how, .split = 700}); });
        EXPECT_EQ(made.records, expected.records) << keys << " keys, " << count << " workers";
        EXPECT_EQ(made.distinct, expected.distinct);
        EXPECT_EQ(made.emitted, numbers.size());
      }
    }
  }
}

TEST(DenseTable, RefusesKeysOutOfRange) {
  for (const int wrong : {10, 11, -1, 1 << 29}) {
    const std::vector<int> numbers{1, 9, wrong};
    EXPECT_THROW((void)run(dense_sums(10), std::span<const int>(numbers)), usage_error) << wrong;
  }
  EXPECT_EQ(run(dense_sums(0), std::span<const int>()).size(), 0u);
}

struct narrow_keys : hashed_sums {
  using key_type = std::uint8_t;
  static constexpr std::size_t dense_keys = 257;
};

TEST(DenseTable, RefusesARangeWiderThanItsKeys) {
  const std::vector<int> numbers{1};
  EXPECT_THROW((void)run(narrow_keys{}, std::span<const int>(numbers)), usage_error);
}

/// Strings are values like others.
struct letters {
  using key_type = std::size_t;
  using value_type = std::string;
  static constexpr std::size_t dense_keys = 3;
  template <class Emit>
  static void map(std::span<const int> numbers, Emit& emit) {
    for (const int n : numbers) emit(static_cast<std::size_t>(n % 3), std::string(40, 'x'));
  }
  static void combine(std::string& into, std::string&& from) { into += from; }
  static std::size_t reduce(std::size_t, const values<letters>& all) {
    std::size_t sum = 0;
    for (const std::string& one : all) sum += one.size();
    return sum;
  }
};

TEST(DenseTable, CombinesAndReducesOwningValues) {
  const std::vector<int> numbers(3000, 4);
  runtime rt = workers_of_dense(3);
  const auto made =
      rt.run([&] { return run(letters{}, std::span<const int>(numbers), {.split = 10}); });
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].key, 1u);
  EXPECT_EQ(made[0].value, 120000u);
}

/// Counts the numbers with a mapper that owns the whole array.
struct filled_counts {
  using key_type = std::uint32_t;
  using value_type = std::uint64_t;
  std::size_t keys;
  std::atomic<std::uint64_t>* calls = nullptr;
  [[nodiscard]] std::size_t dense_keys() const { return keys; }
  void fill(std::span<const int> numbers, std::span<std::uint64_t> into) const {
    if (calls != nullptr) calls->fetch_add(1);
    for (const int n : numbers) {
      if (n < 0) throw std::runtime_error("fill failed");
      ++into[static_cast<std::size_t>(n)];
    }
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

TEST(Filling, CountsAsALoopDoes) {
  static_assert(fills<filled_counts>);
  for (const unsigned count : {1u, 2u, 7u}) {
    runtime rt = workers_of_dense(count);
    for (const int keys : {1, 5, 4096, 4097, 20000}) {
      const auto numbers = random_numbers(7, 50000, keys);
      std::vector<std::uint64_t> expected(static_cast<std::size_t>(keys));
      for (const int n : numbers) ++expected[static_cast<std::size_t>(n)];
      progress done;
      const auto made = rt.run([&] {
        return run(filled_counts{expected.size()}, std::span<const int>(numbers),
                   {.split = 999, .report = &done});
      });
      ASSERT_EQ(made.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(made[k].key, k);
        EXPECT_EQ(made[k].value, expected[k]);
      }
      EXPECT_EQ(done.bytes_done, numbers.size() * sizeof(int));
      EXPECT_EQ(done.splits_done, 51u);
    }
  }
}

TEST(Filling, OfNothingIsNeutral) {
  const auto made = run(filled_counts{3}, std::span<const int>());
  ASSERT_EQ(made.size(), 3u);
  for (const auto& [key, value] : made) EXPECT_EQ(value, 0u);
  EXPECT_EQ(run(filled_counts{0}, std::span<const int>()).size(), 0u);
}

struct most_frequent_first : filled_counts {
  [[nodiscard]] bool before(const record<key_type, value_type>& a,
                            const record<key_type, value_type>& b) const {
    return a.value != b.value ? a.value > b.value : a.key < b.key;
  }
};

TEST(Filling, SortsAndKeepsTheFirst) {
  const std::vector<int> numbers{3, 1, 3, 2, 2, 3};
  const auto made = run(most_frequent_first{{5}}, std::span<const int>(numbers), {.top = 2});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].key, 3u);
  EXPECT_EQ(made[1].key, 2u);
}

TEST(Filling, RefusesWhatItCannotDo) {
  const std::span<const int> none;
  EXPECT_THROW((void)run(filled_counts{1}, none, {.how = strategy::emit_and_group}), usage_error);
  std::stop_source source;
  source.request_stop();
  const std::vector<int> numbers{0};
  EXPECT_THROW(
      (void)run(filled_counts{1}, std::span<const int>(numbers), {.stop = source.get_token()}),
      error);
}

/// Sums whose rounding depends on their order.
struct rounded_sums {
  using key_type = int;
  using value_type = double;
  static constexpr std::size_t dense_keys = 2;
  static constexpr bool in_order = true;
  static void fill(std::span<const int> numbers, std::span<double> into) {
    for (const int n : numbers) into[static_cast<std::size_t>(n % 2)] += 1.0 / (n + 1);
  }
  static void combine(double& into, double from) { into += from; }
};

TEST(Filling, InOrderIsTheSameToTheBit) {
  const auto numbers = random_numbers(3, 100000, 1 << 30);
  const std::span<const int> data(numbers);
  for (const std::size_t split : {100u, 1000u, 99999u}) {
    const options chosen{.split = split};
    const auto one = workers_of_dense(1).run([&] { return run(rounded_sums{}, data, chosen); });
    for (const unsigned count : {2u, 3u, 8u}) {
      runtime rt = workers_of_dense(count);
      for (int again = 0; again < 3; ++again) {
        const auto made = rt.run([&] { return run(rounded_sums{}, data, chosen); });
        EXPECT_EQ(made.records, one.records) << count << " workers, splits of " << split;
      }
    }
  }
}

TEST(Rounds, KeepTheirArraysAndStartAfresh) {
  const auto numbers = random_numbers(9, 10000, 100);
  runtime rt = workers_of_dense(3);
  span_input<int> from(numbers, 100);
  std::atomic<std::uint64_t> calls{0};
  rounds<filled_counts, span_input<int>> iterate(from);
  const std::uint64_t* array = nullptr;
  for (int round = 0; round < 20; ++round) {
    const auto counts = rt.run([&] { return iterate.run(filled_counts{100, &calls}); });
    std::uint64_t sum = 0;
    for (std::uint64_t& n : counts) sum += std::exchange(n, 12345);  // ours to change
    EXPECT_EQ(sum, numbers.size());
    EXPECT_TRUE(array == nullptr || array == counts.data());
    array = counts.data();
    EXPECT_EQ(calls, 100u * (static_cast<unsigned>(round) + 1));
  }
}

TEST(Rounds, RangeMayChangeAndAnExceptionLeavesNothingBehind) {
  std::vector<int> numbers(1000, 1);
  runtime rt = workers_of_dense(2);
  span_input<int> from(numbers, 10);
  rounds<filled_counts, span_input<int>> iterate(from);
  const auto go = [&](std::size_t keys) {
    return rt.run([&] { return iterate.run(filled_counts{keys}); });
  };
  EXPECT_EQ(go(2)[1], 1000u);
  EXPECT_EQ(go(5000)[1], 1000u);
  numbers[567] = -1;
  EXPECT_THROW((void)go(2), std::runtime_error);
  numbers[567] = 1;
  EXPECT_EQ(go(2)[1], 1000u);
}

}  // namespace
}  // namespace creek::mapreduce
