// SPDX-License-Identifier: Apache-2.0
// The vectorised partition, compiled once for each instruction set that Highway knows.
//
// Eight vectors are lifted out of the range, four from either end. Then four vectors at a time are
// read at the end that has less free room and written, compressed, to both: after the read either
// end has room for four. At last the eight vectors fill what is free.
// Source: [Bramas 2017].
// Different here: four vectors per step, so that the unpredictable choice of the end
// is paid for by four.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "key_partition.cpp"
#include <hwy/foreach_target.h>
// The above includes this file again for each target; Highway itself comes after it.
#include <hwy/highway.h>

#include "key_partition.hpp"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace creek::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The free places of the range, and the writing of keys to them.
template <class D, bool OrEqual>
class partition_writer {
 public:
  using key = hn::TFromD<D>;
  using vector = hn::Vec<D>;

  partition_writer(D d, key* begin, key* end, key pivot)
      : d_(d), left_(begin), right_(end), pivot_(hn::Set(d, pivot)) {}

  HWY_INLINE void write(vector v) {
    const auto belongs_left = OrEqual ? hn::Not(hn::Lt(pivot_, v)) : hn::Lt(v, pivot_);
    const std::size_t lanes = hn::Lanes(d_);
    const std::size_t left_count = hn::CountTrue(d_, belongs_left);
    const auto packed = hn::Compress(v, belongs_left);
    hn::StoreU(packed, d_, left_);
    left_ += left_count;
    if constexpr (hn::CompressIsPartition<key>::value) {
      hn::StoreU(packed, d_, right_ - lanes);  // the others fill the upper lanes
      right_ -= lanes - left_count;
    } else {
      right_ -= lanes - left_count;
      hn::CompressBlendedStore(v, hn::Not(belongs_left), d_, right_);
    }
  }

  key* left() const { return left_; }
  key* right() const { return right_; }

 private:
  D d_;
  key* left_;
  key* right_;
  vector pivot_;
};

template <class Key, bool OrEqual>
HWY_INLINE bool belongs_left(Key key, Key pivot) {
  return OrEqual ? key <= pivot : key < pivot;
}

// Takes keys [done, count) into a partition of [0, done) with boundary `bound`.
template <class Key, bool OrEqual>
std::size_t append_keys(Key* keys, std::size_t bound, std::size_t done, std::size_t count,
                        Key pivot) {
  for (std::size_t i = done; i < count; ++i) {
    const Key key = keys[i];
    keys[i] = keys[bound];
    keys[bound] = key;
    bound += belongs_left<Key, OrEqual>(key, pivot);
  }
  return bound;
}

template <class Key, bool OrEqual>
std::size_t partition(Key* keys, std::size_t count, Key pivot) {
  const hn::ScalableTag<Key> d;
  const std::size_t lanes = hn::Lanes(d), step = 4 * lanes;
  if (count < 2 * step) return append_keys<Key, OrEqual>(keys, 0, 0, count, pivot);
  const std::size_t vectorised = count / step * step;
  const Key *read = keys + step, *read_end = keys + vectorised - step;
  const auto at = [&](const Key* from, std::size_t i) { return hn::LoadU(d, from + i * lanes); };
  const auto a0 = at(keys, 0), a1 = at(keys, 1), a2 = at(keys, 2), a3 = at(keys, 3);
  const auto z0 = at(read_end, 0), z1 = at(read_end, 1), z2 = at(read_end, 2), z3 = at(read_end, 3);
  partition_writer<decltype(d), OrEqual> out(d, keys, keys + vectorised, pivot);
  while (read != read_end) {
    const bool from_left = read - out.left() <= out.right() - read_end;
    const Key* from = from_left ? read : read_end - step;
    read += from_left ? step : 0;
    read_end -= from_left ? 0 : step;
    const auto v0 = at(from, 0), v1 = at(from, 1), v2 = at(from, 2), v3 = at(from, 3);
    out.write(v0), out.write(v1), out.write(v2), out.write(v3);
  }
  out.write(a0), out.write(a1), out.write(a2), out.write(a3);
  out.write(z0), out.write(z1), out.write(z2), out.write(z3);
  const auto bound = static_cast<std::size_t>(out.left() - keys);
  return append_keys<Key, OrEqual>(keys, bound, vectorised, count, pivot);
}

template <class Key>
std::size_t partition_either(Key* keys, std::size_t count, Key pivot, bool or_equal) {
  return or_equal ? partition<Key, true>(keys, count, pivot)
                  : partition<Key, false>(keys, count, pivot);
}

std::size_t partition_i16(std::int16_t* k, std::size_t n, std::int16_t p, bool e) {
  return partition_either(k, n, p, e);
}
std::size_t partition_u16(std::uint16_t* k, std::size_t n, std::uint16_t p, bool e) {
  return partition_either(k, n, p, e);
}
std::size_t partition_i32(std::int32_t* k, std::size_t n, std::int32_t p, bool e) {
  return partition_either(k, n, p, e);
}
std::size_t partition_u32(std::uint32_t* k, std::size_t n, std::uint32_t p, bool e) {
  return partition_either(k, n, p, e);
}
std::size_t partition_i64(std::int64_t* k, std::size_t n, std::int64_t p, bool e) {
  return partition_either(k, n, p, e);
}
std::size_t partition_u64(std::uint64_t* k, std::size_t n, std::uint64_t p, bool e) {
  return partition_either(k, n, p, e);
}

}  // namespace creek::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::detail {

HWY_EXPORT(partition_i16);
HWY_EXPORT(partition_u16);
HWY_EXPORT(partition_i32);
HWY_EXPORT(partition_u32);
HWY_EXPORT(partition_i64);
HWY_EXPORT(partition_u64);

std::size_t partition_keys(std::int16_t* keys, std::size_t count, std::int16_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_i16)(keys, count, pivot, or_equal);
}
std::size_t partition_keys(std::uint16_t* keys, std::size_t count, std::uint16_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_u16)(keys, count, pivot, or_equal);
}
std::size_t partition_keys(std::int32_t* keys, std::size_t count, std::int32_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_i32)(keys, count, pivot, or_equal);
}
std::size_t partition_keys(std::uint32_t* keys, std::size_t count, std::uint32_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_u32)(keys, count, pivot, or_equal);
}
std::size_t partition_keys(std::int64_t* keys, std::size_t count, std::int64_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_i64)(keys, count, pivot, or_equal);
}
std::size_t partition_keys(std::uint64_t* keys, std::size_t count, std::uint64_t pivot,
                           bool or_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(partition_u64)(keys, count, pivot, or_equal);
}

}  // namespace creek::detail
#endif
