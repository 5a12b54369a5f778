// SPDX-License-Identifier: Apache-2.0
// A loop that fills an array of sums, over a share of the data per thread of OpenMP.
#pragma once
#include <omp.h>

#include "array_sums.hpp"

namespace bench {

/// Calls `add(share, sums)` on each thread and returns the sums of all.
template <class Sums, class T, class Add>
Sums omp_sums(const settings& s, std::span<const T> all, std::size_t unit, const Add& add) {
  Sums whole{};
#pragma omp parallel num_threads(s.workers)
  {
    Sums own{};
    add(share_of(all, unit, static_cast<unsigned>(omp_get_thread_num()),
                 static_cast<unsigned>(omp_get_num_threads())),
        own);
#pragma omp critical
    for (std::size_t k = 0; k < whole.size(); ++k) whole[k] += own[k];
  }
  return whole;
}

}  // namespace bench
