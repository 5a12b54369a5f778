// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/word_table/word_directory.hpp>

#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "word_hash.hpp"

namespace creek::mapreduce::detail {
namespace {

constexpr std::uint32_t full_percent = 85;               // above, paths to displaced words get long
constexpr std::uint32_t growths = 3;                     // doublings of a bucket's first segment
constexpr std::size_t largest_segment = 64u << growths;  // lines
constexpr std::uint32_t max_depth = 14;

}  // namespace

void word_directory::initialise(zero_pool& pool, const hash_factors& factors, std::uint32_t lines,
                                bool is_long) {
  pool_ = &pool;
  factors_ = &factors;
  is_long_ = is_long;
  set_lines(lines);
}

void word_directory::set_lines(std::uint32_t lines) noexcept {
  lines_ = lines;
  max_used_ = lines * word_line::entries * full_percent / 100;
}

word_segment* word_directory::make_segment(std::uint32_t depth) {
  auto* s = ::new (pool_->allocate((lines_ + 1) * sizeof(word_line))) word_segment;
  s->depth = depth;
  segments_.push_back(s);
  return s;
}

std::uint32_t word_directory::index_of_key(const word_key& key) const noexcept {
  return is_long_ ? key.high >> 8 : index_of(hash_upper(key.low, key.high, *factors_));
}

/// Inserts a word that is not in the segment.
void word_directory::put_new(word_segment& s, std::uint32_t index, const word_key& key,
                             std::uint32_t count) noexcept {
  word_line* const first = s.lines();
  word_line* line = first + first_line(index);
  while (line->full()) line = line + 1 == first + lines_ ? first : line + 1;
  std::size_t i = 0;
  while (line->count[i] != 0) ++i;
  line->put(i, key, count);
  ++s.used;
}

/// Inserts the words of `from` into the segments that `segment_of` returns for their indices.
template <class SegmentOf>
void word_directory::put_all(std::span<const word_line> from, SegmentOf&& segment_of) {
  for (const word_line& line : from) {
    for (std::size_t i = 0; i < word_line::entries && line.count[i] != 0; ++i) {
      const word_key key = line.at(i);
      const std::uint32_t index = index_of_key(key);
      put_new(*segment_of(index), index, key, line.count[i]);
    }
  }
}

word_segment* word_directory::make_room(std::uint32_t index) {
  word_segment* s = segment_of(index);
  for (; full(*s) && s->depth < max_depth; s = segment_of(index)) {
    if (lines_ < largest_segment / 2) {
      grow();
    } else {
      split(index);
    }
    assert(verify());
  }
  while (full(*s)) {
    if (s->overflow == nullptr) s->overflow = make_segment(max_depth);
    s = s->overflow;
  }
  return s;
}

/// Returns whether a search for `index` comes to the line: by the directory, and over full lines.
bool word_directory::leads_to(const word_segment& s, std::uint32_t index,
                              const word_line& line) const noexcept {
  const word_segment* searched = segment_of(index);
  while (searched != nullptr && searched != &s) searched = searched->overflow;
  if (searched == nullptr) return false;
  std::uint32_t at = first_line(index);
  while (s.lines() + at != &line && s.lines()[at].full()) at = at + 1 == lines_ ? 0 : at + 1;
  return s.lines() + at == &line;
}

bool word_directory::verify_line(const word_segment& s, const word_line& line,
                                 std::uint32_t& used) const noexcept {
  bool is_over = false;
  for (std::size_t i = 0; i < word_line::entries; ++i) {
    if (line.count[i] == 0) {
      is_over = true;
      continue;
    }
    ++used;
    if (is_over || !leads_to(s, index_of_key(line.at(i)), line)) return false;
  }
  return true;
}

bool word_directory::verify_segment(const word_segment& s) const noexcept {
  std::uint32_t used = 0;
  for (std::uint32_t at = 0; at < lines_; ++at) {
    if (!verify_line(s, s.lines()[at], used)) return false;
  }
  return used == s.used;
}

bool word_directory::verify() const noexcept {
  if (directory_.empty()) return segments_.empty();
  if (directory_.size() != std::size_t{1} << (24 - shift_)) return false;
  for (const word_segment* s : segments_) {
    if (!verify_segment(*s)) return false;
  }
  return true;
}

/// Moves all words to a segment of twice the size.
void word_directory::grow() {
  const std::uint32_t lines = lines_;
  const word_segment* const from = segments_.front();
  word_segment* to = nullptr;
  set_lines(2 * lines + 1);
  try {
    segments_.reserve(2);
    to = make_segment(0);
  } catch (...) {
    set_lines(lines);
    throw;
  }
  put_all(std::span(from->lines(), lines), [&](std::uint32_t) { return to; });
  segments_ = {to};
  directory_ = {to};
}

/// Splits a segment by the next bit of the index; doubles the directory if it has too few bits.
void word_directory::split(std::uint32_t index) {
  word_segment* left = segment_of(index);
  word_segment* right = make_segment(left->depth + 1);
  if (24 - shift_ == left->depth) {
    std::vector<word_segment*> twice(2 * directory_.size());
    for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = directory_[i / 2];
    directory_ = std::move(twice);
    --shift_;
  }
  ++left->depth;
  const std::uint32_t bit = 24 - left->depth;
  const std::size_t span = std::size_t{1} << (bit - shift_);
  const std::size_t begin = (index >> bit | 1) << (bit - shift_);
  for (std::size_t i = begin; i < begin + span; ++i) directory_[i] = right;

  std::array<word_line, largest_segment> old;
  const std::size_t bytes = lines_ * sizeof(word_line);
  std::memcpy(old.data(), left->lines(), bytes);
  std::memset(left->lines(), 0, bytes);
  left->used = 0;
  put_all(std::span(old).first(lines_),
          [&](std::uint32_t at) { return (at >> bit & 1) != 0 ? right : left; });
}

}  // namespace creek::mapreduce::detail
