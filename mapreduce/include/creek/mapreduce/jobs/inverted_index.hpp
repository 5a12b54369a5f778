// SPDX-License-Identifier: Apache-2.0
// Files in which each word occurs, and how often.
#pragma once

#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/words.hpp>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace creek::mapreduce {

/// The job, over text_files: a record per word and file that contains it, sorted by the words'
/// bytes, then the files' numbers; its value is the number of occurrences. Words as in word_count.
struct inverted_index {
  using key_type = std::tuple<std::string_view, std::uint32_t>;
  using value_type = std::uint64_t;
  using split_type = text_split;
  static constexpr bool may_group = true;

  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    for_each_word(split.text, [&](std::string_view word) {
      emit(key_type{word, split.from.file}, 1);
    });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

// Compiled in inverted_index.cpp and inverted_index_spill.cpp.
extern template result<inverted_index> detail::run_source(const inverted_index&,
                                                          split_source<text_split>, const options&);
extern template spilled_result<inverted_index> detail::run_source(const inverted_index&,
                                                                  split_source<text_split>,
                                                                  const options&,
                                                                  const memory_limit&);
extern template run_summary detail::run_source_to(
    const inverted_index&, split_source<text_split>, const options&, const memory_limit&,
    function_ref<void(const record_of<inverted_index>&)>);

}  // namespace creek::mapreduce
