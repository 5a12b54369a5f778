// SPDX-License-Identifier: Apache-2.0
// The most frequent of words that do not stay in memory.
#pragma once

#include <algorithm>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report.hpp"

namespace creek::tool {

using mapreduce::word_count;

/// Collects the most frequent of many words that arrive one by one and do not stay valid.
class top_words {
 public:
  explicit top_words(std::size_t top) : top_(top) {}

  void add(const word_record& word) {
    const bool full = best_.size() == top_;
    if (full && (top_ == 0 || !word_count{}.before(word, view(best_.front())))) return;
    if (full) {
      std::ranges::pop_heap(best_, before);
      best_.pop_back();
    }
    best_.push_back({std::string(word.key), word.value});
    std::ranges::push_heap(best_, before);
  }
  /// Call it after the last word. Returns views of this object.
  [[nodiscard]] std::vector<word_record> sorted() {
    std::ranges::sort_heap(best_, before);
    std::vector<word_record> all;
    for (const owned& one : best_) all.push_back(view(one));
    return all;
  }

 private:
  using owned = mapreduce::record<std::string, std::uint64_t>;

  static word_record view(const owned& one) { return {one.key, one.value}; }
  static bool before(const owned& a, const owned& b) {
    return word_count{}.before(view(a), view(b));
  }

  std::size_t top_;
  std::vector<owned> best_;  // a heap with the last word in front
};

}  // namespace creek::tool
