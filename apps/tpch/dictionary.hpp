// SPDX-License-Identifier: Apache-2.0
// Numbers for words in the order in which they first come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace creek::tpch {

/// A hash table with open addressing from words to 0, 1, 2, ... Keeps views: the text must outlive
/// it. One thread.
class dictionary {
 public:
  /// Number of the word, a new one if it was not there. Amortised constant.
  std::uint32_t number_of(std::string_view word);
  /// The text of a word has a new place.
  void moved(std::uint32_t number, std::string_view to) { words_[number] = to; }
  [[nodiscard]] const std::vector<std::string_view>& words() const noexcept { return words_; }
  void clear();
  /// Returns the number of slots that looking up every word once looks at, 1.5 per word or less as
  /// a rule. For tests.
  [[nodiscard]] std::size_t probes() const noexcept;

 private:
  void grow();

  static constexpr std::uint32_t vacant = ~std::uint32_t{0};
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64, vacant);  // a power of two
  std::vector<std::string_view> words_;
};

}  // namespace creek::tpch
