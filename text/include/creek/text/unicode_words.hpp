// SPDX-License-Identifier: Apache-2.0
// Words of a text in UTF-8 by the Unicode properties of its characters, with case folding and
// normalisation by utf8proc.
//
// A word begins with a letter or a digit and goes on with letters, digits and combining marks. An
// apostrophe (' or U+2019), a middle dot (U+00B7), a soft hyphen or a zero-width joiner or
// non-joiner between two letters belongs to the word. All other characters separate words, as does
// each byte that is not UTF-8. Scripts without spaces, such as Han and Thai, are not segmented.
// ASCII white space always separates words, so text may be cut there.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace creek::text {

/// Unicode normalisation forms.
enum class normal_form : std::uint8_t { none, nfc, nfkc };

struct word_options {
  /// Folds the case, as in "Stra\u00DFe" to "strasse" (full folding of all languages but Turkic).
  bool fold_case = false;
  /// Normalises each word, so that one character in several encodings is one. With fold_case, what
  /// a compatibility character stands for is folded too.
  normal_form normalize = normal_form::none;
  /// Whether decimal digits are part of words; otherwise they separate words.
  bool digits = true;
};

/// Returns whether this library was built with utf8proc.
[[nodiscard]] bool has_unicode_words() noexcept;

namespace detail {

struct word_runs;

/// Finds the words of a text in batches. Runs of ASCII letters and digits are found by vector code
/// and are words as they are; only runs with other bytes are decoded.
class unicode_words {
 public:
  /// Throws usage_error if this library was built without utf8proc.
  unicode_words(std::string_view text, const word_options& chosen);
  unicode_words(const unicode_words&) = delete;
  unicode_words& operator=(const unicode_words&) = delete;
  ~unicode_words();

  /// Returns the next words, valid until the next call; none at the end.
  [[nodiscard]] std::span<const std::string_view> next();

 private:
  using byte = unsigned char;

  struct found {
    const byte* begin;
    const byte* end;
    unsigned kinds;  // of its bytes
  };

  [[nodiscard]] bool next_block() noexcept;
  [[nodiscard]] bool add_runs();
  void find_stop(std::size_t begin) noexcept;
  [[nodiscard]] bool find(found& word) noexcept;
  [[nodiscard]] const byte* find_end(const byte* at, unsigned& kinds) const noexcept;
  [[nodiscard]] bool add(const found& word);
  [[nodiscard]] bool add_folded_ascii(const found& word);
  [[nodiscard]] bool add_mapped(const found& word);
  [[nodiscard]] bool is_unchanged(const found& word) const noexcept;
  [[nodiscard]] char* room_for(std::size_t bytes);

  static constexpr std::size_t max_batch = 256;

  const byte* end_;
  const byte* block_;  // the bytes in which `runs_` are
  const byte* block_end_;
  std::size_t next_ = 0;  // position in `runs_`
  std::size_t stop_ = 0;  // position of a byte in the block, or behind all of its runs
  const byte* at_;        // next byte of a run that is decoded, and its end
  const byte* limit_;
  word_options chosen_;
  const byte* kinds_;  // a table for all bytes
  int mapping_;        // options of utf8proc
  std::size_t count_ = 0;
  std::size_t used_ = 0;  // of changed_
  std::array<std::string_view, max_batch> words_;
  std::vector<char> changed_;         // bytes of the words that are no views into the text
  std::vector<std::int32_t> mapped_;  // code points of one word
  std::unique_ptr<word_runs> runs_;
};

}  // namespace detail

/// Calls `f(std::string_view word)` for every word of `text` in order. Words that folding and
/// normalisation leave as they are are views into the text; others are valid until `f` returns.
/// Throws usage_error if creek was built without utf8proc.
template <class F>
void for_each_unicode_word(std::string_view text, F&& f, const word_options& chosen = {}) {
  charge(work::byte_scanned, static_cast<std::int64_t>(text.size()));
  detail::unicode_words words(text, chosen);
  for (auto batch = words.next(); !batch.empty(); batch = words.next()) {
    for (const std::string_view word : batch) f(word);
  }
}

}  // namespace creek::text
