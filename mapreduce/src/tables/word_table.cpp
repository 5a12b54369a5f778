// SPDX-License-Identifier: Apache-2.0
// The parts of word_table off the fast path: new words, displaced words, growth.
#include <creek/mapreduce/tables/word_table.hpp>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>

#include <creek/core/error.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include "word_hash.hpp"
#include "word_probe.hpp"

namespace creek::mapreduce {
namespace {

using body = word_table::body;
using bucket = word_table::bucket;
using entry = word_table::entry;
using line = word_table::line;
using segment = word_table::segment;

static_assert(sizeof(line) == 64 && sizeof(segment) == 64);
static_assert(std::endian::native == std::endian::little, "short words are loaded as integers");

constexpr std::uint32_t full_percent = 85;               // above, paths to displaced words get long
constexpr std::uint32_t growths = 3;                     // doublings of a bucket's first segment
constexpr std::size_t largest_segment = 64u << growths;  // lines
constexpr std::uint64_t most = UINT32_MAX;

std::uint32_t place(const bucket& from, const body& what, const hash_factors& by) noexcept {
  if (from.is_long) return what.high >> 8;
  return word_table::place_of(detail::hash_upper(what.low, what.high, by));
}

/// Inserts a word that is not in the segment.
void put_new(const bucket& in, segment& s, std::uint32_t place, const body& what,
             std::uint32_t count) noexcept {
  line* const first = s.lines();
  line* l = first + in.line_of(place);
  while (l->count[word_table::line_entries - 1] != 0) l = l + 1 == first + in.lines ? first : l + 1;
  std::size_t i = 0;
  while (l->count[i] != 0) ++i;
  l->put(i, what, count);
  ++s.used;
}

/// Inserts the words of `from` into the segments that `segment_of` returns for their places.
template <class SegmentOf>
void put_all(const bucket& in, std::span<const line> from, const hash_factors& by,
             SegmentOf&& segment_of) {
  for (const line& l : from) {
    for (std::size_t i = 0; i < word_table::line_entries && l.count[i] != 0; ++i) {
      const body what = l.at(i);
      const std::uint32_t goes = place(in, what, by);
      put_new(in, *segment_of(goes), goes, what, l.count[i]);
    }
  }
}

void set_lines(bucket& b, std::uint32_t lines) noexcept {
  b.lines = lines;
  b.limit = lines * word_table::line_entries * full_percent / 100;
}

/// Adds to a count, which must stay positive.
void raise(bucket& in, const entry& e, std::uint64_t count) {
  std::uint32_t& held = e.at->count[e.i];
  const std::uint64_t room = most - held;
  if (count <= room) {
    held += static_cast<std::uint32_t>(count);
  } else {
    in.carried[e.at->at(e.i)] += held - 1 + count;
    held = 1;
  }
}

/// Copies the bytes of a new long word next to the other words, which are compared often; the text
/// is large and far away. Only very long words, rare and expensive to copy, stay in the text.
std::uint64_t keep(byte_arena& arena, std::string_view word, std::string_view stable) {
  constexpr std::size_t copied = 32;
  if (word.size() <= copied || !lies_in(stable, word)) word = arena.keep(word);
  const void* address = word.data();
  if (word.size() > word_table::longest_tagged) address = arena.keep_object(word);
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address);
  if (bits > word_table::address_mask) {
    throw error(EOVERFLOW, "word table: addresses of more than 48 bits");
  }
  return bits;
}

}  // namespace

std::string_view word_table::text_of(const body& held) noexcept {
  const std::size_t length = held.high & 0xFF;
  const auto address = static_cast<std::uintptr_t>(held.low & address_mask);
  if (length > longest_tagged) return *reinterpret_cast<const std::string_view*>(address);
  return {reinterpret_cast<const char*>(address), length};
}

/// Segments of a bucket fill up and split at about the same time. Bucket sizes spread over a factor
/// of two, so that not all buckets split together, and the table is always about 60 % full.
word_table::word_table() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    bucket& b = buckets_[i];
    const double size = 32 * std::exp2(static_cast<double>(i / 2) / partitions);
    set_lines(b, static_cast<std::uint32_t>(size) - 1);
    b.is_long = i % 2 != 0;
  }
}

std::size_t word_table::size() const noexcept {
  std::size_t sum = 0;
  for (const bucket& b : buckets_) sum += b.used;
  return sum;
}

std::size_t word_table::bytes() const noexcept {
  std::size_t sum = 0;
  for (const bucket& b : buckets_) {
    sum += b.segments.size() * (b.lines + 1) * sizeof(line) + b.directory.size() * sizeof(segment*);
  }
  return sum;
}

