// SPDX-License-Identifier: Apache-2.0
// Groups pairs by key: radix-sorts pointers to them by the bytes of their keys, most significant
// first, so that equal keys become adjacent and no pair is moved.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <creek/mapreduce/detail/heap_sort.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace creek::mapreduce {

/// Bytes of a key, eight at a time: `digits(key, at)` compares like the key's bytes from position
/// `at` on, shorter keys padded with zeros; `size(key)` returns the key's length.
template <class Key>
struct key_digits {
  static constexpr bool available = false;
};

template <std::integral Key>
struct key_digits<Key> {
  static constexpr bool available = true;
  static std::uint64_t digits(Key key, std::size_t) noexcept {
    constexpr std::uint64_t flip =
        std::is_signed_v<Key> ? std::uint64_t{1} << (8 * sizeof(Key) - 1) : 0;
    constexpr int shift = 64 - 8 * static_cast<int>(sizeof(Key));
    return (static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Key>>(key)) ^ flip)
           << shift;
  }
  static constexpr std::size_t size(Key) noexcept { return sizeof(Key); }
};

template <byte_string Key>
struct key_digits<Key> {
  static constexpr bool available = true;
  static std::uint64_t digits(const Key& key, std::size_t at) noexcept {
    const std::string_view bytes = key;
    std::uint64_t x = 0;
    if (at + 8 <= bytes.size()) {
      std::memcpy(&x, bytes.data() + at, 8);
    } else if (at < bytes.size()) {
      std::memcpy(&x, bytes.data() + at, bytes.size() - at);
    }
    if constexpr (std::endian::native == std::endian::little) x = __builtin_bswap64(x);
    return x;
  }
  static std::size_t size(const Key& key) noexcept { return std::string_view(key).size(); }
};

/// Work done by a sort, for charging its cost: creek/core/charge.hpp.
struct sort_effort {
  /// Numbers of pointers, by the binary logarithm of the number sorted together: touching
  /// one costs as much as the level of memory that holds that many.
  using by_size = std::array<std::uint64_t, 48>;

  by_size counted{};              ///< pointers read to count the bytes
  by_size moved{};                ///< pointers moved to the scratch and back, by one byte of key
  std::uint64_t comparisons = 0;  ///< n log2 n for n pointers sorted by comparisons

  static void add(by_size& to, std::size_t n) noexcept { to[std::bit_width(n) - 1] += n; }
  void compare_sorted(std::size_t n) noexcept { comparisons += n * std::bit_width(n); }
};

namespace detail {

/// Sorts by `digits` only. `scratch` must be at least as long as `refs`.
template <class Ref>
void sort_by_digits(std::span<Ref> refs, std::span<Ref> scratch, sort_effort& effort,
                    int shift = 56) {
  constexpr std::size_t small = 96;  // below, a comparison sort is faster than 256 counters
  if (refs.size() <= small || shift < 0) {
    if (refs.size() > 1 && shift >= 0) {
      std::ranges::sort(refs, {}, &Ref::digits);
      effort.compare_sorted(refs.size());
    }
    return;
  }
  sort_effort::add(effort.counted, refs.size());
  std::array<std::size_t, 257> begin{};
  for (const Ref& ref : refs) ++begin[(ref.digits >> shift & 0xFF) + 1];
  for (std::size_t i = 0; i < 256; ++i) begin[i + 1] += begin[i];
  const bool one_bucket =
      begin[(refs[0].digits >> shift & 0xFF) + 1] - begin[refs[0].digits >> shift & 0xFF] ==
      refs.size();
  if (one_bucket) return sort_by_digits(refs, scratch, effort, shift - 8);
  sort_effort::add(effort.moved, refs.size());
  std::array<std::size_t, 257> next = begin;
  for (const Ref& ref : refs) scratch[next[ref.digits >> shift & 0xFF]++] = ref;
  std::ranges::copy(scratch.first(refs.size()), refs.begin());
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t count = begin[i + 1] - begin[i];
    if (count > 1) sort_by_digits(refs.subspan(begin[i], count), scratch, effort, shift - 8);
  }
}

/// Calls `f(run)` for the maximal runs of equal digits.
template <class Ref, class F>
void for_each_run(std::span<Ref> refs, F&& f) {
  for (std::size_t from = 0, to = 0; from < refs.size(); from = to) {
    while (to < refs.size() && refs[to].digits == refs[from].digits) ++to;
    f(refs.subspan(from, to - from));
  }
}

