// SPDX-License-Identifier: Apache-2.0
// Words and bigrams counted, and lines listed by word, by jobs as a user writes them from the
// guide.
#include <creek/mapreduce.hpp>
#include <optional>
#include <vector>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::count_words {
namespace {

using namespace creek::mapreduce;

struct words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::mapreduce::for_each_word(text, [&](std::string_view word) { emit(word, 1); });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

struct pairs_of_words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    creek::mapreduce::for_each_line(text, [&](std::string_view line) {
      std::string_view last;
      creek::mapreduce::for_each_word(line, [&](std::string_view word) {
        if (!last.empty()) {
          emit(std::string_view(last.data(), word.data() + word.size() - last.data()), 1);
        }
        last = word;
      });
    });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

struct lines_by_word {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(const text_split& split, Emit& emit) {
    creek::mapreduce::for_each_line(split.text, [&](std::string_view line) {
      const auto begin =
          split.from.offset + static_cast<std::uint64_t>(line.data() - split.text.data());
      creek::mapreduce::for_each_word(line, [&](std::string_view word) { emit(word, begin); });
    });
  }
  template <class Values>
  static std::vector<std::uint64_t> reduce(std::string_view, const Values& begins) {
    return {begins.begin(), begins.end()};
  }
};

std::uint64_t sum_in(std::uint64_t count) {
  return count;
}
std::uint64_t sum_in(const std::vector<std::uint64_t>& begins) {
  return sum_of(begins);
}

template <class Job, text_units Units>
sample measure(const settings& s) {
  const std::string text = text_of(s);
  sample result{.work = static_cast<double>(text.size())};
  inside(s, [&] {
    text_view input(text, std::size_t{1} << 20, Units);
    const auto count = [&] { return run(Job{}, input, {.sort = false}); };
    std::optional<decltype(count())> counts;
    result.total_ns = timed([&] { counts.emplace(count()); });
    key_digest digest;
    for (const auto& [key, number] : *counts) digest.add(number_of(key), sum_in(number));
    result.answer = digest.answer();
  });
  return result;
}

const registration counts_words{what, measure<words, text_units::words>};
const registration counts_real{real, measure<words, text_units::words>};
const registration counts_bigrams{bigrams, measure<pairs_of_words, text_units::lines>};
const registration lists_lines{index, measure<lines_by_word, text_units::lines>};

}  // namespace
}  // namespace bench::count_words