std::size_t word_table::key_bytes() const noexcept {
  std::size_t sum = 0;
  for (const bucket& b : buckets_) sum += b.arena.bytes();
  return sum;
}

byte_arena word_table::take_arena() {
  byte_arena all;
  for (bucket& b : buckets_) all.adopt(std::move(b.arena));
  return all;
}

void word_table::add(std::size_t to, std::span<counted_word> words, std::string_view stable) {
  bucket& b = buckets_[to];
  const std::lock_guard guard(b.lock);
  begin(b);
  const std::size_t missing = detail::count_known(b, words);
  // They are in the next line, or new: prefetch all before inserting the first.
  for (const counted_word& word : words.first(missing)) {
    segment* const s = b.directory[word.place() >> b.shift];
    line* const home = s->lines() + b.line_of(word.place());
    __builtin_prefetch(s, 1);
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 1, 1);
  }
  for (const counted_word& word : words.first(missing)) insert(b, word, word.count(), stable);
}

void word_table::add(std::size_t to, const word_ref& word, std::uint64_t count,
                     std::string_view stable) {
  bucket& b = buckets_[to];
  const std::lock_guard guard(b.lock);
  begin(b);
  insert(b, make_counted(word, 0), count, stable);
}

/// The first word creates the first segment: texts with few words touch little memory.
void word_table::begin(bucket& to) {
  if (to.directory.empty()) to.directory.push_back(make_segment(to, 0));
}

void word_table::insert(bucket& to, counted_word word, std::uint64_t count,
                        std::string_view stable) {
  entry at{};
  for (segment* s = to.directory[word.place() >> to.shift]; s != nullptr; s = s->overflow) {
    at = detail::find_entry(to, *s, word);
    if (at.at->count[at.i] != 0) return raise(to, at, count);
  }
  if (to.is_long) {
    const std::string_view text = text_of({word.low, word.high});
    word.low = keep(to.arena, text, stable) | (word.low & ~address_mask);
  }
  if (at.in->used >= to.limit) at = detail::find_entry(to, *room_for(to, word.place()), word);
  at.at->put(at.i, {word.low, word.high}, 1);
  ++at.in->used;
  ++to.used;
  if (count > 1) raise(to, at, count - 1);
}

segment* word_table::make_segment(bucket& to, std::uint32_t depth) {
  auto* s = ::new (pool_.allocate((to.lines + 1) * sizeof(line))) segment;
  s->depth = depth;
  to.segments.push_back(s);
  return s;
}

/// Returns the segment for a new word, with room.
segment* word_table::room_for(bucket& to, std::uint32_t place) {
  for (;;) {
    segment* s = to.directory[place >> to.shift];
    if (s->used < to.limit) return s;
    if (s->depth < max_depth) {
      if (to.lines < largest_segment / 2) {
        grow(to);
      } else {
        split(to, place);
      }
      continue;
    }
    while (s->used >= to.limit) {
      if (s->overflow == nullptr) s->overflow = make_segment(to, max_depth);
      s = s->overflow;
    }
    return s;
  }
}

/// Moves all words of a bucket to a segment of twice the size.
void word_table::grow(bucket& b) {
  const std::uint32_t lines = b.lines;
  const segment* const from = b.segments.front();
  segment* to = nullptr;
  set_lines(b, 2 * lines + 1);
  try {
    b.segments.reserve(2);
    to = make_segment(b, 0);
  } catch (...) {
    set_lines(b, lines);
    throw;
  }
  put_all(b, std::span(from->lines(), lines), secret_->factors, [&](std::uint32_t) { return to; });
  b.segments = {to};
  b.directory = {to};
}

void word_table::split(bucket& b, std::uint32_t place) {
  segment* left = b.directory[place >> b.shift];
  segment* right = make_segment(b, left->depth + 1);
  if (24 - b.shift == left->depth) {
    std::vector<segment*> twice(2 * b.directory.size());
    for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = b.directory[i / 2];
    b.directory = std::move(twice);
    --b.shift;
  }
  ++left->depth;
  const std::uint32_t bit = 24 - left->depth;
  const std::size_t span = std::size_t{1} << (bit - b.shift);
  const std::size_t begin = (place >> bit | 1) << (bit - b.shift);
  for (std::size_t i = begin; i < begin + span; ++i) b.directory[i] = right;

  std::array<line, largest_segment> old;
  const std::size_t bytes = b.lines * sizeof(line);
  std::memcpy(old.data(), left->lines(), bytes);
  std::memset(left->lines(), 0, bytes);
  left->used = 0;
  put_all(b, std::span(old).first(b.lines), secret_->factors,
          [&](std::uint32_t goes) { return (goes >> bit & 1) != 0 ? right : left; });
}

}  // namespace creek::mapreduce
