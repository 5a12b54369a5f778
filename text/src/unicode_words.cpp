// SPDX-License-Identifier: Apache-2.0
#include <creek/text/unicode_words.hpp>

#include "missing_library.hpp"

#ifdef CREEK_HAS_UTF8PROC

#include <utf8proc.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "word_runs.hpp"

namespace creek::text {

bool has_unicode_words() noexcept {
  return true;
}

namespace detail {
namespace {

using byte = unsigned char;

// Kinds of bytes and code points, as bits.
constexpr unsigned separator = 0;
constexpr unsigned letter = 1;
constexpr unsigned digit = 2;
constexpr unsigned capital = 4;  // of ASCII, besides `letter`
constexpr unsigned mark = 8;
constexpr unsigned joiner = 16;  // in a word only between two letters
constexpr unsigned high = 32;    // a byte above ASCII
constexpr unsigned plain = letter | digit;

constexpr std::array<byte, 256> byte_kinds(bool digits) {
  std::array<byte, 256> kinds{};
  for (unsigned c = 'a'; c <= 'z'; ++c) kinds[c] = letter;
  for (unsigned c = 'A'; c <= 'Z'; ++c) kinds[c] = letter | capital;
  for (unsigned c = '0'; digits && c <= '9'; ++c) kinds[c] = digit;
  for (unsigned c = 128; c < 256; ++c) kinds[c] = high;
  kinds['\''] = joiner;
  return kinds;
}

constexpr auto kinds_with_digits = byte_kinds(true);
constexpr auto kinds_without_digits = byte_kinds(false);

unsigned kind_by_property(std::int32_t code) noexcept {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
      return letter;
    case UTF8PROC_CATEGORY_ND:
      return digit;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return mark;
    default:
      break;
  }
  const bool joins =
      code == 0xB7 || code == 0x2019 || code == 0xAD || code == 0x200C || code == 0x200D;
  return joins ? joiner : separator;
}

/// Returns the kinds of the code points that UTF-8 encodes in two bytes: Latin, Greek, Cyrillic,
/// Hebrew, Arabic and others.
const std::array<byte, 0x800>& short_kinds() noexcept {
  static const auto kinds = [] {
    std::array<byte, 0x800> made{};
    for (std::size_t code = 0; code < made.size(); ++code) {
      made[code] = static_cast<byte>(kind_by_property(static_cast<std::int32_t>(code)));
    }
    return made;
  }();
  return kinds;
}

/// A character above ASCII.
struct character {
  unsigned kind;
  std::size_t bytes;
};

/// Decodes the character that begins at `at`; a byte that is not UTF-8 is a separator.
character decode(const byte* at, const byte* end, bool digits) noexcept {
  utf8proc_int32_t code = 0;
  utf8proc_ssize_t bytes = 2;
  unsigned kind = separator;
  if (*at >= 0xC2 && *at < 0xE0 && end - at > 1 && (at[1] & 0xC0) == 0x80) {
    kind = short_kinds()[(*at & 0x1Fu) << 6 | (at[1] & 0x3Fu)];
  } else {
    bytes = utf8proc_iterate(at, end - at, &code);
    if (bytes <= 0) return {separator, 1};
    kind = kind_by_property(code);
  }
  return {kind == digit && !digits ? separator : kind, static_cast<std::size_t>(bytes)};
}

int mapping_of(const word_options& chosen) noexcept {
  int mapping = chosen.fold_case ? UTF8PROC_CASEFOLD : 0;
  if (chosen.normalize != normal_form::none) mapping |= UTF8PROC_STABLE | UTF8PROC_COMPOSE;
  if (chosen.normalize == normal_form::nfkc) mapping |= UTF8PROC_COMPAT;
  return mapping;
}

/// Returns whether a mapping leaves a code point as it is, whatever is beside it. May return false
/// where it does.
bool keeps(std::int32_t code, int mapping) noexcept {
  constexpr std::uint16_t none = 0xFFFF;
  const utf8proc_property_t* const facts = utf8proc_get_property(code);
  if ((mapping & UTF8PROC_CASEFOLD) != 0 && facts->casefold_seqindex != none) return false;
  if ((mapping & UTF8PROC_COMPOSE) == 0) return true;
  const bool jamo = code >= 0x1100 && code < 0x1200;  // composed without a table
  if (facts->combining_class != 0 || jamo) return false;
  if (facts->decomp_seqindex == none) return code < 0x300 || facts->comb_index == none;
  // Latin letters with accents are composed again.
  return code < 0x300 && facts->decomp_type == 0;
}

/// Returns whether a word has an iota subscript (U+0345), alone or as part of a character. It is
/// ordered behind all other marks, but the letter into which it is folded is not, so that such a
/// word must be decomposed before it is folded (Unicode Standard, section 3.13).
bool has_iota_subscript(const byte* at, const byte* end) noexcept {
  while (at != end) {
    utf8proc_int32_t code = 0;
    at += std::max<utf8proc_ssize_t>(utf8proc_iterate(at, end - at, &code), 1);
    if (code == 0x345 || (code >= 0x1F80 && code < 0x2000)) return true;
  }
  return false;
}

constexpr auto canonical_decomposition =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

/// Returns a size that utf8proc returned, or throws if it is an error.
utf8proc_ssize_t check(utf8proc_ssize_t made) {
  if (made < 0) throw error(EOVERFLOW, std::string("utf8proc: ") + utf8proc_errmsg(made));
  return made;
}

/// Composes decomposed code points in place, and returns how many are left. utf8proc 2.8 drops
/// U+11A7 behind a Hangul syllable; it is part of no composition, so what is on its sides is
/// composed alone.
std::size_t compose(std::span<std::int32_t> codes, utf8proc_option_t options) {
  constexpr std::int32_t dropped = 0x11A7;
  std::int32_t* to = codes.data();
  for (std::span<std::int32_t> rest = codes;;) {
    const auto size = static_cast<std::size_t>(std::ranges::find(rest, dropped) - rest.begin());
    const auto made = static_cast<std::size_t>(
        check(utf8proc_normalize_utf32(rest.data(), static_cast<utf8proc_ssize_t>(size), options)));
    std::memmove(to, rest.data(), made * sizeof(*to));
    to += made;
    if (size == rest.size()) return static_cast<std::size_t>(to - codes.data());
    *to++ = dropped;
    rest = rest.subspan(size + 1);
  }
}

struct free_bytes {
  void operator()(byte* bytes) const noexcept {
    std::free(bytes);  // utf8proc returns memory of malloc()
  }
};

}  // namespace

unicode_words::unicode_words(std::string_view text, const word_options& chosen)
    : end_(reinterpret_cast<const byte*>(text.data()) + text.size()),
      block_(end_ - text.size()),
      block_end_(block_),
      at_(block_),
      limit_(block_),
      chosen_(chosen),
      kinds_(chosen.digits ? kinds_with_digits.data() : kinds_without_digits.data()),
      mapping_(mapping_of(chosen)),
      runs_(std::make_unique<word_runs>()) {
  runs_->count = 0;
}

unicode_words::~unicode_words() = default;

std::span<const std::string_view> unicode_words::next() {
  count_ = 0;
  used_ = 0;
  while (count_ < max_batch) {
    if (at_ != limit_) {
      found word{};
      if (!find(word)) continue;
      if (add(word)) continue;
      at_ = word.begin;  // it begins the next batch
      break;
    }
    if (next_ == runs_->count) {
      if (!next_block()) break;
    } else if (!add_runs()) {
      break;
    }
  }
  return std::span(words_).first(count_);
}

/// Finds the runs of the next block. Returns false at the end of the text.
bool unicode_words::next_block() noexcept {
  block_ = block_end_;
  if (block_ == end_) return false;
  const std::size_t size =
      std::min<std::size_t>(static_cast<std::size_t>(end_ - block_), run_block);
  find_word_runs(block_, size, chosen_.digits, *runs_);
  next_ = 0;
  find_stop(0);
  block_end_ = block_ + size;
  if (block_end_ == end_ || runs_->count == 0 || runs_->at[runs_->count - 1] != size) return true;
  // The last run may go on: it begins the next block or, if it is longer than a block, is decoded.
  runs_->count -= 2;
  const std::size_t begin = runs_->at[runs_->count];
  if (begin != 0) {
    block_end_ = block_ + begin;
    return true;
  }
  while (block_end_ != end_ && kinds_[*block_end_] != separator) ++block_end_;
  at_ = block_;
  limit_ = block_end_;
  return true;
}

/// Adds words of ASCII until a run has other bytes. Returns false if there is no room for a word.
bool unicode_words::add_runs() {
  const word_runs& runs = *runs_;
  const char* const text = reinterpret_cast<const char*>(block_);
  while (next_ != runs.count && count_ < max_batch) {
    // Runs before the next byte that needs more than a look at the masks.
    std::size_t next = next_, count = count_;
    for (; next != runs.count && count < max_batch && runs.at[next + 1] <= stop_; next += 2) {
      const std::size_t begin = runs.at[next];
      words_[count++] = {text + begin, runs.at[next + 1] - begin};
    }
    next_ = next;
    count_ = count;
    if (next == runs.count || count == max_batch) return true;
    const std::size_t begin = runs.at[next], end = runs.at[next + 1];
    if (any_set(runs.special, begin, end)) {
      at_ = block_ + begin;
      limit_ = block_ + end;
    } else if (!add_folded_ascii({block_ + begin, block_ + end, 0})) {
      return false;
    }
    next_ += 2;
    find_stop(end);
    if (at_ != limit_) return true;
  }
  return true;
}

/// Finds the first byte of the block, from `begin` on, that is not ASCII, an apostrophe or, if the
/// case is folded, a capital.
void unicode_words::find_stop(std::size_t begin) noexcept {
  const word_runs& runs = *runs_;
  std::uint64_t wanted = ~std::uint64_t{0} << begin % 64;
  for (std::size_t i = begin / 64; i < runs.groups; ++i, wanted = ~std::uint64_t{0}) {
    const std::uint64_t stops = runs.special[i] | (chosen_.fold_case ? runs.capital[i] : 0);
    if ((stops & wanted) != 0) {
      stop_ = i * 64 + static_cast<std::size_t>(std::countr_zero(stops & wanted));
      return;
    }
  }
  stop_ = run_block;
}

/// Finds the next word of the run that is decoded. Returns false if there is none.
bool unicode_words::find(found& word) noexcept {
  const byte* at = at_;
  word.kinds = 0;
  for (;;) {
    while (at != limit_ && (kinds_[*at] & (plain | high)) == 0) ++at;
    if (at == limit_) break;
    if (kinds_[*at] != high) break;
    const character first = decode(at, limit_, chosen_.digits);
    if ((first.kind & plain) != 0) break;
    at += first.bytes;
  }
  word.begin = at;
  at_ = word.end = find_end(at, word.kinds);
  return word.begin != word.end;
}

/// Returns the end of the word that begins at `at`, and adds the kinds of its bytes to `kinds`.
const unicode_words::byte* unicode_words::find_end(const byte* at, unsigned& kinds) const noexcept {
  bool after_letter = false;  // whether the last character above ASCII was a letter or its mark
  for (const byte* const begin = at; at != limit_;) {
    const unsigned kind = kinds_[*at];
    if ((kind & plain) != 0) {
      kinds |= kind;
      ++at;
      continue;
    }
    if (kind == separator) break;
    const character here = kind == high ? decode(at, limit_, chosen_.digits) : character{joiner, 1};
    if (here.kind == separator) break;
    if (here.kind == joiner) {
      const bool letter_before =
          at != begin && (at[-1] < 128 ? (kinds_[at[-1]] & letter) != 0 : after_letter);
      const byte* const next = at + here.bytes;
      const unsigned kind_after = next == limit_          ? separator
                                  : kinds_[*next] == high ? decode(next, limit_, true).kind
                                                          : kinds_[*next];
      if (!letter_before || (kind_after & letter) == 0) break;
    } else if (here.kind == mark) {
      if (at[-1] < 128) after_letter = (kinds_[at[-1]] & letter) != 0;
    } else {
      after_letter = here.kind == letter;
    }
    kinds |= kind;
    at += here.bytes;
  }
  return at;
}

/// Returns false if there is no room for the word in this batch.
bool unicode_words::add(const found& word) {
  if ((word.kinds & high) == 0) {
    if (chosen_.fold_case && (word.kinds & capital) != 0) return add_folded_ascii(word);
  } else if (mapping_ != 0 && !is_unchanged(word)) {
    return add_mapped(word);
  }
  words_[count_++] = {reinterpret_cast<const char*>(word.begin),
                      static_cast<std::size_t>(word.end - word.begin)};
  return true;
}

bool unicode_words::add_folded_ascii(const found& word) {
  const auto size = static_cast<std::size_t>(word.end - word.begin);
  char* const to = room_for(size);
  if (to == nullptr) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const byte c = word.begin[i];
    to[i] = static_cast<char>((kinds_[c] & capital) != 0 ? c + ('a' - 'A') : c);
  }
  words_[count_++] = {to, size};
  return true;
}

