// SPDX-License-Identifier: Apache-2.0
// The owner's end of a deque alone: 64 pushes, then 64 pops, by one thread, no thief. n is the
// number of pushes. `deque` is each library's default; `deque_mpb` is creek's lock-based deque for
// message-passing memory.
#pragma once
#include "harness/workload.hpp"

namespace bench::deque {

inline constexpr description what{.name = "deque",
                                  .about = "push and pop at the owner's end, no thief",
                                  .unit = "ns/pair",
                                  .full = 6'400'000,
                                  .quick = 640'000,
                                  .smoke = 640};
inline constexpr description mpb{
    .name = "deque_mpb",
    .about = "the same on the lock-based deque for message-passing memory",
    .unit = "ns/pair",
    .full = 6'400'000,
    .quick = 640'000,
    .smoke = 640};

inline constexpr std::int64_t burst = 64;

/// Runs `push(value)` and `pop() -> value` once, in bursts.
template <class Push, class Pop>
sample run(const settings& s, const Push& push, const Pop& pop) {
  std::uint64_t sum = 0;
  const double ns = timed([&] {
    for (std::int64_t i = 0; i < s.n; i += burst) {
      for (std::int64_t k = 0; k < burst; ++k) push(static_cast<std::uint64_t>(i + k));
      for (std::int64_t k = 0; k < burst; ++k) sum += pop();
    }
  });
  return {ns, static_cast<double>(s.n), sum};
}

}  // namespace bench::deque
