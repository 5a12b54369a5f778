// SPDX-License-Identifier: Apache-2.0
// Strips that a range is cut into, of equal lengths but for one element.
#pragma once

#include <algorithm>
#include <iterator>

#include <creek/tasking/this_worker.hpp>

namespace creek::detail {

/// Maximum number of strips; bounds the frames of their users to 3 KB.
inline constexpr int max_strips = 64;

/// Returns into how many strips a range of `count` elements is worth cutting, of up to `per_worker`
/// for each worker: 1 if it is not.
template <class Difference>
int strip_count(Difference count, int per_worker) {
  constexpr int min_strip = 4096;  // elements; an estimate
  const auto workers = static_cast<int>(worker_count());
  if (workers == 1) return 1;
  return static_cast<int>(
      std::clamp<Difference>(count / min_strip, 1, std::min(per_worker * workers, max_strips)));
}

/// Returns where strip `i` of `strips` begins, or the end if `i` is `strips`.
template <class It>
It strip_begin(It first, It last, int strips, int i) {
  const auto count = last - first;
  return first + count / strips * i + std::min<std::iter_difference_t<It>>(i, count % strips);
}

}  // namespace creek::detail
