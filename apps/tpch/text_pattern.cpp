// SPDX-License-Identifier: Apache-2.0
// The rows of a block lie one after the other in the column's bytes, so a word is looked for in all
// of them at once: wherever its first, its middle and its last byte stand at their distances. A
// match that reaches into the next row is none.
#include "text_pattern.hpp"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "text_pattern.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::tpch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first place in [at, end) where `word`, of 1 to read_slack / 2 bytes, stands; `end` if there
/// is none. The word may reach beyond the end; so may reads, by up to read_slack bytes.
std::size_t find_word(const char* text, std::size_t at, std::size_t end, const char* word,
                      std::size_t size) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d), middle = size / 2;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text);
  const auto byte = [&](std::size_t i)
                        HWY_ATTR { return hn::Set(d, static_cast<std::uint8_t>(word[i])); };
  const auto a = byte(0), b = byte(middle), c = byte(size - 1);
  for (; at < end; at += lanes) {
    const auto first = hn::Eq(hn::LoadU(d, bytes + at), a);
    const auto both = hn::And(first, hn::Eq(hn::LoadU(d, bytes + at + size - 1), c));
    const auto all = hn::And(both, hn::Eq(hn::LoadU(d, bytes + at + middle), b));
    if (HWY_LIKELY(hn::AllFalse(d, all))) continue;
    std::uint8_t stored[8] = {};
    hn::StoreMaskBits(d, all, stored);
    std::uint64_t bits;
    std::memcpy(&bits, stored, sizeof bits);
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t found = at + static_cast<std::size_t>(std::countr_zero(bits));
      if (found >= end) return end;
      if (std::memcmp(text + found, word, size) == 0) return found;
    }
  }
  return end;
}

}  // namespace creek::tpch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::tpch {

HWY_EXPORT(find_word);

namespace {

/// `words` in this order, and `back` at the end.
bool matches_from(std::string_view text, const std::string* words, const std::string* last,
                  std::string_view back) noexcept {
  for (; words != last; ++words) {
    const auto at = text.find(*words);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + words->size());
  }
  return text.ends_with(back);
}

/// The rows of the block that match: `texts` has no row longer than read_slack / 2, and the pattern
/// begins with % and a word.
void search_block(const column& texts, const row_block& block, const text_pattern& pattern,
                  std::uint64_t* found) noexcept {
  const std::string& word = pattern.inner.front();
  const auto begin_of = [&](std::size_t row) {
    return static_cast<std::size_t>(texts.values.value(row));
  };
  const char* const text = texts.bytes.data();
  const std::size_t last = block.first + block.rows, end = begin_of(last);
  std::size_t row = block.first;
  for (std::size_t at = begin_of(row);;) {
    at = HWY_DYNAMIC_DISPATCH(find_word)(text, at, end, word.data(), word.size());
    if (at == end) return;
    while (begin_of(row + 1) <= at) ++row;
    const std::size_t row_end = begin_of(row + 1), after = at + word.size();
    if (after > row_end) {  // into the next row, where another may begin
      ++at;
      continue;
    }
    if (matches_from({text + after, row_end - after}, pattern.inner.data() + 1,
                     pattern.inner.data() + pattern.inner.size(), pattern.back)) {
      const std::size_t offset = row - block.first;
      found[offset / 64] |= std::uint64_t{1} << offset % 64;
    }
    at = row_end;  // if the rest fails after this word it fails after a later one
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
  constexpr std::size_t many = 8;  // one row in so many
  const bool one_search =
      pattern.front.empty() && !pattern.inner.empty() && !pattern.inner.front().empty() &&
      pattern.inner.front().size() <= read_slack / 2 && mask.count(block) * many >= block.rows;
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
#endif
