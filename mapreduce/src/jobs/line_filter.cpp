// SPDX-License-Identifier: Apache-2.0
// Matching lines are found by their matches; the text between matches is not split into lines
// unless the result needs it.
#include <creek/mapreduce/jobs/line_filter.hpp>

#include <creek/core/charge.hpp>
#include <creek/mapreduce/inputs/find_bytes.hpp>
#include <creek/mapreduce/jobs/string_match.hpp>
#include <cstring>

namespace creek::mapreduce {

namespace {

/// Returns the position after the line that contains `at`.
const char* end_of_line(const char* at, const char* end) {
  const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found) + 1;
}

std::uint64_t lines_in(std::string_view text) {
  charge(work::byte_scanned, static_cast<std::int64_t>(text.size()));
  return count_byte(text, '\n') + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

/// Makes the lines views of a copy owned by the piece.
void copy_lines(filtered_piece& piece) {
  std::string all;
  for (const filtered_line& line : piece.lines) all += line.text;
  piece.copies.push_back(std::make_shared<const std::string>(std::move(all)));
  const char* at = piece.copies.back()->data();
  for (filtered_line& line : piece.lines) {
    line.text = {at, line.text.size()};
    at += line.text.size();
  }
}

/// Consumes the text of a piece sequentially, in whole lines.
class collector {
 public:
  explicit collector(filter_detail detail) : detail_(detail) {}

  void skip(std::string_view text) { piece_.seen += lines_in(text); }

  void take(std::string_view text) {
    if (detail_ == filter_detail::lines) {
      const char* const end = text.data() + text.size();
      for (const char* at = text.data(); at != end;) {
        const char* const next = end_of_line(at, end);
        charge(work::byte_scanned, next - at);
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
    if (!stable && !piece_.lines.empty()) copy_lines(piece_);
    return std::move(piece_);
  }

 private:
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

namespace creek {

using mapreduce::filtered_line;
using mapreduce::filtered_piece;

void wire<filtered_piece>::put(std::vector<std::byte>& to, const filtered_piece& piece) {
  wire<std::uint64_t>::put(to, piece.seen);
  wire<std::uint64_t>::put(to, piece.found);
  wire<std::uint64_t>::put(to, piece.lines.size());
  for (const filtered_line& line : piece.lines) {
    wire<std::string_view>::put(to, line.text);
    wire<std::uint64_t>::put(to, line.number);
  }
}

filtered_piece wire<filtered_piece>::get(const std::byte*& at) {
  filtered_piece piece;
  piece.seen = wire<std::uint64_t>::get(at);
  piece.found = wire<std::uint64_t>::get(at);
  piece.lines.resize(wire<std::uint64_t>::get(at));
  for (filtered_line& line : piece.lines) {
    line.text = wire<std::string_view>::get(at);
    line.number = wire<std::uint64_t>::get(at);
  }
  if (!piece.lines.empty()) mapreduce::copy_lines(piece);
  return piece;
}

}  // namespace creek
