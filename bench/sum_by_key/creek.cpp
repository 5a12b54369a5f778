// SPDX-License-Identifier: Apache-2.0
// Sums by key of a job as a user writes it.
#include <creek/mapreduce.hpp>
#include <optional>
#include <span>

#include "config.hpp"
#include "harness/creek_runtime.hpp"
#include "sums.hpp"

namespace bench::sum_by_key {
namespace {

sample measure(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  sample result{.work = static_cast<double>(pairs.size())};
  inside(s, [&] {
    const auto add = [&] {
      return creek::mapreduce::run(sums{}, std::span(pairs), {.sort = false});
    };
    std::optional<decltype(add())> made;
    result.total_ns = timed([&] { made.emplace(add()); });
    key_digest digest;
    for (const auto& [key, sum] : *made) digest.add(number_of(key), sum);
    result.answer = digest.answer();
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::sum_by_key
