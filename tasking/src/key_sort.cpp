// SPDX-License-Identifier: Apache-2.0
// Sorting of arithmetic keys: the parallel quicksort with a vectorised partition over Highway's
// VQSort. Source of the latter: [Blacher 2022].
//
// Floating-point keys are sorted as integers of the same order. VQSort's own order leaves open
// where NaNs go, and it may write one of several equal keys for another, that is turn -0.0 into
// 0.0.
#include <creek/tasking/detail/key_sort.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <type_traits>

#include <hwy/contrib/sort/vqsort.h>
#include <creek/tasking/detail/parallel_quick_sort.hpp>
#include <creek/tasking/detail/sequential_sort.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_reduce.hpp>

#include "key_partition.hpp"

namespace creek::detail {
namespace {

/// Chunk of the passes over all keys: 64 KiB to 512 KiB.
constexpr std::size_t pass_grain = 65536;

/// Returns the memory of `count` keys as integers. The move onto itself, which compiles to nothing,
/// makes objects of the new type in it.
template <class Key>
Key* as_keys(void* memory, std::size_t count) {
  return static_cast<Key*>(std::memmove(memory, memory, count * sizeof(Key)));
}

/// Ascending order of integers. Its leaves take a few 100 us: VQSort is the better the longer it
/// can go on.
template <class Key>
struct ascending_keys {
  static constexpr std::size_t leaf = 32768;

  static bool less(Key a, Key b) { return a < b; }
  Key* pivot(Key* first, Key* last) const { return choose_pivot(first, last, less, 5); }
  Key* partition(Key* first, Key* last, const Key* at, bool or_equal) const {
    return first + partition_keys(first, static_cast<std::size_t>(last - first), *at, or_equal);
  }
  void sort(Key* first, Key* last) const {
    // Below this VQSort would spend its time on fetching a seed.
    constexpr std::ptrdiff_t few = 128;
    if (last - first <= few) {
      auto compare = less;
      return sequential_sort(first, last, compare);
    }
    hwy::Sorter{}(first, static_cast<std::size_t>(last - first), hwy::SortAscending{});
  }
};

template <class Key>
void sort_ascending(Key* keys, std::size_t count) {
  auto less = ascending_keys<Key>::less;
  if (sorted_or_reversed(keys, keys + count, less)) return;
  const ascending_keys<Key> order;
  parallel_quick_sort<Key*, ascending_keys<Key>>(order).run(keys, keys + count);
}

template <class Key>
void reverse_keys(Key* keys, std::size_t count) {
  parallel_for_range(std::size_t{0}, count / 2,
                     [=](std::size_t lo, std::size_t hi) {
                       std::swap_ranges(keys + lo, keys + hi,
                                        std::make_reverse_iterator(keys + (count - lo)));
                     },
                     {.grain = pass_grain});
}

/// Equal integers cannot be told apart: descending is ascending turned around.
template <class Key>
void sort_integers(void* memory, std::size_t count, bool descending) {
  Key* const keys = as_keys<Key>(memory, count);
  sort_ascending(keys, count);
  if (descending) reverse_keys(keys, count);
}

/// The order-preserving map between the bits of a floating-point number and signed integers.
/// Negative numbers have their magnitude inverted; then all is rotated down until -inf is the least
/// integer, which carries the negative NaNs, which were below it, around to the top beside the
/// positive ones. For descending order the sign is flipped first, so that NaNs are at the top there
/// too.
template <class Bits>
struct float_order {
  static constexpr Bits sign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  static constexpr int mantissa_bits = sizeof(Bits) == 4 ? 23 : 52;
  static constexpr Bits rotation = (Bits{1} << mantissa_bits) - 1;
  Bits flip;  // `sign` for descending order, else 0

  static constexpr Bits invert_negative(Bits x) {
    return x ^ ((Bits{0} - (x >> (std::numeric_limits<Bits>::digits - 1))) & (sign - 1));
  }
  constexpr Bits encode(Bits x) const { return invert_negative(x ^ flip) - rotation; }
  constexpr Bits decode(Bits x) const { return invert_negative(x + rotation) ^ flip; }
};

/// Replaces each key by change(key), bits for bits.
template <class Bits, class Change>
void change_keys(std::make_signed_t<Bits>* keys, std::size_t count, Change change) {
  parallel_for(keys, keys + count,
               [change](std::make_signed_t<Bits>& key) {
                 key = static_cast<std::make_signed_t<Bits>>(change(static_cast<Bits>(key)));
               },
               {.grain = pass_grain});
}

template <class Bits>
void sort_floats(void* memory, std::size_t count, bool descending) {
  auto* const keys = as_keys<std::make_signed_t<Bits>>(memory, count);
  const float_order<Bits> order{descending ? float_order<Bits>::sign : Bits{0}};
  const auto decode = [order](Bits x) { return order.decode(x); };
  change_keys<Bits>(keys, count, [order](Bits x) { return order.encode(x); });
  try {
    sort_ascending(keys, count);
  } catch (...) {  // a fork that failed: encoded keys must not be left behind
    change_keys<Bits>(keys, count, decode);
    throw;
  }
  change_keys<Bits>(keys, count, decode);
}

/// Counts bytes, then writes the counted bytes out.
template <class Key>
void sort_bytes(void* memory, std::size_t count, bool descending) {
  using counts = std::array<std::size_t, 256>;
  Key* const keys = as_keys<Key>(memory, count);
  const counts many = parallel_reduce_range(
      keys, keys + count, counts{},
      [](const Key* lo, const Key* hi, counts sum) {
        for (; lo != hi; ++lo) ++sum[static_cast<std::uint8_t>(*lo)];
        return sum;
      },
      [](counts a, const counts& b) {
        std::ranges::transform(a, b, a.begin(), std::plus{});
        return a;
      },
      {.grain = pass_grain});
  Key* to = keys;
  for (int i = 0; i < 256; ++i) {
    const int rank = descending ? 255 - i : i;
    const auto key = static_cast<Key>(rank + std::numeric_limits<Key>::min());
    to = std::fill_n(to, many[static_cast<std::uint8_t>(key)], key);
  }
}

}  // namespace

void sort_keys(void* keys, std::size_t count, key_kind kind, bool descending) {
  switch (kind) {
    case key_kind::none:
      return;
    case key_kind::i8:
      return sort_bytes<std::int8_t>(keys, count, descending);
    case key_kind::u8:
      return sort_bytes<std::uint8_t>(keys, count, descending);
    case key_kind::i16:
      return sort_integers<std::int16_t>(keys, count, descending);
    case key_kind::u16:
      return sort_integers<std::uint16_t>(keys, count, descending);
    case key_kind::i32:
      return sort_integers<std::int32_t>(keys, count, descending);
    case key_kind::u32:
      return sort_integers<std::uint32_t>(keys, count, descending);
    case key_kind::i64:
      return sort_integers<std::int64_t>(keys, count, descending);
    case key_kind::u64:
      return sort_integers<std::uint64_t>(keys, count, descending);
    case key_kind::f32:
      return sort_floats<std::uint32_t>(keys, count, descending);
    case key_kind::f64:
      return sort_floats<std::uint64_t>(keys, count, descending);
  }
}

}  // namespace creek::detail
