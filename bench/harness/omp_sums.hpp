// SPDX-License-Identifier: Apache-2.0
// A loop that fills an array of sums, over a share of the data per thread of OpenMP.
#pragma once
#include <omp.h>

#include "array_sums.hpp"

namespace bench {

/// Calls `add(share, sums)` on each thread and adds up their sums.
template <class Sums, class T, class Add>
sample omp_sums(const settings& s, const std::vector<T>& data, std::size_t unit, const Add& add) {
  return timed_sums(data, [&](std::span<const T> all) {
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
  });
}

}  // namespace bench
