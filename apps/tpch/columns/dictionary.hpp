// SPDX-License-Identifier: Apache-2.0
// Numbers words in the order of their first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace creek::tpch {

/// A hash table with open addressing from words to 0, 1, 2, ... Keeps views: the text must outlive
/// the dictionary. Used by one thread.
class dictionary {
 public:
  /// Returns the number of the word, a new one if it is not known yet. Amortised constant.
  std::uint32_t number_of(std::string_view word);
  /// Notes that the text of a word has moved.
  void moved(std::uint32_t number, std::string_view to) { words_[number] = to; }
  [[nodiscard]] const std::vector<std::string_view>& words() const noexcept { return words_; }
  void clear();
  /// Returns the number of slots that looking up every word once reads, usually at most 1.5 per
  /// word. For tests.
  [[nodiscard]] std::size_t probes() const noexcept;

 private:
  void grow();

  static constexpr std::uint32_t vacant = ~std::uint32_t{0};
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64, vacant);  // a power of two
  std::vector<std::string_view> words_;
};

}  // namespace creek::tpch