bool unicode_words::is_unchanged(const found& word) const noexcept {
  for (const byte* at = word.begin; at != word.end;) {
    if (*at < 128) {
      if (chosen_.fold_case && (kinds_[*at] & capital) != 0) return false;
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t bytes = utf8proc_iterate(at, word.end - at, &code);
    if (bytes <= 0 || !keeps(code, mapping_)) return false;
    at += bytes;
  }
  return true;
}

bool unicode_words::add_mapped(const found& word) {
  const auto options = static_cast<utf8proc_option_t>(mapping_);
  const byte* text = word.begin;
  utf8proc_ssize_t size = word.end - word.begin;
  std::unique_ptr<byte, free_bytes> decomposed;
  if (chosen_.fold_case && chosen_.normalize != normal_form::none &&
      has_iota_subscript(word.begin, word.end)) {
    utf8proc_uint8_t* made = nullptr;
    size = check(utf8proc_map(text, size, &made, canonical_decomposition));
    decomposed.reset(made);
    text = made;
  }
  const auto decompose = [&] {
    return utf8proc_decompose(text, size, mapped_.data(),
                              static_cast<utf8proc_ssize_t>(mapped_.size()), options);
  };
  utf8proc_ssize_t codes = decompose();
  // Again and again only if the text is overwritten meanwhile.
  while (codes >= static_cast<utf8proc_ssize_t>(mapped_.size())) {  // reencode() needs one more
    mapped_.resize(2 * static_cast<std::size_t>(codes) + 1);
    codes = decompose();
  }
  const std::size_t composed =
      compose(std::span(mapped_).first(static_cast<std::size_t>(check(codes))), options);
  const auto as_they_are = static_cast<utf8proc_option_t>(mapping_ & ~UTF8PROC_COMPOSE);
  const auto bytes = static_cast<std::size_t>(check(
      utf8proc_reencode(mapped_.data(), static_cast<utf8proc_ssize_t>(composed), as_they_are)));
  if (bytes == 0) return true;
  char* const to = room_for(bytes);
  if (to == nullptr) return false;
  std::memcpy(to, mapped_.data(), bytes);
  words_[count_++] = {to, bytes};
  return true;
}

/// Returns room in `changed_`, which moves only while the batch is empty; null if there is none.
char* unicode_words::room_for(std::size_t bytes) {
  constexpr std::size_t first_bytes = 8192;
  if (changed_.size() - used_ < bytes) {
    if (count_ != 0) return nullptr;
    changed_.resize(std::max(first_bytes, bytes));
  }
  char* const room = changed_.data() + used_;
  used_ += bytes;
  return room;
}

}  // namespace detail
}  // namespace creek::text

#else

namespace creek::text {

bool has_unicode_words() noexcept {
  return false;
}

namespace detail {

struct word_runs {};

unicode_words::~unicode_words() = default;
unicode_words::unicode_words(std::string_view, const word_options&) {
  fail_without("Unicode words", "utf8proc", "libutf8proc-dev");
}
std::span<const std::string_view> unicode_words::next() {
  return {};
}

}  // namespace detail
}  // namespace creek::text

#endif
