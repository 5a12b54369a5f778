// SPDX-License-Identifier: Apache-2.0
// Merge sort of n pseudo-random 32-bit integers with parallel merges, as Cilk's [Frigo 1998]:
// halves sorted in parallel into the other buffer, merges split at the median of the longer run.
// Leaves of 512 elements. The peers differ in `fork`; the algorithm is written once here.
#pragma once
#include <algorithm>

#include "harness/integers.hpp"
#include "harness/workload.hpp"

namespace bench::mergesort {

inline constexpr description what{.name = "mergesort",
                                  .about = "merge sort with parallel merges, leaves of 512",
                                  .unit = "ns/element",
                                  .full = 4'000'000,
                                  .quick = 400'000,
                                  .smoke = 5000};

inline constexpr std::ptrdiff_t sort_leaf = 512;
inline constexpr std::ptrdiff_t merge_leaf = 2048;

using element = std::uint32_t;

template <class Fork>
void merge(const Fork& fork, const element* a, std::ptrdiff_t na, const element* b,
           std::ptrdiff_t nb, element* out) {
  if (na < nb) return merge(fork, b, nb, a, na, out);
  if (na + nb <= merge_leaf) {
    std::merge(a, a + na, b, b + nb, out);
    return;
  }
  const std::ptrdiff_t i = na / 2;
  const std::ptrdiff_t j = std::lower_bound(b, b + nb, a[i]) - b;
  fork([&] { merge(fork, a, i, b, j, out); },
       [&] { merge(fork, a + i, na - i, b + j, nb - j, out + i + j); });
}

/// Sorts `data`; the result ends up in `data`, or in `spare` if `into_spare`.
template <class Fork>
void sort(const Fork& fork, element* data, element* spare, std::ptrdiff_t n, bool into_spare) {
  if (n <= sort_leaf) {
    std::sort(data, data + n);
    if (into_spare) std::copy(data, data + n, spare);
    return;
  }
  const std::ptrdiff_t half = n / 2;
  fork([&] { sort(fork, data, spare, half, !into_spare); },
       [&] { sort(fork, data + half, spare + half, n - half, !into_spare); });
  const element* from = into_spare ? data : spare;
  merge(fork, from, half, from + half, n - half, into_spare ? spare : data);
}

/// Runs once: `enter(settings, f)` enters the runtime, `fork` forks there.
template <class Enter, class Fork>
sample run(const settings& s, const Enter& enter, const Fork& fork) {
  std::vector<element> data = random_integers(s.n);
  std::vector<element> spare(data.size());
  sample result{.work = static_cast<double>(s.n)};
  enter(s, [&] {
    result.total_ns = timed(
        [&] { sort(fork, data.data(), spare.data(), static_cast<std::ptrdiff_t>(s.n), false); });
  });
  result.answer = order_hash(data);
  return result;
}

}  // namespace bench::mergesort
