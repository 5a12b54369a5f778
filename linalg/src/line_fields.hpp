// SPDX-License-Identifier: Apache-2.0
// The words and numbers of one line of text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "byte_source.hpp"

namespace creek::linalg::detail {

/// Takes a line apart from its start; errors name the line that `in` gave last.
class line_fields {
 public:
  line_fields(const byte_source& in, std::string_view line) noexcept
      : in_(&in), at_(line.data()), end_(line.data() + line.size()) {
    skip_blanks();
  }

  bool empty() const noexcept { return at_ == end_; }

  /// The next word; empty at the end.
  std::string_view word() noexcept {
    const std::string_view found = next();
    at_ += found.size();
    skip_blanks();
    return found;
  }

  /// A count or an index: digits only.
  std::uint64_t count() {
    std::uint64_t value = 0;
    const auto [end, why] = std::from_chars(at_, end_, value);
    if (why == std::errc::result_out_of_range) wrong("has more than 64 bits");
    if (why != std::errc{} || !is_boundary(end)) wrong("is no whole number from 0");
    at_ = end;
    skip_blanks();
    return value;
  }

  /// A number, also inf and nan. One that is too small for Real becomes zero, one that fits into a
  /// double but not into Real infinite, as conversion makes them.
  template <class Real>
  Real number() {
    const char* const from = at_ != end_ && *at_ == '+' ? at_ + 1 : at_;
    Real value = 0;
    const auto [end, why] = std::from_chars(from, end_, value);
    const bool two_signs = from != at_ && from != end_ && *from == '-';
    if (why == std::errc::invalid_argument || two_signs || !is_boundary(end)) wrong("is no number");
    if (why != std::errc{}) value = static_cast<Real>(out_of_range(std::string_view(from, end)));
    at_ = end;
    skip_blanks();
    return value;
  }

  /// A number without point or exponent.
  template <class Real>
  Real whole_number() {
    const std::string_view shown = next();
    if (shown.find_first_not_of("+-0123456789") != shown.npos) wrong("is no whole number");
    return number<Real>();
  }

  /// Makes sure that the line holds no more.
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
