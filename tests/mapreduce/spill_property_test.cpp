// SPDX-License-Identifier: Apache-2.0
// Random jobs with random memory limits against a sequential reference: sometimes all pairs fit,
// sometimes those at the end, sometimes few.
#include <creek/mapreduce/spill.hpp>

#include <type_traits>

#include "random_jobs.hpp"
#include "support/temporary_folder.hpp"

namespace creek::mapreduce {

using word_and_digit = std::pair<std::string_view, std::uint8_t>;
template <>
inline word_and_digit key_of(std::uint32_t n, std::string_view text) {
  return {key_of<std::string_view>(n / 3, text), static_cast<std::uint8_t>(n % 3)};
}

namespace {

template <class Pair>
class MapReduceSpillProperties : public ::testing::Test {};

using spilled_kinds = std::conditional_t<
    support::few_cases, ::testing::Types<std::pair<std::string_view, std::uint64_t>>,
    ::testing::Types<std::pair<std::string_view, std::uint64_t>, std::pair<std::string, wide>,
                     std::pair<word_and_digit, double>>>;
TYPED_TEST_SUITE(MapReduceSpillProperties, spilled_kinds);

template <class Job>
void check_with_limit(std::uint64_t seed, runtime& rt, const std::string& folder) {
  random_case<Job> one(seed);
  const auto share = std::max<std::size_t>(
      memory_limit::least, (std::size_t{1} << (14 + one.random() % 8)) + one.random() % 5000);
  const options chosen =
      one.random_options(one.random() % 2 == 0 || !combines<Job> ? strategy::emit_and_group
                                                                 : strategy::combine_on_emit);
  try {
    one.expect_result(rt.run([&] {
      return run(one.job, std::span<const std::uint32_t>(one.numbers), chosen,
                 {share * rt.worker_count(), folder});
    }),
                      chosen);
  } catch (const error& e) {
    // All values of a key may be too many for the limit.
    ASSERT_FALSE(combines<Job>) << e.what();
    ASSERT_EQ(e.code().value(), ENOMEM) << e.what();
  }
}

TYPED_TEST(MapReduceSpillProperties, AgreeWithASequentialReference) {
  using key = typename TypeParam::first_type;
  using value = typename TypeParam::second_type;
  const support::temporary_folder folder;
  for (const unsigned workers : {1u, 2u, 3u, 8u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (std::uint64_t seed = 0; seed < (support::few_cases ? 15 : 40); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
      check_with_limit<random_job<key, value, form::does_both>>(seed, rt, folder.path());
      check_with_limit<random_job<key, value, form::reduces>>(seed, rt, folder.path());
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce
