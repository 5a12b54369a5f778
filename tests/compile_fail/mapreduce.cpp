// SPDX-License-Identifier: Apache-2.0
// Mistakes in jobs of a user, and the messages that the compiler has to give for them.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/spill.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace mr = creek::mapreduce;

struct words_by_length {
  using key_type = std::size_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    mr::for_each_word(text, [&](std::string_view word) { emit(word.size(), value_type{1}); });
  }
  static void combine(value_type& into, value_type&& from) { into += from; }
};

struct no_combine_and_no_reduce : words_by_length {
  static void combine() = delete;
};

struct no_map {
  using key_type = std::size_t;
  using value_type = std::uint64_t;
  static void combine(value_type& into, value_type&& from) { into += from; }
};

struct pointed_at {
  const int* place;
  friend auto operator<=>(const pointed_at&, const pointed_at&) = default;
};

struct key_without_a_form : words_by_length {
  using key_type = pointed_at;
  template <class Emit>
  static void map(std::string_view, Emit& emit) {
    emit(pointed_at{nullptr}, value_type{1});
  }
  static std::uint64_t hash(const pointed_at&) { return 0; }
};

struct no_types {
  template <class Emit>
  static void map(std::string_view, Emit&) {}
};

void program(mr::text_files& files) {
  (void)mr::run(words_by_length{}, files);
#ifdef JOB_WITHOUT_COMBINE
  // expect: a job needs combine\(\) or reduce\(\)
  (void)mr::run(no_combine_and_no_reduce{}, files);
#endif
#ifdef JOB_WITHOUT_MAP
  // expect: no_map.* has no member named .map.
  (void)mr::run(no_map{}, files);
#endif
#ifdef JOB_WITHOUT_TYPES
  // expect: no type named .key_type. in .struct no_types
  (void)mr::run(no_types{}, files);
#endif
#ifdef INPUT_THAT_IS_NONE
  // expect: constraints not satisfied
  // expect: input
  int none = 0;
  (void)mr::run(words_by_length{}, none);
#endif
}
