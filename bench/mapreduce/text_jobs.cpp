// SPDX-License-Identifier: Apache-2.0
#include "text_jobs.hpp"

#include <atomic>
#include <thread>
#include <unordered_map>
#include <vector>

namespace creek_bench {

answer bigrams_by_hash_maps(std::string_view text, unsigned threads) {
  using map = std::unordered_map<std::string_view, std::uint64_t>;
  const creek::mapreduce::text_view pieces(text);
  std::vector<std::vector<map>> all(threads, std::vector<map>(threads));
  std::vector<pair_digest> digests(threads);
  std::atomic<std::size_t> next{0};
  const auto on_threads = [&](auto&& f) {
    std::vector<std::jthread> running;
    for (unsigned i = 1; i < threads; ++i) running.emplace_back([&f, i] { f(i); });
    f(0u);
  };
  on_threads([&](unsigned self) {
    const auto count = [&](std::string_view bigram, std::uint64_t) {
      const std::size_t hash = std::hash<std::string_view>{}(bigram);
      ++all[self][(hash >> 40) % threads][bigram];
    };
    for (std::size_t i; (i = next.fetch_add(1)) < pieces.splits();) {
      pieces.visit(i, [&](const auto& split) { bigram_count::map(split.text, count); });
    }
  });
  on_threads([&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (const auto& [key, count] : all[other][part]) all[0][part][key] += count;
    }
    for (const auto& [key, count] : all[0][part])
      digests[part].add(creek::repeatable_hash(key), count);
  });
  for (unsigned part = 1; part < threads; ++part) digests[0].add(digests[part]);
  return digests[0].numbers();
}

}  // namespace creek_bench
