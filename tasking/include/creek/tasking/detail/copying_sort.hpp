// SPDX-License-Identifier: Apache-2.0
// The lower levels of the sorts for small plain values. Such values may be copied, so they are
// sorted through copies and without branches on what comparisons say: a range that fits in the
// cache is distributed over many buckets at once, and a few dozen elements are merged.
//
// The sort does not rely on the comparator. If it throws, the range still holds every element once,
// because copies replace the elements of the range only behind the last comparison. If it is no
// strict weak order, the ends of some merge do not meet, and the elements are sorted in another
// way. Sources: the tree of splitters is that of super scalar sample sort [Sanders 2004]; merging
// from both ends at once is that of driftsort [Bergdoll 2024].
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>

namespace creek::detail {

template <class It>
inline constexpr bool sorts_by_copies =
    std::contiguous_iterator<It>&& std::is_trivially_copyable_v<std::iter_value_t<It>>&&
        std::is_same_v<std::iter_reference_t<It>, std::iter_value_t<It>&> &&
    sizeof(std::iter_value_t<It>) <= 32;

/// Allocates raw memory for a buffer; null if that fails, or for no element.
template <class T>
class raw_buffer {
 public:
  explicit raw_buffer(std::size_t count) noexcept
      : data_(count == 0
                  ? nullptr
                  : static_cast<T*>(::operator new(count * sizeof(T), alignment, std::nothrow))) {}
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;
  ~raw_buffer() { ::operator delete(data_, alignment); }
  T* data() const noexcept { return data_; }

