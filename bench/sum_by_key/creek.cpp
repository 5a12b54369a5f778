// SPDX-License-Identifier: Apache-2.0
// Sums by key, and the different keys, of jobs as a user writes them.
#include <creek/mapreduce.hpp>
#include <optional>
#include <span>

#include "config.hpp"
#include "harness/creek_runtime.hpp"
#include "sums.hpp"

namespace bench::sum_by_key {
namespace {

std::uint64_t number_in(std::uint64_t sum) {
  return sum;
}
std::uint64_t number_in(distinct_keys::value_type) {
  return 1;
}

template <class Job>
sample measure(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  sample result{.work = static_cast<double>(pairs.size())};
  inside(s, [&] {
    const auto add = [&] {
      return creek::mapreduce::run(Job{}, std::span(pairs), {.sort = false});
    };
    std::optional<decltype(add())> made;
    result.total_ns = timed([&] { made.emplace(add()); });
    key_digest digest;
    for (const auto& [key, value] : *made) digest.add(number_of(key), number_in(value));
    result.answer = digest.answer();
  });
  return result;
}

const registration adds_up{what, measure<sums>};
const registration adds_many{large, measure<sums>};
const registration finds_keys{distinct, measure<distinct_keys>};

}  // namespace
}  // namespace bench::sum_by_key
