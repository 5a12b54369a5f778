// SPDX-License-Identifier: Apache-2.0
// Matching lines are found by their matches; what lies between them is not looked at line by line
// unless it is wanted so.
#include <creek/mapreduce/line_filter.hpp>

#include <algorithm>
#include <creek/mapreduce/find_bytes.hpp>
#include <creek/mapreduce/string_match.hpp>
#include <cstring>

namespace creek::mapreduce {

namespace {

/// Behind the line that `at` is in.
const char* end_of_line(const char* at, const char* end) {
  const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found) + 1;
}

std::uint64_t lines_in(std::string_view text) {
  const auto ends = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

/// Takes the text of a piece from front to end, in whole lines.
class collector {
 public:
  explicit collector(filter_detail detail) : detail_(detail) {}

  void skip(std::string_view text) { piece_.seen += lines_in(text); }

  void take(std::string_view text) {
    if (detail_ == filter_detail::lines) {
      const char* const end = text.data() + text.size();
      for (const char* at = text.data(); at != end;) {
        const char* const next = end_of_line(at, end);
        piece_.lines.push_back({{at, static_cast<std::size_t>(next - at)}, piece_.seen++});
        ++piece_.found;
        at = next;
      }
      return;
    }
    const std::uint64_t lines = lines_in(text);
    piece_.seen += lines;
    piece_.found += lines;
    if (detail_ == filter_detail::counts || text.empty()) return;
    if (!piece_.lines.empty()) {
      std::string_view& before = piece_.lines.back().text;
      if (before.data() + before.size() == text.data()) {
        before = {before.data(), before.size() + text.size()};
        return;
      }
    }
    piece_.lines.push_back({text, 0});
  }

  [[nodiscard]] filtered_piece done(bool stable) {
    if (!stable && !piece_.lines.empty()) copy_lines();
    return std::move(piece_);
  }

 private:
  void copy_lines() {
    std::string all;
    for (const filtered_line& line : piece_.lines) all += line.text;
    piece_.copies.push_back(std::make_shared<const std::string>(std::move(all)));
    const char* at = piece_.copies.back()->data();
    for (filtered_line& line : piece_.lines) {
      line.text = {at, line.text.size()};
      at += line.text.size();
    }
  }

  filter_detail detail_;
  filtered_piece piece_;
};

}  // namespace

line_filter::line_filter(std::string pattern, settings chosen)
    : pattern_(std::move(pattern)), settings_(chosen) {
  check_pattern(pattern_);
}

filtered_piece line_filter::filter(const text_split& split) const {
  collector to(settings_.detail);
  const char* at = split.text.data();
  const char* const end = at + split.text.size();
  while (at != end) {
    const char* const match = find_bytes(at, end, pattern_);
    const std::string_view before(at, static_cast<std::size_t>(match - at));
    const char* const line = match == end ? end : at + (before.rfind('\n') + 1);
    const char* const next = match == end ? end : end_of_line(match, end);
    const std::string_view without(at, static_cast<std::size_t>(line - at));
    const std::string_view with(line, static_cast<std::size_t>(next - line));
    if (settings_.invert) {
      to.take(without);
      to.skip(with);
    } else {
      to.skip(without);
      to.take(with);
    }
    at = next;
  }
  return to.done(split.stable);
}

void line_filter::combine(filtered_piece& into, filtered_piece&& from) {
  for (const filtered_line& line : from.lines) {
    into.lines.push_back({line.text, into.seen + line.number});
  }
  into.seen += from.seen;
  into.found += from.found;
  into.copies.insert(into.copies.end(), from.copies.begin(), from.copies.end());
}

}  // namespace creek::mapreduce
