// SPDX-License-Identifier: Apache-2.0
// Jobs over text as a user writes them from the guide, to be compared with the built-in word count.
#pragma once

#include <creek/mapreduce.hpp>
#include <creek/tasking/hash.hpp>
#include <cstdint>
#include <string_view>

#include "grouping.hpp"
#include "loops.hpp"

namespace creek_bench {

struct own_word_count {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::mapreduce::for_each_word(text, [&](std::string_view word) { emit(word, 1); });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

/// Counts pairs of words that follow each other in one piece of the text.
struct bigram_count {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    const char* last = nullptr;
    creek::mapreduce::for_each_word(text, [&](std::string_view word) {
      if (last != nullptr) {
        emit({last, static_cast<std::size_t>(word.data() + word.size() - last)}, 1);
      }
      last = word.data();
    });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

/// Counts the same bigrams in a std::unordered_map per thread and part of the keys; threads take
/// pieces of the text in turn, then each merges a part.
answer bigrams_by_hash_maps(std::string_view text, unsigned threads);

/// Digest of counts of words.
template <class Counts>
answer digest_of(const Counts& counts) {
  pair_digest digest;
  for (const auto& [word, count] : counts) digest.add(creek::repeatable_hash(word), count);
  return digest.numbers();
}

}  // namespace creek_bench
