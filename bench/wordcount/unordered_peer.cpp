// SPDX-License-Identifier: Apache-2.0
// A small version of Phoenix++ [Talbot 2011]: one combining hash container per worker, dynamic
// pieces, partitioned merge.
#include "unordered_peer.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace creek_bench {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

template <class F>
void on_threads(unsigned threads, F&& f) {
  std::vector<std::jthread> running;
  for (unsigned i = 1; i < threads; ++i) running.emplace_back([&f, i] { f(i); });
  f(0u);
}

void count_piece(std::string_view text, std::size_t from, std::size_t to,
                 std::vector<count_map>& parts) {
  std::size_t i = from;
  if (i != 0) {
    while (i < to && !is_space(text[i - 1])) ++i;
  }
  while (i < to) {
    while (i < to && is_space(text[i])) ++i;
    if (i == to) break;
    const std::size_t begin = i;
    while (i < text.size() && !is_space(text[i])) ++i;
    const std::string_view word = text.substr(begin, i - begin);
    const std::size_t hash = std::hash<std::string_view>{}(word);
    ++parts[parts.size() == 1 ? 0 : (hash >> 40) % parts.size()][word];
  }
}

}  // namespace

std::vector<count_map> count_unordered(std::string_view text, unsigned threads) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<std::vector<count_map>> all(threads, std::vector<count_map>(threads));
  std::atomic<std::size_t> next{0};
  on_threads(threads, [&](unsigned self) {
    for (std::size_t at; (at = next.fetch_add(piece)) < text.size();) {
      count_piece(text, at, std::min(at + piece, text.size()), all[self]);
    }
  });
  on_threads(threads, [&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (const auto& [word, count] : all[other][part]) all[0][part][word] += count;
      all[other][part] = {};
    }
  });
  return std::move(all[0]);
}

}  // namespace creek_bench
