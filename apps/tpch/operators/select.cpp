// SPDX-License-Identifier: Apache-2.0
// A word of a mask is 64 rows: one vector of bytes with 512-bit registers, two with 256-bit
// registers and so on. The last word of a column reads into the slack behind it (buffer.hpp); the
// mask has zeros for the bits that this makes.
#include "select.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tpch/operators/select.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::tpch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the bits of a vector's mask. Reads them back in the size in which they were stored: a
/// wider load would have to wait for the store to reach the cache.
template <class Bits, class D, class Mask>
HWY_INLINE std::uint64_t mask_bits(D d, Mask mask) {
  std::uint8_t part[8] = {};
  hn::StoreMaskBits(d, mask, part);
  Bits bits;
  std::memcpy(&bits, part, sizeof bits);
  return bits;
}

/// Returns 64 rows of `compare(d, i)`, which returns the mask of the vector at element i.
template <class T, class Compare>
HWY_INLINE std::uint64_t compare_word(std::size_t first, Compare&& compare) {
  const hn::CappedTag<T, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 64; i += lanes) {
    const auto mask = compare(d, first + i);
    const std::uint64_t word = lanes == 64   ? mask_bits<std::uint64_t>(d, mask)
                               : lanes == 32 ? mask_bits<std::uint32_t>(d, mask)
                               : lanes == 16 ? mask_bits<std::uint16_t>(d, mask)
                                             : mask_bits<std::uint8_t>(d, mask);
    bits |= word << i;
  }
  return bits;
}

template <class T>
void between(const T* codes, std::size_t words, T low, T span, std::uint64_t* mask) {
  const hn::CappedTag<T, 64> any;
  const auto from = hn::Set(any, low);
  const auto width = hn::Set(any, span);
  for (std::size_t w = 0; w < words; ++w) {
    mask[w] &= compare_word<T>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
      // One comparison for both ends: codes below `low` wrap round to above the span.
      return hn::Not(hn::Lt(width, hn::Sub(hn::LoadU(d, codes + i), from)));
    });
  }
}

template <class T>
void either(const T* codes, std::size_t words, T one, T other, std::uint64_t* mask) {
  const hn::CappedTag<T, 64> any;
  const auto a = hn::Set(any, one), b = hn::Set(any, other);
  for (std::size_t w = 0; w < words; ++w) {
    mask[w] &= compare_word<T>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
      const auto code = hn::LoadU(d, codes + i);
      return hn::Or(hn::Eq(code, a), hn::Eq(code, b));
    });
  }
}

/// Compares left + left_shift < right + right_shift, where neither sum overflows.
template <class T>
void less(const T* left, T left_shift, const T* right, T right_shift, std::size_t words,
          std::uint64_t* mask) {
  const hn::CappedTag<T, 64> any;
  const auto a = hn::Set(any, left_shift), b = hn::Set(any, right_shift);
  for (std::size_t w = 0; w < words; ++w) {
    if (mask[w] == 0) continue;
    mask[w] &= compare_word<T>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
      return hn::Lt(hn::Add(hn::LoadU(d, left + i), a), hn::Add(hn::LoadU(d, right + i), b));
    });
  }
}

/// Loads codes of up to 32 bits and widens them.
template <class T, class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const T* codes) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, codes);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), codes));
  }
}

