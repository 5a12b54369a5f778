// SPDX-License-Identifier: Apache-2.0
// The standard library's search on one thread; prints the text for peers of other languages.
#include "config.hpp"

namespace bench::match_lines {
namespace {

sample count(const settings& s) {
  const std::string text = text_of(s);
  counts lines{};
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] { count_in(text, lines); });
  result.answer = answer_of(lines);
  return result;
}

sample filter(const settings& s) {
  const std::string text = text_of(s);
  std::vector<std::string_view> found;
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] { filter_in(text, found); });
  std::uint64_t bytes = 0;
  for (const auto line : found) bytes += line.size();
  result.answer = answer_of(found.size(), bytes);
  return result;
}

const registration counts_lines{counting, count, print_text};
const registration filters_lines{filtering, filter, print_text};

}  // namespace
}  // namespace bench::match_lines
