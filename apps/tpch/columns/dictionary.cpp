// SPDX-License-Identifier: Apache-2.0
#include "dictionary.hpp"

#include <algorithm>
#include <creek/tasking/hash.hpp>

namespace creek::tpch {
namespace {

std::uint64_t place_of(std::string_view word) noexcept {
  // Flags of one letter are half of all categories; any spreading of them is good enough.
  if (word.size() == 1) return static_cast<unsigned char>(word[0]);
  return default_hash(word);
}

}  // namespace

std::uint32_t dictionary::number_of(std::string_view word) {
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t at = place_of(word) & mask;; at = (at + 1) & mask) {
    const std::uint32_t number = slots_[at];
    if (number == vacant) {
      const auto fresh = static_cast<std::uint32_t>(words_.size());
      slots_[at] = fresh;
      words_.push_back(word);
      if (words_.size() * 2 > slots_.size()) grow();
      return fresh;
    }
    if (words_[number] == word) return number;
  }
}

std::size_t dictionary::probes() const noexcept {
  const std::uint64_t mask = slots_.size() - 1;
  std::size_t sum = 0;
  for (std::uint64_t at = 0; at <= mask; ++at) {
    if (slots_[at] == vacant) continue;
    sum += ((at - place_of(words_[slots_[at]])) & mask) + 1;
  }
  return sum;
}

void dictionary::clear() {
  std::ranges::fill(slots_, vacant);
  words_.clear();
}

void dictionary::grow() {
  std::vector<std::uint32_t> larger(slots_.size() * 4, vacant);
  const std::uint64_t mask = larger.size() - 1;
  for (std::uint32_t number = 0; number < words_.size(); ++number) {
    std::uint64_t at = place_of(words_[number]) & mask;
    while (larger[at] != vacant) at = (at + 1) & mask;
    larger[at] = number;
  }
  slots_.swap(larger);
}

}  // namespace creek::tpch