 private:
  static constexpr std::align_val_t alignment{std::max<std::size_t>(alignof(T), 64)};
  T* data_;
};

template <class T>
void copy_elements(const T* from, std::size_t count, T* to) noexcept {
  std::memmove(static_cast<void*>(to), from, count * sizeof(T));
}
template <class T>
[[gnu::always_inline]] inline void copy_element(const T* from, T* to) noexcept {
  std::memcpy(static_cast<void*>(to), from, sizeof(T));
}

/// Returns `first` ? a : b. Compilers make a branch of that where they guess that it pays.
[[gnu::always_inline]] inline std::size_t select(bool first, std::size_t a,
                                                 std::size_t b) noexcept {
  return b ^ ((a ^ b) & (std::size_t{0} - std::size_t{first}));
}

template <class T, class Compare>
[[gnu::always_inline]] inline void sort_four(const T* from, T* to, Compare& less) {
  const std::size_t a = static_cast<bool>(less(from[1], from[0]));  // a before b, c before d
  const std::size_t b = 1 - a;
  const std::size_t c = 2 + std::size_t{static_cast<bool>(less(from[3], from[2]))};
  const std::size_t d = 5 - c;
  const bool c_first = less(from[c], from[a]);
  const bool b_last = less(from[d], from[b]);
  const std::size_t left = select(c_first, a, select(b_last, c, b));  // the other two
  const std::size_t right = select(b_last, d, select(c_first, b, c));
  const bool swapped = less(from[right], from[left]);
  detail::copy_element(from + select(c_first, c, a), to);
  detail::copy_element(from + select(swapped, right, left), to + 1);
  detail::copy_element(from + select(swapped, left, right), to + 2);
  detail::copy_element(from + select(b_last, b, d), to + 3);
}

/// Copies up to four elements in order. Stable.
template <class T, class Compare>
[[gnu::always_inline]] inline void sort_up_to_four(const T* from, std::size_t count, T* to,
                                                   Compare& less) {
  if (count == 4) return detail::sort_four(from, to, less);
  if (count < 2) return detail::copy_elements(from, count, to);
  const std::size_t a = static_cast<bool>(less(from[1], from[0]));  // a before b
  const std::size_t b = 1 - a;
  if (count == 2) {
    detail::copy_element(from + a, to);
    return detail::copy_element(from + b, to + 1);
  }
  const bool before_b = less(from[2], from[b]);
  const bool before_a = less(from[2], from[a]);
  const std::size_t middle = select(before_b, 2, b);
  detail::copy_element(from + select(before_a, middle, a), to);
  detail::copy_element(from + select(before_a, a, middle), to + 1);
  detail::copy_element(from + select(before_b, b, 2), to + 2);
}

/// Merges the `left` elements at `from` with the `right` ones behind them, whose number differs by
/// one at most, from both ends at once: two chains of dependent loads in place of one. Stable.
/// Returns false if the ends have not met, because `less` is no strict weak order; it may have read
/// one element past the input then.
template <class T, class Compare>
[[nodiscard, gnu::always_inline]] inline bool merge_halves(const T* from, std::size_t left,
                                                           std::size_t right, T* to,
                                                           Compare& less) {
  const T* a = from;
  const T* b = from + left;
  const T* a_end = b;
  const T* b_end = b + right;
  T* to_end = to + left + right;
  for (std::size_t i = std::min(left, right); i > 0; --i) {
    const bool b_first = less(*b, *a);
    detail::copy_element(b_first ? b : a, to++);
    a += !b_first;
    b += b_first;
    const bool a_last = less(b_end[-1], a_end[-1]);
    detail::copy_element((a_last ? a_end : b_end) - 1, --to_end);
    a_end -= a_last;
    b_end -= !a_last;
  }
  if (left != right) {
    const bool of_a = a < a_end;
    detail::copy_element(of_a ? a : b, to);
    a += of_a;
    b += !of_a;
  }
  return a == a_end && b == b_end;
}

inline constexpr std::size_t max_merged = 64;

/// Copies up to `max_merged` elements in order to `to`, which may be `from`. Stable. Returns false
/// without having written if `less` is no order.
template <class T, class Compare>
[[nodiscard, gnu::noinline]] bool merge_few(const T* from, std::size_t count, T* to,
                                            Compare& less) {
  alignas(T) std::byte memory[2][max_merged * sizeof(T)];
  T* sorted = reinterpret_cast<T*>(memory[0]);
  T* merged = reinterpret_cast<T*>(memory[1]);
  int level = 0;
  while (count > std::size_t{4} << level) ++level;
  const auto begin_of = [&](std::size_t part) { return (part * count) >> level; };
  for (std::size_t part = 0; part < std::size_t{1} << level; ++part) {
    const std::size_t begin = begin_of(part);
    detail::sort_up_to_four(from + begin, begin_of(part + 1) - begin, sorted + begin, less);
  }
  for (; level > 0; --level) {
    for (std::size_t part = 0; part < std::size_t{1} << level; part += 2) {
      const std::size_t begin = begin_of(part), middle = begin_of(part + 1);
      if (!detail::merge_halves(sorted + begin, middle - begin, begin_of(part + 2) - middle,
                                merged + begin, less)) {
        return false;
      }
    }
    std::swap(sorted, merged);
  }
  detail::copy_elements(sorted, count, to);
  return true;
}

/// Sorts ranges of some thousand elements: one step in place of up to eight of quicksort.
template <class T, class Compare>
class bucket_sort {
 public:
  /// For ranges of up to `longest` elements. Allocates up to some 280 KiB.
  bucket_sort(std::size_t longest, Compare& less)
      : room_(longest < min_count ? 0 : std::min(longest, max_count)),
        elements_(room_ == 0 ? 0 : room_ + max_buckets),
        bucket_of_(room_),
        less_(less) {}

  /// Sorts a range and returns true; or returns false if it is too long or too short or memory is
  /// missing. sort(first, last) sorts a sample, and a bucket that is large.
  template <class Sort>
  bool operator()(T* first, T* last, Sort sort) {
    const auto count = static_cast<std::size_t>(last - first);
    if (count < min_count || count > room_) return false;
    if (elements_.data() == nullptr || bucket_of_.data() == nullptr) return false;
    levels_ = std::bit_width(std::min(max_buckets, count / mean_bucket)) - 1;
    choose_splitters(first, count, sort);
    ends_.fill(0);
    classify(first, count);
    distribute(first, count);
    sort_buckets(first, count, sort);
    return true;
  }

