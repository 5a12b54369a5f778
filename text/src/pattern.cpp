// SPDX-License-Identifier: Apache-2.0
#include <creek/text/pattern.hpp>

#include "missing_library.hpp"

#ifdef CREEK_HAS_RE2

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

namespace creek::text {

bool has_patterns() noexcept {
  return true;
}

namespace {

RE2::Options to_re2(pattern_options chosen) {
  RE2::Options options;
  options.set_case_sensitive(!chosen.ignore_case);
  options.set_encoding(chosen.bytes ? RE2::Options::EncodingLatin1 : RE2::Options::EncodingUTF8);
  options.set_log_errors(false);
  return options;
}

/// Returns whether an expression may have to be matched with each line alone: it asks for the begin
/// or the end of the whole text or for any byte, or sets flags. May return true where it does not.
bool needs_lines(std::string_view expression) {
  for (const char* const part : {"\\A", "\\z", "\\C"}) {
    if (expression.find(part) != expression.npos) return true;
  }
  for (std::size_t at = 0; (at = expression.find("(?", at)) != expression.npos; at += 2) {
    const std::string_view rest = expression.substr(at + 2);
    if (!rest.starts_with(':') && !rest.starts_with("P<")) return true;
  }
  return false;
}

/// Returns the position of the fault in an expression that RE2 refuses.
std::size_t place_of_fault(std::string_view expression, const RE2& refused) {
  if (refused.error_code() == RE2::ErrorMissingParen) return expression.size();
  const std::size_t at = expression.find(refused.error_arg());
  return at == expression.npos ? 0 : at;
}

/// Returns the position behind the character at `at`, or behind one byte of invalid UTF-8.
std::size_t next_character(std::string_view line, std::size_t at) {
  const auto continues = [&](std::size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  for (++at; continues(at);) ++at;
  return at;
}

}  // namespace

/// RE2 searches a text of many lines as fast as one line if ^ and $ match at each line end (flag m)
/// and nothing matches \n (never_nl).
struct pattern::compiled {
  compiled(std::string_view given, pattern_options chosen)
      : text(given), bytes(chosen.bytes), by_line(needs_lines(given)), line(text, to_re2(chosen)) {
    if (by_line || !line.ok()) return;
    RE2::Options options = to_re2(chosen);
    options.set_never_nl(true);
    lines.emplace("(?m:" + text + ")", options);
  }

  /// Finds a match that begins at or after `at`; it may be empty.
  bool match(std::string_view in, std::size_t at, re2::StringPiece* pieces, int count) const {
    if (lines) return match(*lines, in, at, pieces, count);
    for (; at <= in.size(); ++at) {
      const std::size_t begin = at == 0 ? 0 : in.rfind('\n', at - 1) + 1;  // npos + 1 is 0
      const std::size_t end = std::min(in.find('\n', at), in.size());
      if (match(line, in.substr(begin, end - begin), at - begin, pieces, count)) return true;
      at = end;
    }
    return false;
  }
  static bool match(const RE2& by, std::string_view in, std::size_t at, re2::StringPiece* pieces,
                    int count) {
    return by.Match({in.data(), in.size()}, at, in.size(), RE2::UNANCHORED, pieces, count);
  }

  std::string text;
  bool bytes;
  bool by_line;
  RE2 line;                  // as it was given
  std::optional<RE2> lines;  // for a text of many lines
};

pattern::pattern(std::string_view expression, pattern_options chosen)
    : compiled_(std::make_shared<compiled>(expression, chosen)) {
  const RE2& made = compiled_->line;
  if (made.ok()) return;
  throw usage_error(fmt::format("pattern '{}': {} at byte {}", expression, made.error(),
                                place_of_fault(expression, made)));
}

const std::string& pattern::expression() const noexcept {
  return compiled_->text;
}

std::size_t pattern::groups() const noexcept {
  return static_cast<std::size_t>(compiled_->line.NumberOfCapturingGroups());
}

bool pattern::find(std::string_view text, std::size_t at, std::span<std::string_view> found) const {
  constexpr std::size_t in_place = 17;
  std::array<re2::StringPiece, in_place> few;
  std::vector<re2::StringPiece> many;
  const std::size_t wanted = std::min(found.size(), groups() + 1);
  re2::StringPiece* pieces = few.data();
  if (wanted > in_place) {
    many.resize(wanted);
    pieces = many.data();
  }
  // The first piece is needed to tell an empty match.
  const int count = static_cast<int>(std::max<std::size_t>(wanted, 1));
  while (at <= text.size() && compiled_->match(text, at, pieces, count)) {
    if (!pieces[0].empty()) {
      for (std::size_t i = 0; i < wanted; ++i) found[i] = {pieces[i].data(), pieces[i].size()};
      return true;
    }
    at = static_cast<std::size_t>(pieces[0].data() - text.data());
    at = compiled_->bytes ? at + 1 : next_character(text, at);
  }
  return false;
}

}  // namespace creek::text

#else

namespace creek::text {

bool has_patterns() noexcept {
  return false;
}

struct pattern::compiled {
  std::string expression;
};

pattern::pattern(std::string_view, pattern_options) {
  detail::fail_without("Regular expressions", "RE2", "libre2-dev");
}
const std::string& pattern::expression() const noexcept {
  return compiled_->expression;
}
std::size_t pattern::groups() const noexcept {
  return 0;
}
bool pattern::find(std::string_view, std::size_t, std::span<std::string_view>) const {
  return false;
}

}  // namespace creek::text

#endif
