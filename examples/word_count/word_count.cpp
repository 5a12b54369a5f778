// SPDX-License-Identifier: Apache-2.0
// A MapReduce job: number of words of each length in the given files or folders.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <creek/mapreduce.hpp>

struct words_by_length {
  using key_type = std::size_t;
  using value_type = std::uint64_t;

  // Called for every piece of the input, concurrently by several workers.
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::mapreduce::for_each_word(
        text, [&](std::string_view word) { emit(word.size(), value_type{1}); });
  }

  // Combines two values of the same key into one.
  static void combine(value_type& into, value_type&& from) { into += from; }
};

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: word_count FILE-OR-FOLDER...\n", stderr);
    return 2;
  }
  try {
    creek::mapreduce::text_files files(std::vector<std::string>(arguments + 1, arguments + count));
    for (const auto& [length, words] : creek::mapreduce::run(words_by_length{}, files)) {
      std::printf("%4zu letters: %llu words\n", length, static_cast<unsigned long long>(words));
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "word_count: %s\n", failure.what());
    return 1;
  }
}
