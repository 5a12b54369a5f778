// SPDX-License-Identifier: Apache-2.0
// The parts of word_table off the fast path: new words, growth, merging, memory.
#include <creek/mapreduce/word_table.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

#include <creek/core/error.hpp>
#include "word_probe.hpp"

namespace creek::mapreduce {
namespace {

using entry = word_table::entry;
using line = word_table::line;
using part_table = word_table::part_table;

static_assert(sizeof(line) == 64);
static_assert(std::endian::native == std::endian::little, "short keys are loaded as integers");
// The empty key would look like a free entry if its tag were 0 too.
static_assert((detail::hash16(0, 0, 0) >> 49 & 0xFF) != 0);

// Tables from this size on are mapped: growing gives the old one back to the system at once, so
// that the peak stays near the sum of the live tables. (Pieces freed to malloc stay resident.)
constexpr std::size_t mapped_bytes = 4096;

// The longest key that waits in a queue: longer ones have no room for their length in an entry.
constexpr std::size_t longest_tagged = 254;

/// Zeroed lines. Where the system refuses more mappings (vm.max_map_count) the heap has to do.
part_table make(std::size_t lines) {
  constexpr std::size_t full_percent = 87;  // above, ways to displaced words get long
  const std::size_t bytes = lines * sizeof(line);
  part_table table;
  table.size = static_cast<std::uint32_t>(lines);
  table.limit = static_cast<std::uint32_t>(lines * word_table::line_entries * full_percent / 100);
  void* p = MAP_FAILED;
  if (bytes >= mapped_bytes) {
    p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  table.mapped = p != MAP_FAILED;
  if (!table.mapped) {
    p = std::aligned_alloc(alignof(line), bytes);
    if (p == nullptr) throw std::bad_alloc();
    std::memset(p, 0, bytes);
  }
  table.lines = static_cast<line*>(p);
  return table;
}

void release(part_table& table) noexcept {
  if (table.mapped) {
    munmap(table.lines, table.size * sizeof(line));
  } else {
    std::free(table.lines);
  }
  table = {};
}

/// Puts an entry that is not in the table into the first free place from its home line on.
void place(part_table& table, const entry& e) noexcept {
  const line* end = table.lines + table.size;
  for (line* l = table.at(e.place());; l = l + 1 == end ? table.lines : l + 1) {
    for (std::size_t i = 0; i < word_table::line_entries; ++i) {
      if (l->meta[i] != 0) continue;
      l->body[i] = e.body;
      l->meta[i] = e.meta;
      ++table.used;
      return;
    }
  }
}

bool same_key(const entry& a, const entry& b) noexcept {
  if (((a.meta ^ b.meta) & ~word_table::count_mask) != 0) return false;
  if (a.short_length() <= 8) return a.body == b.body;
  return ((a.body ^ b.body) & ~word_table::address_mask) == 0 && a.key() == b.key();
}

/// Adds the count of `e` if its key is in the table.
bool raise(part_table& table, const entry& e) noexcept {
  const line* end = table.lines + table.size;
  for (line* l = table.at(e.place());; l = l + 1 == end ? table.lines : l + 1) {
    for (std::size_t i = 0; i < word_table::line_entries; ++i) {
      if (l->meta[i] == 0) return false;
      if (same_key({l->body[i], l->meta[i]}, e)) {
        l->meta[i] += e.count();
        return true;
      }
    }
  }
}

std::uint64_t hash_of(const entry& e) noexcept {
  const std::size_t length = e.short_length();
  return length <= 8 ? detail::hash16(e.body, 0, length) : detail::hash_bytes(e.key());
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
  return static_cast<std::uint32_t>(detail::hash16(body, 0, short_length()) >> 33) & 0xFFFFFF;
}

word_table::word_table() : queues_(std::make_unique<queue[]>(2)) {
  constexpr std::size_t first_lines = 16;
  parts_.fill({});
  for (std::size_t i = 0; i < partitions; ++i) {
    parts_[i] = make(first_lines + first_lines * 3 / 8 * i / partitions);
  }
}

word_table::word_table(word_table&& other) noexcept
    : parts_(std::exchange(other.parts_, {})),
      safe_begin_(other.safe_begin_),
      safe_bytes_(other.safe_bytes_),
      stable_(other.stable_),
      arena_(std::move(other.arena_)),
      emitted_(other.emitted_),
      queues_(std::move(other.queues_)) {}

word_table& word_table::operator=(word_table&& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(safe_begin_, other.safe_begin_);
  std::swap(safe_bytes_, other.safe_bytes_);
  std::swap(stable_, other.stable_);
  std::swap(arena_, other.arena_);
  std::swap(emitted_, other.emitted_);
  std::swap(queues_, other.queues_);
  return *this;
}

word_table::~word_table() {
  for (std::size_t i = 0; i < partitions; ++i) clear(i);
}

void word_table::source(std::string_view text, bool stable) noexcept {
  safe_begin_ = text.data();
  safe_bytes_ = text.size() >= 16 ? text.size() - 15 : 0;
  stable_ = stable ? text : std::string_view{};
}

std::size_t word_table::size() const noexcept {
  std::size_t sum = 0;
  for (const part_table& part : parts_) sum += part.used;
  return sum;
}

std::size_t word_table::bytes() const noexcept {
  std::size_t sum = 0;
  for (const part_table& part : parts_) sum += part.size * sizeof(line);
  return sum;
}

void word_table::clear(std::size_t part) noexcept {
  if (parts_[part].lines != nullptr) release(parts_[part]);
}

void word_table::add_slow(std::string_view word, std::uint64_t count) {
  const std::uint64_t hash = detail::hash_bytes(word);
  if (word.size() <= longest_tagged) {
    std::uint64_t low = 0;
    std::memcpy(&low, word.data(), std::min<std::size_t>(word.size(), 8));
    return push(word, low, hash, count);
  }
  const std::uint64_t bits = hash >> 33;
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&word);
  ++emitted_;
  insert({address | bits << 48, ((bits >> 8 & 0xFF00) | 0xFF) << 48 | count}, hash >> 57, false,
         queues_.get());
}

void word_table::drain(queue& q, bool is_long) {
  emitted_ += q.length;
  (is_long ? detail::count_long : detail::count_short)(q);
  // Growing moves lines, so the addresses of homes are not used from here on.
  const std::size_t missing = std::exchange(q.length, 0);
  for (std::size_t i = 0; i < missing; ++i) {
    insert(q.keys[i].key, hash_of(q.keys[i].key) >> 57, false, queues_.get());
  }
}

void word_table::flush() {
  drain(queues_[0], false);
  drain(queues_[1], true);
}

/// Where the bytes of a new long key will stay.
std::uint64_t word_table::keep(std::string_view key) {
  const bool stable = static_cast<std::size_t>(key.data() - stable_.data()) < stable_.size();
  if (!stable) key = arena_.keep(key);
  const void* address = key.data();
  if (key.size() > longest_tagged) address = arena_.keep_object(key);
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address);
  if (bits > address_mask) throw error(EOVERFLOW, "word table: addresses of more than 48 bits");
  return bits;
}

void word_table::insert(entry key, std::size_t part, bool kept, queue* waiting) {
  if (raise(parts_[part], key)) return;
  if (parts_[part].used >= parts_[part].limit) grow(part, waiting);
  if (!kept && !is_inline(key.short_length())) {
    key.body = keep(key.key()) | (key.body & ~address_mask);
  }
  place(parts_[part], key);
}

/// Three eighths larger: partitions start at sizes spread over one such step, so that they grow at
/// different times and the whole table is always about 75 % full.
void word_table::grow(std::size_t part, queue* waiting) {
  part_table& table = parts_[part];
  part_table larger = make(table.size + table.size * 3 / 8);
  for (const line* l = table.lines; l != table.lines + table.size; ++l) {
    for (std::size_t i = 0; i < line_entries && l->meta[i] != 0; ++i) {
      place(larger, {l->body[i], l->meta[i]});
    }
  }
  const line* old = table.lines;
  const line* old_end = old + table.size;
  for (queue& q : std::span(waiting, 2)) {
    for (std::size_t i = 0; i < q.length; ++i) {
      pending& next = q.keys[i];
      if (next.home >= old && next.home < old_end) next.home = larger.at(next.key.place());
    }
  }
  release(table);
  table = larger;
}

void word_table::merge(word_table& other, std::size_t part) {
  if (other.parts_[part].used > parts_[part].used) std::swap(other.parts_[part], parts_[part]);
  const part_table from = other.parts_[part];
  queue waiting[2];
  const auto drain_waiting = [&](bool is_long) {
    queue& q = waiting[is_long];
    (is_long ? detail::count_long : detail::count_short)(q);
    const std::size_t missing = std::exchange(q.length, 0);
    for (std::size_t i = 0; i < missing; ++i) insert(q.keys[i].key, part, true, waiting);
  };
  for (const line* l = from.lines; l != from.lines + from.size; ++l) {
    for (std::size_t i = 0; i < line_entries && l->meta[i] != 0; ++i) {
      const entry e{l->body[i], l->meta[i]};
      if (e.short_length() > longest_tagged) {
        insert(e, part, true, waiting);
        continue;
      }
      const bool is_long = !is_inline(e.short_length());
      queue& q = waiting[is_long];
      q.keys[q.length] = {parts_[part].at(e.place()), e};
      __builtin_prefetch(q.keys[q.length].home, 1);
      if (++q.length == queue::capacity) drain_waiting(is_long);
    }
  }
  drain_waiting(false);
  drain_waiting(true);
  other.clear(part);
}

}  // namespace creek::mapreduce