template <class Ref, class Bytes>
void sort_ties(std::span<Ref> refs, std::span<Ref> scratch, sort_effort& effort, std::size_t at,
               const Bytes& bytes);

/// Sorts refs by byte strings that agree in their first `at` bytes: bytes.digits(ref, at) returns
/// the next eight, padded with zeros, bytes.size(ref) the length of the string, and
/// bytes.before(ref, ref) compares two strings.
template <class Ref, class Bytes>
void sort_from(std::span<Ref> refs, std::span<Ref> scratch, sort_effort& effort, std::size_t at,
               const Bytes& bytes) {
  constexpr std::size_t deepest = 512;  // bounds the recursion: long keys in common are rare
  if (at >= deepest) {
    heap_sort(refs, [&](const Ref& a, const Ref& b) { return bytes.before(a, b); });
    effort.compare_sorted(refs.size());
    return;
  }
  for (Ref& r : refs) r.digits = bytes.digits(r, at);
  sort_by_digits(refs, scratch, effort);
  sort_ties(refs, scratch, effort, at + 8, bytes);
}

/// Same for refs that are sorted by the eight bytes before `at` (their digits) and agree in all
/// bytes before those.
template <class Ref, class Bytes>
void sort_ties(std::span<Ref> refs, std::span<Ref> scratch, sort_effort& effort, std::size_t at,
               const Bytes& bytes) {
  // Because of the padding, a string that has ended equals one that continues with NUL bytes: ended
  // strings are prefixes of the others, so they come first, the shorter before the longer.
  const auto size = [&](const Ref& r) { return bytes.size(r); };
  for_each_run(refs, [&](std::span<Ref> run) {
    if (run.size() == 1) return;
    const auto rest =
        std::partition(run.begin(), run.end(), [&](const Ref& r) { return size(r) <= at; });
    const auto ended = static_cast<std::size_t>(rest - run.begin());
    std::ranges::sort(run.first(ended), {}, size);
    // Mostly a single key, and so a single size: one pass checks that they are in order.
    effort.comparisons += ended;
    if (run.size() - ended > 1) sort_from(run.subspan(ended), scratch, effort, at, bytes);
  });
}

/// Access to the bytes of the keys of pairs.
template <class Key, class Value>
struct pair_key_bytes {
  using ref = pair_ref<Key, Value>;

  static std::uint64_t digits(const ref& r, std::size_t at) noexcept {
    return key_digits<Key>::digits(r.pair->key, at);
  }
  static std::size_t size(const ref& r) noexcept { return key_digits<Key>::size(r.pair->key); }
  static bool before(const ref& a, const ref& b) { return a.pair->key < b.pair->key; }
};

}  // namespace detail

/// Sorts pointers to pairs by key (by bytes, or with operator< if the key has no digits), so that
/// equal keys become adjacent. One thread; needs the same amount of memory again.
template <class Key, class Value>
sort_effort sort_refs(std::vector<pair_ref<Key, Value>>& refs) {
  sort_effort effort;
  if constexpr (byte_string<Key>) {
    std::vector<pair_ref<Key, Value>> scratch(refs.size());
    detail::sort_from(std::span(refs), std::span(scratch), effort, 0,
                      detail::pair_key_bytes<Key, Value>());
  } else if constexpr (key_digits<Key>::available) {  // the digits are the whole key
    std::vector<pair_ref<Key, Value>> scratch(refs.size());
    for (auto& ref : refs) ref.digits = key_digits<Key>::digits(ref.pair->key, 0);
    detail::sort_by_digits(std::span(refs), std::span(scratch), effort);
  } else {
    const auto before = [](const auto& a, const auto& b) { return a.pair->key < b.pair->key; };
    if constexpr (detail::holds_views<Key>()) {
      detail::heap_sort(refs, before);
    } else {
      std::ranges::sort(refs, before);
    }
    effort.compare_sorted(refs.size());
  }
  return effort;
}

// Used by jobs that count or add up words; compiled in runs.cpp.
extern template sort_effort sort_refs(std::vector<pair_ref<std::string_view, std::uint64_t>>&);

}  // namespace creek::mapreduce
