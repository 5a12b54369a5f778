// SPDX-License-Identifier: Apache-2.0
// Parser of the subset of Python's syntax that NumPy writes, plus what the format allows beyond:
// keys in any order, both kinds of quotes, blanks anywhere, the L after Python 2's integers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>
#include <vector>

#include "npy.hpp"

namespace creek::linalg::npy {
namespace {

class literal_parser {
 public:
  explicit literal_parser(std::string_view text) : rest_(text) {}

  literal parse() {
    expect('{');
    while (!accept('}')) {
      entry(string());
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) wrong("text after the dictionary");
    if (!(descr_ && order_ && shape_)) wrong("'descr', 'fortran_order' or 'shape' is missing");
    return std::move(result_);
  }

 private:
  [[noreturn]] static void wrong(const std::string& what) { throw std::invalid_argument(what); }

  void entry(std::string_view key) {
    expect(':');
    if (key == "descr") {
      once(descr_, key);
      skip_blanks();
      if (rest_.starts_with('[')) wrong("elements with several fields");
      result_.descr = string();
    } else if (key == "fortran_order") {
      once(order_, key);
      result_.fortran_order = boolean();
    } else if (key == "shape") {
      once(shape_, key);
      shape();
    } else {
      wrong("unknown key " + detail::quoted(key));
    }
  }

  static void once(bool& seen, std::string_view key) {
    if (std::exchange(seen, true)) wrong(detail::quoted(key) + " occurs twice");
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      result_.shape.push_back(integer());
      if (result_.shape.size() > 32) wrong("more than 32 dimensions");
      accept('L');
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::uint64_t integer() {
    skip_blanks();
    std::uint64_t value = 0;
    const auto [end, why] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (why == std::errc::result_out_of_range) wrong("a dimension of more than 64 bits");
    if (why != std::errc{}) wrong("no number at " + detail::quoted(rest_));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    wrong("neither True nor False at " + detail::quoted(rest_));
  }

  std::string string() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') wrong("no string at " + detail::quoted(rest_));
    const std::size_t end = rest_.find(quote, 1);
    if (end == rest_.npos) wrong("a string without an end");
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
  }
  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) wrong(fmt::format("no {} at {}", c, detail::quoted(rest_)));
  }

  std::string_view rest_;
  literal result_;
  bool descr_ = false;
  bool order_ = false;
  bool shape_ = false;
};

}  // namespace

literal parse_literal(std::string_view text) {
  return literal_parser(text).parse();
}

}  // namespace creek::linalg::npy
