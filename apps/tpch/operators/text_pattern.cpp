// SPDX-License-Identifier: Apache-2.0
// The rows of a block are adjacent in the column's bytes, so a word is searched in all of them at
// once. A match that extends into the next row does not count.
#include "text_pattern.hpp"

#include <algorithm>
#include <creek/mapreduce/inputs/find_bytes.hpp>

namespace creek::tpch {
namespace {

/// Returns whether `words` occur in this order, with `back` at the end.
bool matches_from(std::string_view text, const std::string* words, const std::string* last,
                  std::string_view back) noexcept {
  for (; words != last; ++words) {
    const auto at = text.find(*words);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + words->size());
  }
  return text.ends_with(back);
}

/// Finds the rows of the block that match a pattern that begins with % and a word. Bounds the begin
/// of each row by what is known already, since a file may change while it is read.
void search_block(const column& texts, const row_block& block, const text_pattern& pattern,
                  std::uint64_t* found) noexcept {
  const std::string& word = pattern.inner.front();
  const packed begins = texts.values;  // a copy stays in registers
  const auto begin_of = [&](std::size_t row) {
    return static_cast<std::size_t>(begins.value(row));
  };
  const char* const text = texts.bytes.data();
  const std::size_t last = block.first + block.rows;
  std::size_t row = block.first;
  std::size_t at = std::min(begin_of(row), texts.bytes.size());
  const std::size_t most = std::min(block.rows * texts.schema->longest, texts.bytes.size() - at);
  const std::size_t end = std::clamp(begin_of(last), at, at + most);
  for (;;) {
    at = static_cast<std::size_t>(mapreduce::find_bytes(text + at, text + end, word) - text);
    if (at == end) return;
    std::size_t row_end = begin_of(row + 1);
    while (row_end <= at && row + 1 < last) row_end = begin_of(++row + 1);
    row_end = std::clamp(row_end, at, end);
    const std::size_t after = at + word.size();
    if (after > row_end) {  // extends into the next row, where another may begin
      ++at;
      continue;
    }
    if (matches_from({text + after, row_end - after}, pattern.inner.data() + 1,
                     pattern.inner.data() + pattern.inner.size(), pattern.back)) {
      const std::size_t offset = row - block.first;
      found[offset / 64] |= std::uint64_t{1} << offset % 64;
    }
    at = row_end;  // if the rest fails here it fails later too
    if (at == end) return;
  }
}

}  // namespace

bool text_pattern::matches(std::string_view text) const noexcept {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return matches_from(text, inner.data(), inner.data() + inner.size(), back);
}

void keep_like(const column& texts, const row_block& block, const text_pattern& pattern,
               bool wanted, row_mask& mask) noexcept {
  constexpr std::size_t many = 8;  // one row in eight
  const bool one_search = pattern.front.empty() && !pattern.inner.empty() &&
                          !pattern.inner.front().empty() && mask.count(block) * many >= block.rows;
  if (one_search) {
    std::uint64_t found[block_rows / 64] = {};
    search_block(texts, block, pattern, found);
    for (std::size_t w = 0; w < block.words(); ++w) {
      mask.words[w] &= wanted ? found[w] : ~found[w];
    }
  } else {
    keep_if(block, mask,
            [&](std::size_t row) { return pattern.matches(texts.text(row)) == wanted; });
  }
}

}  // namespace creek::tpch
