// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/detail/csv_cuts.hpp>

#include <algorithm>

namespace creek::mapreduce::detail {

std::size_t csv_record_end(std::string_view text, std::size_t at, std::size_t limit,
                           bool quoted) noexcept {
  text = text.substr(0, limit);
  while (at < text.size()) {
    if (quoted) {
      at = text.find('"', at);
      if (at == text.npos) return text.npos;
      ++at;
    }
    const std::size_t end = text.find('\n', at);
    const std::size_t quote = text.substr(0, end).find('"', at);
    if (quote == text.npos) return end == text.npos ? text.npos : end + 1;
    at = quote + 1;
    quoted = true;
  }
  return text.npos;
}

std::size_t whole_csv_records(std::string_view text, bool quoted) noexcept {
  std::size_t whole = 0;
  for (std::size_t at = csv_record_end(text, 0, text.size(), quoted); at != text.npos;
       at = csv_record_end(text, at, text.size(), false)) {
    whole = at;
  }
  return whole;
}

bool csv_cuts::is_odd(std::string_view text, std::size_t i, std::size_t step) noexcept {
  const answer known = odd_[i].load(std::memory_order_relaxed);
  if (known != answer::unknown) return known == answer::yes;
  unsigned char odd = 0;
  for (const char c : text.substr(i * step, step)) {
    odd = static_cast<unsigned char>(odd ^ static_cast<unsigned char>(c == '"'));
  }
  odd_[i].store(odd != 0 ? answer::yes : answer::no, std::memory_order_relaxed);
  return odd != 0;
}

bool csv_cuts::begins_quoted(std::string_view text, std::size_t i, std::size_t step) noexcept {
  bool quoted = false;
  std::size_t at = i;
  for (; at != 0; --at) {
    const answer known = quoted_[at].load(std::memory_order_relaxed);
    if (known != answer::unknown) {
      quoted ^= known == answer::yes;
      break;
    }
    quoted ^= is_odd(text, at - 1, step);
  }
  quoted_[i].store(quoted ? answer::yes : answer::no, std::memory_order_relaxed);
  return quoted;
}

std::string_view csv_cuts::cut(std::string_view text, std::size_t i, std::size_t step) noexcept {
  const std::size_t from = std::min(i * step, text.size());
  const std::size_t to = std::min(from + step, text.size());
  // Its own piece first, so that workers at later pieces find it counted.
  const bool odd = is_odd(text, i, step);
  const bool quoted = begins_quoted(text, i, step);
  std::size_t begin = from;
  if (from != 0 && (quoted || text[from - 1] != '\n')) {  // inside an earlier record
    begin = csv_record_end(text, from, to, quoted);
    if (begin == text.npos || begin == to) return {};
  }
  std::size_t end = to;
  const bool quoted_at_end = quoted != odd;
  if (to != text.size() && (quoted_at_end || text[to - 1] != '\n')) {
    end = std::min(csv_record_end(text, to, text.size(), quoted_at_end), text.size());
  }
  return text.substr(begin, end - begin);
}

}  // namespace creek::mapreduce::detail
