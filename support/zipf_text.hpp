// SPDX-License-Identifier: Apache-2.0
// A deterministic text to count: words drawn from a vocabulary by Zipf's law, frequent words short
// as in natural language (about 5 letters per word of the text, 9 per word of the vocabulary),
// lines of 12 words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace creek_bench {

/// SplitMix64 [Steele 2014]: the same numbers everywhere, unlike <random>'s
/// distributions.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// Returns a number uniform in [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Returns `count` different words, the most frequent first.
inline std::vector<std::string> zipf_vocabulary(std::size_t count, std::uint64_t seed) {
  random_bits random(seed);
  std::unordered_set<std::string> seen;
  std::vector<std::string> words;
  words.reserve(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    const double mean = 2.0 + 0.36 * std::log2(static_cast<double>(rank) + 1.0);
    std::string word;
    do {
      const double spread = (random.unit() + random.unit() + random.unit() - 1.5) * 4.0;
      const auto letters = static_cast<std::size_t>(std::clamp(mean + spread, 1.0, 30.0));
      word.clear();
      for (std::size_t i = 0; i < letters; ++i) word += static_cast<char>('a' + random() % 26);
      for (std::uint64_t more = 0; seen.contains(word) && more < 3; ++more) {
        word += static_cast<char>('a' + random() % 26);
      }
    } while (!seen.insert(word).second);
    words.push_back(std::move(word));
  }
  return words;
}

/// Returns at least `bytes` bytes of text over a vocabulary of `words` words with exponent 1.
inline std::string zipf_text(std::size_t bytes, std::size_t words, std::uint64_t seed = 1) {
  const std::vector<std::string> vocabulary = zipf_vocabulary(words, seed);
  std::vector<double> cumulative(words);
  double sum = 0;
  for (std::size_t i = 0; i < words; ++i) {
    sum += 1.0 / static_cast<double>(i + 1);
    cumulative[i] = sum;
  }
  // A guide table turns the binary search into a short walk [Chen 1974].
  std::vector<std::uint32_t> guide(words + 1);
  for (std::size_t i = 0, at = 0; i <= words; ++i) {
    const double level = sum * static_cast<double>(i) / static_cast<double>(words);
    while (at + 1 < words && cumulative[at] < level) ++at;
    guide[i] = static_cast<std::uint32_t>(at);
  }
  random_bits random(seed + 1);
  std::string text;
  text.reserve(bytes + 64);
  for (std::size_t i = 1; text.size() < bytes; ++i) {
    const double u = random.unit();
    std::size_t rank = guide[static_cast<std::size_t>(u * static_cast<double>(words))];
    while (rank + 1 < words && cumulative[rank] < u * sum) ++rank;
    text += vocabulary[rank];
    text += i % 12 == 0 ? '\n' : ' ';
  }
  return text;
}

}  // namespace creek_bench
