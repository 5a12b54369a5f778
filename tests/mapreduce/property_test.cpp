// SPDX-License-Identifier: Apache-2.0
// Random jobs against a sequential reference, with keys that are integers; and the choice of the
// strategy.
#include "random_jobs.hpp"

namespace creek::mapreduce {
namespace {

template <class Pair>
class MapReduceIntegerProperties : public ::testing::Test {};

// One kind takes ten seconds to compile, and a second one adds little under a sanitizer.
using integer_kinds = std::conditional_t<
    support::few_cases, ::testing::Types<std::pair<std::uint64_t, std::uint64_t>>,
    ::testing::Types<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int32_t, double>,
                     std::pair<std::uint32_t, wide>>>;
TYPED_TEST_SUITE(MapReduceIntegerProperties, integer_kinds);

TYPED_TEST(MapReduceIntegerProperties, AgreeWithASequentialReference) {
  check_on_workers<typename TypeParam::first_type, typename TypeParam::second_type>();
}

/// A job that works with both strategies combines few keys and groups many, with the same answer.
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

/// Memory of grouping depends on the number of different keys if the job combines.
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

/// Heavy keys must be combined early, otherwise one worker would get nearly all pairs.
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
