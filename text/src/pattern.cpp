// SPDX-License-Identifier: Apache-2.0
#include <creek/text/pattern.hpp>

#include "missing_library.hpp"

#ifdef CREEK_HAS_RE2

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <creek/core/io/data_fault.hpp>

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

struct pattern::compiled {
  compiled(std::string_view expression, pattern_options chosen)
      : expression(re2::StringPiece(expression.data(), expression.size()), to_re2(chosen)) {}
  RE2 expression;
};

pattern::pattern(std::string_view expression, pattern_options chosen)
    : compiled_(std::make_shared<compiled>(expression, chosen)) {
  const RE2& made = compiled_->expression;
  if (made.ok()) return;
  throw usage_error(fmt::format("pattern '{}': {} at byte {}", expression, made.error(),
                                place_of_fault(expression, made)));
}

const std::string& pattern::expression() const noexcept {
  return compiled_->expression.pattern();
}

std::size_t pattern::groups() const noexcept {
  return static_cast<std::size_t>(compiled_->expression.NumberOfCapturingGroups());
}

bool pattern::find(std::string_view line, std::size_t at, std::span<std::string_view> found) const {
  constexpr std::size_t in_place = 17;
  std::array<re2::StringPiece, in_place> few;
  std::vector<re2::StringPiece> many;
  const std::size_t wanted = std::min(found.size(), groups() + 1);
  re2::StringPiece* pieces = few.data();
  if (wanted > in_place) {
    many.resize(wanted);
    pieces = many.data();
  }
  const re2::StringPiece text(line.data(), line.size());
  // The first piece is needed to tell an empty match.
  const int pieces_wanted = static_cast<int>(std::max<std::size_t>(wanted, 1));
  do {
    if (!compiled_->expression.Match(text, at, line.size(), RE2::UNANCHORED, pieces,
                                     pieces_wanted)) {
      return false;
    }
    if (!pieces[0].empty()) {
      for (std::size_t i = 0; i < wanted; ++i) found[i] = {pieces[i].data(), pieces[i].size()};
      return true;
    }
    at = next_character(line, static_cast<std::size_t>(pieces[0].data() - line.data()));
  } while (at <= line.size());
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
