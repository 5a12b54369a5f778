// SPDX-License-Identifier: Apache-2.0
// How often every word occurs: the job of `creek wordcount`, and an example of a job that brings
// its own table.
#pragma once

#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/radix_sort.hpp>
#include <creek/mapreduce/word_cache.hpp>
#include <creek/mapreduce/word_table.hpp>
#include <creek/mapreduce/words.hpp>
#include <cstdint>
#include <string_view>

namespace creek::mapreduce {

/// Order of the words of a result.
enum class word_order : std::uint8_t {
  by_count,  ///< most frequent first; equal counts by the words' bytes
  by_word,   ///< by the words' bytes, unsigned
};

/// Counts words: maximal runs of bytes other than ASCII white space. Bytes are not interpreted.
struct word_count {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  using table_type = word_table;

  word_order sorted = word_order::by_count;

  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    if constexpr (requires { emit.count_all(text); }) {
      emit.count_all(text);
    } else {
      for_each_word(text, [&](std::string_view word) { emit(word, 1); });
    }
  }

  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }

  [[nodiscard]] bool before(const record<std::string_view, std::uint64_t>& a,
                            const record<std::string_view, std::uint64_t>& b) const {
    if (sorted == word_order::by_count && a.value != b.value) return a.value > b.value;
    return a.key < b.key;
  }

  /// By count: 24 bits of it, upside down, and the first 5 bytes of the word; what comes more often
  /// than 24 bits tell is all one.
  [[nodiscard]] std::uint64_t order_digits(
      const record<std::string_view, std::uint64_t>& one) const {
    constexpr std::uint64_t most = (std::uint64_t{1} << 24) - 1;
    if (sorted == word_order::by_count && one.value >= most) return 0;
    const std::uint64_t bytes = key_digits<std::string_view>::digits(one.key, 0);
    return sorted == word_order::by_word ? bytes : (most - one.value) << 40 | bytes >> 24;
  }
};

}  // namespace creek::mapreduce
