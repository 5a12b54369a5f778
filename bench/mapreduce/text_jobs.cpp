// SPDX-License-Identifier: Apache-2.0
#include "text_jobs.hpp"

#include <atomic>

#include "hash_maps.hpp"

namespace creek_bench {

answer bigrams_by_hash_maps(std::string_view text, unsigned threads) {
  const creek::mapreduce::text_view pieces(text);
  std::atomic<std::size_t> next{0};
  const auto add_pieces = [&](unsigned, auto&& add) {
    for (std::size_t i; (i = next.fetch_add(1)) < pieces.splits();) {
      pieces.visit(i, [&](const auto& split) { bigram_count::map(split.text, add); });
    }
  };
  return sums_by_hash_maps_of<std::string_view>(
      threads, add_pieces, [](std::string_view key) { return creek::repeatable_hash(key); });
}

}  // namespace creek_bench
