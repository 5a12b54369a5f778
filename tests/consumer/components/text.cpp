// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <creek/mapreduce.hpp>
#include <creek/text.hpp>

struct count_words {
  using key_type = std::string_view;
  using value_type = int;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::text::for_each_unicode_word(text, [&](std::string_view word) { emit(word, 1); },
                                       {.fold_case = true});
  }
  static void combine(int& into, int from) { into += from; }
};

int main() {
  if (!creek::text::has_unicode_words()) return 0;
  const auto counts = creek::mapreduce::run(count_words{}, std::string_view("The fox, the end"));
  return counts.size() == 3 ? 0 : 1;
}
