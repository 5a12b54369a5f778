// SPDX-License-Identifier: Apache-2.0
// The parts of word_table off the fast path: new words, displaced words, growth.
#include <creek/mapreduce/word_table.hpp>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>

#include <creek/core/error.hpp>
#include <creek/mapreduce/detail/byte_hash.hpp>
#include <creek/mapreduce/key_store.hpp>
#include "word_probe.hpp"

namespace creek::mapreduce {
namespace {

using entry = word_table::entry;
using line = word_table::line;
using segment = word_table::segment;
using partition = word_table::partition;

static_assert(sizeof(line) == 64 && sizeof(segment) == 64);
static_assert(std::endian::native == std::endian::little, "short keys are loaded as integers");

constexpr std::size_t largest_segment = 64;  // lines

bool same_key(const entry& a, const entry& b) noexcept {
  if (((a.meta ^ b.meta) & ~word_table::count_mask) != 0) return false;
  if (a.short_length() <= 8) return a.body == b.body;
  return ((a.body ^ b.body) & ~word_table::address_mask) == 0 && a.key() == b.key();
}

/// Calls `f(line, i)` for the entries of a segment from the home of a word on until it returns
/// true. There always is a free entry, where callers stop.
template <class F>
void walk(const partition& part, segment& s, std::uint32_t place, F&& f) {
  line* const first = s.lines();
  line* const end = first + part.lines;
  for (line* l = first + part.line_of(place);; l = l + 1 == end ? first : l + 1) {
    for (std::size_t i = 0; i < word_table::line_entries; ++i) {
      if (f(*l, i)) return;
    }
  }
}

/// Puts an entry that is not in the segment into the first free place.
void put(const partition& part, segment& s, const entry& e) noexcept {
  walk(part, s, e.place(), [&](line& l, std::size_t i) {
    if (l.meta[i] != 0) return false;
    l.body[i] = e.body;
    l.meta[i] = e.meta;
    ++s.used;
    return true;
  });
}

/// A free entry.
struct gap {
  segment* in;
  line* at;
  std::size_t i;
};

/// Adds the count of `e` if its key is in the partition, or else says where it may go.
bool raise(const partition& part, const entry& e, std::uint32_t place, gap& free) noexcept {
  bool found = false;
  for (segment* s = part.directory[place >> part.shift]; s != nullptr && !found; s = s->overflow) {
    walk(part, *s, place, [&](line& l, std::size_t i) {
      if (l.meta[i] == 0) {
        free = {s, &l, i};
        return true;
      }
      if (!same_key({l.body[i], l.meta[i]}, e)) return false;
      l.meta[i] += e.count();
      return found = true;
    });
  }
  return found;
}

/// Where the bytes of a new long key will stay: beside the other keys, which are compared often;
/// the text is large and far away. Only long ones, rare and dear to copy, stay in the text.
std::uint64_t keep(byte_arena& arena, std::string_view key, std::string_view stable) {
  constexpr std::size_t copied = 32;
  if (key.size() <= copied || !lies_in(stable, key)) key = arena.keep(key);
  const void* address = key.data();
  if (key.size() > word_table::longest_tagged) address = arena.keep_object(key);
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address);
  if (bits > word_table::address_mask) {
    throw error(EOVERFLOW, "word table: addresses of more than 48 bits");
  }
  return bits;
}

}  // namespace

std::string_view word_table::entry::key() const noexcept {
  const std::size_t length = short_length();
  if (length <= 8) return {reinterpret_cast<const char*>(&body), length};
  const auto address = static_cast<std::uintptr_t>(body & address_mask);
  if (length > longest_tagged) return *reinterpret_cast<const std::string_view*>(address);
  return {reinterpret_cast<const char*>(address), length};
}

std::uint32_t word_table::entry::place() const noexcept {
  if (short_length() > 8) return static_cast<std::uint32_t>((meta >> 56) << 16 | body >> 48);
  return place_of(detail::hash_padded(body, 0));
}

/// Segments of a partition are full, and split, at about the same time; of sizes spread over a
/// factor of two they are not so in all partitions, and the whole is about 60 % full always.
word_table::word_table() {
  constexpr std::uint32_t full_percent = 85;  // above, ways to displaced words get long
  for (std::size_t i = 0; i < partitions; ++i) {
    partition& part = parts_[i];
    const double size = 32 * std::exp2(static_cast<double>(i) / partitions);
    part.lines = static_cast<std::uint32_t>(size) - 1;
    part.limit = part.lines * line_entries * full_percent / 100;
    part.directory.push_back(make_segment(part, 0));
  }
}

