// SPDX-License-Identifier: Apache-2.0
// The library's own parallel sort of n pseudo-random 32-bit integers (not stable).
#pragma once
#include "harness/integers.hpp"
#include "harness/workload.hpp"

namespace bench::parallel_sort {

inline constexpr description what{.name = "parallel_sort",
                                  .about = "the library's parallel sort of random integers",
                                  .unit = "ns/element",
                                  .full = 10'000'000,
                                  .quick = 1'000'000,
                                  .smoke = 5000};

/// Runs `sort(data)` once.
template <class Sort>
sample run(const settings& s, const Sort& sort) {
  std::vector<std::uint32_t> data = random_integers(s.n);
  const double ns = timed([&] { sort(data); });
  return {ns, static_cast<double>(s.n), order_hash(data)};
}

}  // namespace bench::parallel_sort