/// Looks up keys of up to 32 bits in a set given as a bitmap: bit `key + shift`, none at or beyond
/// `range`. Consecutive keys of a table are often close: if their bits are in one vector of the
/// bitmap, from the first key's word on, they are taken from there without a gather.
template <class T>
void members(const T* keys, std::size_t words, const std::uint32_t* bitmap, std::uint32_t shift,
             std::uint32_t range, std::uint64_t* mask) {
  const hn::CappedTag<std::uint32_t, 64> any;
  const hn::RebindToSigned<decltype(any)> index;
  const auto offset = hn::Set(any, shift), end = hn::Set(any, range);
  const auto lanes = hn::Set(any, static_cast<std::uint32_t>(hn::Lanes(any)));
  const auto last = hn::Set(any, range - 1), low = hn::Set(any, 31u), one = hn::Set(any, 1u);
  for (std::size_t w = 0; w < words; ++w) {
    if (mask[w] == 0) continue;
    mask[w] &= compare_word<std::uint32_t>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
      const auto at = hn::Add(load_wide(d, keys + i), offset);
      const auto inside = hn::Min(at, last);  // so that only the bitmap is read
      const auto word = hn::ShiftRight<5>(inside);
      const std::uint32_t* const near = bitmap + hn::GetLane(word);
      const auto ahead = hn::Sub(word, hn::Set(d, hn::GetLane(word)));
      const auto bits = hn::AllTrue(d, hn::Lt(ahead, lanes))
                            ? hn::TableLookupLanes(hn::LoadU(d, near), hn::IndicesFromVec(d, ahead))
                            : hn::GatherIndex(d, bitmap, hn::BitCast(index, word));
      const auto bit = hn::And(hn::Shr(bits, hn::And(inside, low)), one);
      return hn::And(hn::Eq(bit, one), hn::Lt(at, end));
    });
  }
}

/// Removes rows that are equal to the next row; returns whether one is greater than the next. Also
/// reads the value after the last row.
template <class T>
bool differ_from_next(const T* codes, std::size_t words, std::uint64_t* mask) {
  std::uint64_t falls = 0;
  for (std::size_t w = 0; w < words; ++w) {
    falls |= mask[w] & compare_word<T>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
               return hn::Lt(hn::LoadU(d, codes + i + 1), hn::LoadU(d, codes + i));
             });
    mask[w] &= compare_word<T>(64 * w, [&](auto d, std::size_t i) HWY_ATTR {
      return hn::Ne(hn::LoadU(d, codes + i + 1), hn::LoadU(d, codes + i));
    });
  }
  return falls != 0;
}

template <class T>
void between_as(const packed& column, const row_block& block, code_range range, row_mask& mask) {
  between(column.as<T>() + block.first, block.words(), static_cast<T>(range.low),
          static_cast<T>(range.high - range.low), mask.words);
}

void between_any(const packed& column, const row_block& block, code_range range, row_mask& mask) {
  switch (column.width) {
    case 1:
      return between_as<std::uint8_t>(column, block, range, mask);
    case 2:
      return between_as<std::uint16_t>(column, block, range, mask);
    case 4:
      return between_as<std::uint32_t>(column, block, range, mask);
    default:
      return between_as<std::uint64_t>(column, block, range, mask);
  }
}

bool differ_from_next_any(const packed& column, const row_block& block, std::uint64_t* mask) {
  return with_width(column.width, [&](auto zero) {
    return differ_from_next(column.as<decltype(zero)>() + block.first, block.words(), mask);
  });
}

void members_any(const packed& column, const row_block& block, const std::uint32_t* bitmap,
                 std::uint32_t shift, std::uint32_t range, std::uint64_t* mask) {
  const std::size_t first = block.first, words = block.words();
  switch (column.width) {
    case 1:
      return members(column.as<std::uint8_t>() + first, words, bitmap, shift, range, mask);
    case 2:
      return members(column.as<std::uint16_t>() + first, words, bitmap, shift, range, mask);
    default:
      return members(column.as<std::uint32_t>() + first, words, bitmap, shift, range, mask);
  }
}

void either_bytes(const std::uint8_t* codes, std::size_t words, std::uint8_t one,
                  std::uint8_t other, std::uint64_t* mask) {
  either(codes, words, one, other, mask);
}

void less_shorts(const std::uint16_t* left, std::uint16_t left_shift, const std::uint16_t* right,
                 std::uint16_t right_shift, std::size_t words, std::uint64_t* mask) {
  less(left, left_shift, right, right_shift, words, mask);
}

}  // namespace creek::tpch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::tpch {

HWY_EXPORT(between_any);
HWY_EXPORT(either_bytes);
HWY_EXPORT(less_shorts);
HWY_EXPORT(differ_from_next_any);
HWY_EXPORT(members_any);

