// SPDX-License-Identifier: Apache-2.0
// LIKE on columns of text and on the words of a dictionary. Text between the % of a pattern is
// literal: no other character has a meaning, so a parameter of a query needs no escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "key_index.hpp"
#include "row_mask.hpp"
#include "tpch/columns/table.hpp"

namespace creek::tpch {

/// Text that begins with `front`, ends with `back` and has the words of `inner` between these, in
/// this order and without overlap: `front%inner[0]%inner[1]%back`. Each may be empty.
struct text_pattern {
  std::string front{};
  std::vector<std::string> inner{};
  std::string back{};

  [[nodiscard]] bool matches(std::string_view text) const noexcept;
};

/// Keeps the rows of a text column that match, or with `wanted` false those that do not. While many
/// rows are left and the pattern begins with %, the text of the block is searched as a whole.
void keep_like(const column& texts, const row_block& block, const text_pattern& pattern,
               bool wanted, row_mask& mask) noexcept;

/// Returns the codes of a category column's words for which test(word) holds, for keep_members.
template <class Test>
[[nodiscard]] key_index codes_where(const column& category, Test&& test) {
  std::vector<std::int64_t> codes;
  for (std::size_t code = 0; code < category.words(); ++code) {
    if (test(category.word(code))) codes.push_back(static_cast<std::int64_t>(code));
  }
  return key_index(codes);
}

/// Returns the codes of the words that match, or with `wanted` false of those that do not.
[[nodiscard]] inline key_index codes_like(const column& category, const text_pattern& pattern,
                                          bool wanted = true) {
  return codes_where(category,
                     [&](std::string_view word) { return pattern.matches(word) == wanted; });
}

}  // namespace creek::tpch
