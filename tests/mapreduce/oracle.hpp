// SPDX-License-Identifier: Apache-2.0
// A sequential word count that shares no code with the tested one, and texts to try it on.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace creek::mapreduce::oracle {

using word_map = std::map<std::string, std::uint64_t>;

inline word_map count_by_map(std::string_view text) {
  word_map counts;
  std::string word;
  for (const char c : text) {
    if (std::strchr(" \t\n\v\f\r", c) == nullptr || c == '\0') {
      word += c;
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
  }
  if (!word.empty()) ++counts[word];
  return counts;
}

/// Returns words of all lengths with any bytes in them, separated by runs of all six separators.
inline std::string random_text(std::uint64_t seed, std::size_t bytes, std::size_t vocabulary) {
  std::mt19937_64 random(seed);
  std::vector<std::string> words(vocabulary);
  for (std::string& word : words) {
    const std::size_t length = random() % 10 == 0 ? 1 + random() % 700 : 1 + random() % 20;
    while (word.size() < length) {
      const char c = static_cast<char>(random() % 3 == 0 ? random() % 256 : 'a' + random() % 2);
      if (c == '\0' || std::strchr(" \t\n\v\f\r", c) == nullptr) word += c;
    }
  }
  std::string text;
  while (text.size() < bytes) {
    // Squaring makes some words frequent.
    const double u = static_cast<double>(random() % 1000003) / 1000003;
    text += words[static_cast<std::size_t>(u * u * static_cast<double>(vocabulary))];
    do text += " \t\n\v\f\r"[random() % 6];
    while (random() % 8 == 0);
  }
  return text;
}

template <class Result>
word_map as_map(const Result& counted) {
  word_map counts;
  for (const auto& [word, count] : counted) counts[std::string(word)] += count;
  return counts;
}

}  // namespace creek::mapreduce::oracle
