// SPDX-License-Identifier: Apache-2.0
// Sums by key in one std::unordered_map, the different keys in one std::unordered_set.
#include <unordered_map>
#include <unordered_set>

#include "config.hpp"

namespace bench::sum_by_key {
namespace {

sample measure(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  std::unordered_map<std::uint64_t, std::uint64_t> sums;
  sample result{.work = static_cast<double>(pairs.size())};
  result.total_ns = timed([&] {
    for (const auto& [key, value] : pairs) sums[key] += value;
  });
  key_digest digest;
  for (const auto& [key, sum] : sums) digest.add(number_of(key), sum);
  result.answer = digest.answer();
  return result;
}

sample find_keys(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  std::unordered_set<std::uint64_t> keys;
  sample result{.work = static_cast<double>(pairs.size())};
  result.total_ns = timed([&] {
    for (const auto& [key, value] : pairs) keys.insert(key);
  });
  key_digest digest;
  for (const std::uint64_t key : keys) digest.add(number_of(key), 1);
  result.answer = digest.answer();
  return result;
}

const registration adds_up{what, measure};
const registration adds_many{large, measure};
const registration finds_keys{distinct, find_keys};

}  // namespace
}  // namespace bench::sum_by_key
