// SPDX-License-Identifier: Apache-2.0
// Number of occurrences of every word: the job of `creek wordcount`, and an example of a job with
// its own table.
#pragma once

#include <creek/mapreduce/engine/radix_sort.hpp>
#include <creek/mapreduce/engine/runs.hpp>
#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/word_table/word_table.hpp>
#include <creek/mapreduce/word_table/word_writer.hpp>
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
  using split_type = text_split;
  using table_type = word_table;
  static constexpr bool may_group = true;

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

  [[nodiscard]] bool orders_by_key() const { return sorted == word_order::by_word; }

  /// Returns eight of the bytes by which words are sorted, from `at` (a multiple of 8) on. By
  /// count: three bytes of the inverted count, then the word; if three are too few: eight zeros,
  /// eight bytes of the count, then the word.
  [[nodiscard]] std::uint64_t order_digits(const record<std::string_view, std::uint64_t>& one,
                                           std::size_t at) const {
    using word = key_digits<std::string_view>;
    if (sorted == word_order::by_word) return word::digits(one.key, at);
    if (one.value < most) {
      if (at == 0) return (most - one.value) << 40 | word::digits(one.key, 0) >> 24;
      return word::digits(one.key, at - 3);
    }
    return at == 0 ? 0 : at == 8 ? ~one.value : word::digits(one.key, at - 16);
  }
  /// Returns the number of those bytes.
  [[nodiscard]] std::size_t order_size(const record<std::string_view, std::uint64_t>& one) const {
    if (sorted == word_order::by_word) return one.key.size();
    return one.key.size() + (one.value < most ? 3 : 16);
  }

 private:
  static constexpr std::uint64_t most = (std::uint64_t{1} << 24) - 1;
};

// Compiled in runs.cpp.
extern template class ordered_runs<detail::job_order<word_count>>;
// In word_count.cpp and word_count_spill.cpp.
extern template result<word_count> detail::run_source(const word_count&, split_source<text_split>,
                                                      const options&);
extern template spilled_result<word_count> detail::run_source(const word_count&,
                                                              split_source<text_split>,
                                                              const options&, const memory_limit&);
extern template run_summary detail::run_source_to(const word_count&, split_source<text_split>,
                                                  const options&, const memory_limit&,
                                                  function_ref<void(const record_of<word_count>&)>);

}  // namespace creek::mapreduce