 private:
  static constexpr std::size_t max_buckets = 256;
  static constexpr std::size_t mean_bucket = 32;
  static constexpr std::size_t sampled_per_bucket = 2;
  static constexpr std::size_t min_count = 512;
  static constexpr std::size_t max_count =
      std::min<std::size_t>(16384, (std::size_t{256} << 10) / sizeof(T));

  std::size_t buckets() const noexcept { return std::size_t{1} << levels_; }
  T* tree() const noexcept { return elements_.data() + room_; }

  /// Builds the tree: node i has the children 2i and 2i + 1, node 1 is the root.
  template <class Sort>
  void choose_splitters(const T* range, std::size_t count, Sort& sort) {
    T* const sample = elements_.data();
    const std::size_t sampled = buckets() * sampled_per_bucket - 1;
    std::uint64_t random = count;
    for (std::size_t i = 0; i < sampled; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      detail::copy_element(range + (((random >> 32) * count) >> 32), sample + i);
    }
    sort(sample, sample + sampled);
    for (std::size_t node = 1; node < buckets(); ++node) {
      const int depth = std::bit_width(node) - 1;
      const std::size_t in_row = node - (std::size_t{1} << depth);
      const std::size_t splitter = (2 * in_row + 1) << (levels_ - depth - 1);
      detail::copy_element(sample + splitter * sampled_per_bucket - 1, tree() + node);
    }
  }

  /// Finds the bucket of each element, and counts. Eight elements go down the tree side by side:
  /// one alone would wait for a load at each level.
  void classify(const T* range, std::size_t count) {
    constexpr std::size_t width = 8;
    const T* const end = range + count;
    std::uint8_t* out = bucket_of_.data();
    for (; end - range >= static_cast<std::ptrdiff_t>(width); range += width) {
      std::array<std::size_t, width> nodes;
      nodes.fill(1);
      for (int level = levels_; level > 0; --level) {
        for (std::size_t i = 0; i < width; ++i) nodes[i] = child_of(nodes[i], range[i]);
      }
      for (const std::size_t node : nodes) *out++ = counted(node - buckets());
    }
    for (; range != end; ++range) {
      std::size_t node = 1;
      for (int level = levels_; level > 0; --level) node = child_of(node, *range);
      *out++ = counted(node - buckets());
    }
  }
  std::size_t child_of(std::size_t node, const T& element) {
    return 2 * node + std::size_t{static_cast<bool>(less_(tree()[node], element))};
  }
  std::uint8_t counted(std::size_t bucket) noexcept {
    ++ends_[bucket];
    return static_cast<std::uint8_t>(bucket);
  }

  /// Copies the elements to their buckets.
  void distribute(const T* range, std::size_t count) noexcept {
    std::uint32_t begin = 0;
    for (std::uint32_t& end : ends_) begin += std::exchange(end, begin);
    const std::uint8_t* const bucket_of = bucket_of_.data();
    for (std::size_t i = 0; i < count; ++i) {
      detail::copy_element(range + i, elements_.data() + ends_[bucket_of[i]]++);
    }
  }

  /// Sorts the buckets back to the range; if `less` throws, copies the others as they are.
  template <class Sort>
  void sort_buckets(T* range, std::size_t count, Sort& sort) {
    struct remainder {
      ~remainder() { detail::copy_elements(from + begin, count - begin, to + begin); }
      const T* from;
      T* to;
      std::size_t count;
      std::size_t begin = 0;
    } left{elements_.data(), range, count};
    for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
      const T* const from = left.from + left.begin;
      T* const to = range + left.begin;
      const std::size_t size = ends_[bucket] - left.begin;
      const bool merged = size <= max_merged && detail::merge_few(from, size, to, less_);
      if (!merged) detail::copy_elements(from, size, to);
      left.begin += size;
      if (!merged) sort(to, to + size);
    }
  }

  const std::size_t room_;
  const raw_buffer<T> elements_;  ///< the tree of splitters behind `room_` elements
  const raw_buffer<std::uint8_t> bucket_of_;
  Compare& less_;
  int levels_ = 0;
  std::array<std::uint32_t, max_buckets> ends_;
};

}  // namespace creek::detail