code_range codes_between(const packed& column, std::int64_t low, std::int64_t high) noexcept {
  __extension__ using int128 = __int128;
  const int128 factor = column.factor;
  const int128 from = int128{low} - column.base, to = int128{high} - column.base;
  if (to < 0 || to < from) return {};
  const int128 first = from <= 0 ? 0 : (from + factor - 1) / factor;
  if (first > column.last_code) return {};
  const int128 last = std::min<int128>(to / factor, column.last_code);
  return {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last)};
}

void keep_between(const packed& column, const row_block& block, code_range range,
                  row_mask& mask) noexcept {
  if (range.low > range.high) {
    std::fill(mask.words, mask.words + block.words(), 0);
  } else if (range.low > 0 || range.high < column.last_code) {
    HWY_DYNAMIC_DISPATCH(between_any)(column, block, range, mask);
  }
}

void keep_either(const packed& column, const row_block& block, std::uint64_t one,
                 std::uint64_t other, row_mask& mask) noexcept {
  if (column.width == 1) {
    HWY_DYNAMIC_DISPATCH(either_bytes)
    (column.as<std::uint8_t>() + block.first, block.words(), static_cast<std::uint8_t>(one),
     static_cast<std::uint8_t>(other), mask.words);
  } else {
    keep_if(block, mask, [&](std::size_t row) {
      const std::uint64_t code = column.code(row);
      return code == one || code == other;
    });
  }
}

void keep_less(const packed& left, const packed& right, const row_block& block,
               row_mask& mask) noexcept {
  __extension__ using int128 = __int128;
  const std::int64_t base = std::min(left.base, right.base);
  const auto greatest = std::max(left.greatest(), right.greatest());
  const bool shorts = left.width == 2 && right.width == 2 && left.factor == 1 && right.factor == 1;
  if (shorts && int128{greatest} - base <= 0xffff) {
    HWY_DYNAMIC_DISPATCH(less_shorts)
    (left.as<std::uint16_t>() + block.first, static_cast<std::uint16_t>(left.base - base),
     right.as<std::uint16_t>() + block.first, static_cast<std::uint16_t>(right.base - base),
     block.words(), mask.words);
  } else {
    keep_if(block, mask, [&](std::size_t row) { return left.value(row) < right.value(row); });
  }
}

bool keep_run_ends(const packed& column, const row_block& block, row_mask& mask) noexcept {
  // The last row of the table has no next one, and the slack there holds no value.
  const bool ends = block.first + block.rows == column.size;
  const std::size_t last = block.rows - 1;
  std::uint64_t& word = mask.words[last / 64];
  const std::uint64_t bit = std::uint64_t{1} << last % 64;
  if (ends) word &= ~bit;
  if (HWY_DYNAMIC_DISPATCH(differ_from_next_any)(column, block, mask.words)) return false;
  if (ends) word |= bit;
  return true;
}

void keep_members(const packed& column, const row_block& block, const key_index& keys,
                  row_mask& mask) noexcept {
  const key_index::bitmap set = keys.as_bitmap();
  if (set.range != 0 && set.bits == nullptr) {
    const auto least = static_cast<std::int64_t>(set.least);
    const auto greatest = static_cast<std::int64_t>(set.least + (set.range - 1));
    return keep_between(column, block, codes_between(column, least, greatest), mask);
  }
  const auto shift = static_cast<std::uint64_t>(column.base) - set.least;
  // Here code + shift is above -2^31 and below 2^32: in 32 bits, a negative sum wraps round to 2^31
  // or more, which is also outside the range.
  constexpr std::uint64_t half = std::uint64_t{1} << 31;
  const bool shorts =
      set.range < half && column.last_code < half && (shift < half || -shift < half);
  if (column.width <= 4 && column.factor == 1 && set.range != 0 && shorts) {
    HWY_DYNAMIC_DISPATCH(members_any)
    (column, block, set.bits, static_cast<std::uint32_t>(shift),
     static_cast<std::uint32_t>(set.range), mask.words);
  } else {
    keep_if(block, mask,
            [&](std::size_t row) { return keys.find(column.value(row)) != key_index::absent; });
  }
}

}  // namespace creek::tpch
#endif