std::size_t word_table::size() const noexcept {
  std::size_t sum = 0;
  for (const partition& part : parts_) sum += part.used;
  return sum;
}

std::size_t word_table::bytes() const noexcept {
  std::size_t sum = 0;
  for (const partition& part : parts_) {
    sum += part.segments.size() * (part.lines + 1) * sizeof(line) +
           part.directory.size() * sizeof(segment*);
  }
  return sum;
}

std::size_t word_table::key_bytes() const noexcept {
  std::size_t sum = 0;
  for (const partition& part : parts_) sum += part.arena.bytes();
  return sum;
}

byte_arena word_table::take_arena() {
  byte_arena all;
  for (partition& part : parts_) all.adopt(std::move(part.arena));
  return all;
}

void word_table::add(std::size_t part, bool are_long, std::span<entry> keys,
                     std::string_view stable) {
  partition& to = parts_[part];
  const std::lock_guard guard(to.lock);
  const std::size_t missing = (are_long ? detail::count_long : detail::count_short)(to, keys);
  for (const entry& key : keys.first(missing)) insert(to, key, stable);
}

void word_table::add_huge(std::string_view key, std::uint64_t hash, std::uint64_t count,
                          std::string_view stable) {
  const std::uint64_t place = place_of(hash);
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&key);
  partition& to = parts_[part_of(hash)];
  const std::lock_guard guard(to.lock);
  insert(to, {address | place << 48, ((place >> 8 & 0xFF00) | 0xFF) << 48 | count}, stable);
}

void word_table::insert(partition& part, entry key, std::string_view stable) {
  const std::uint32_t place = key.place();
  gap free{};
  if (raise(part, key, place, free)) return;
  if (!is_inline(key.short_length())) {
    key.body = keep(part.arena, key.key(), stable) | (key.body & ~address_mask);
  }
  if (free.in->used < part.limit) {
    free.at->body[free.i] = key.body;
    free.at->meta[free.i] = key.meta;
    ++free.in->used;
  } else {
    put(part, *room_for(part, place), key);
  }
  ++part.used;
}

segment* word_table::make_segment(partition& part, std::uint32_t depth) {
  auto* s = ::new (pool_.allocate((part.lines + 1) * sizeof(line))) segment;
  s->depth = depth;
  part.segments.push_back(s);
  return s;
}

/// The segment that a new word goes to.
segment* word_table::room_for(partition& part, std::uint32_t place) {
  for (;;) {
    segment* s = part.directory[place >> part.shift];
    if (s->used < part.limit) return s;
    if (s->depth < max_depth) {
      split(part, place);
      continue;
    }
    while (s->used >= part.limit) {
      if (s->overflow == nullptr) s->overflow = make_segment(part, max_depth);
      s = s->overflow;
    }
    return s;
  }
}

void word_table::split(partition& part, std::uint32_t place) {
  segment* left = part.directory[place >> part.shift];
  segment* right = make_segment(part, left->depth + 1);
  if (24 - part.shift == left->depth) {
    std::vector<segment*> twice(2 * part.directory.size());
    for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = part.directory[i / 2];
    part.directory = std::move(twice);
    --part.shift;
  }
  ++left->depth;
  const std::uint32_t bit = 24 - left->depth;
  const std::size_t span = std::size_t{1} << (bit - part.shift);
  const std::size_t begin = (place >> bit | 1) << (bit - part.shift);
  for (std::size_t i = begin; i < begin + span; ++i) part.directory[i] = right;

  std::array<line, largest_segment> old;
  const std::size_t bytes = part.lines * sizeof(line);
  std::memcpy(old.data(), left->lines(), bytes);
  std::memset(left->lines(), 0, bytes);
  left->used = 0;
  for (const line& l : std::span(old).first(part.lines)) {
    for (std::size_t i = 0; i < line_entries && l.meta[i] != 0; ++i) {
      const entry e{l.body[i], l.meta[i]};
      put(part, (e.place() >> bit & 1) != 0 ? *right : *left, e);
    }
  }
}

}  // namespace creek::mapreduce
