// SPDX-License-Identifier: Apache-2.0
// Words and numbers of one line of text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "byte_source.hpp"

namespace creek::linalg::detail {

/// Parses a line from its start; errors name the line that `in` returned last.
class line_fields {
 public:
  line_fields(const byte_source& in, std::string_view line) noexcept
      : in_(&in), at_(line.data()), end_(line.data() + line.size()) {
    skip_blanks();
  }

  bool empty() const noexcept { return at_ == end_; }

  /// Returns the next word; empty at the end of the line.
  std::string_view word() noexcept {
    const std::string_view found = next();
    at_ += found.size();
    skip_blanks();
    return found;
  }

  /// Returns a count or an index: digits only.
  std::uint64_t count() {
    std::uint64_t value = 0;
    const auto [end, why] = std::from_chars(at_, end_, value);
    if (why == std::errc::result_out_of_range) wrong("has more than 64 bits");
    if (why != std::errc{} || !is_boundary(end)) wrong("is not a whole number from 0");
    at_ = end;
    skip_blanks();
    return value;
  }

  /// Returns a number, also inf and nan. As in a conversion, a number too small for Real becomes
  /// zero, and one that fits a double but not Real becomes infinite.
  template <class Real>
  Real number() {
    const char* const from = at_ != end_ && *at_ == '+' ? at_ + 1 : at_;
    Real value = 0;
    const auto [end, why] = std::from_chars(from, end_, value);
    const bool two_signs = from != at_ && from != end_ && *from == '-';
    if (why == std::errc::invalid_argument || two_signs || !is_boundary(end))
      wrong("is not a number");
    if (why != std::errc{}) value = static_cast<Real>(out_of_range(std::string_view(from, end)));
    at_ = end;
    skip_blanks();
    return value;
  }

  /// Returns a number without point or exponent.
  template <class Real>
  Real whole_number() {
    const std::string_view shown = next();
    if (shown.find_first_not_of("+-0123456789") != shown.npos) wrong("is not a whole number");
    return number<Real>();
  }

  /// Throws unless the rest of the line is blank.
  void end() const {
    if (!empty()) wrong("follows what belongs on this line");
  }

 private:
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }
  bool is_boundary(const char* at) const noexcept { return at == end_ || is_blank(*at); }
  void skip_blanks() noexcept {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  std::string_view next() const noexcept {
    const char* end = at_;
    while (!is_boundary(end)) ++end;
    return {at_, static_cast<std::size_t>(end - at_)};
  }
  [[noreturn]] void wrong(const char* what) const;
  double out_of_range(std::string_view text) const;

  const byte_source* in_;
  const char* at_;
  const char* end_;
};

}  // namespace creek::linalg::detail
