// SPDX-License-Identifier: Apache-2.0
// n items through a pipeline whose middle stage works on several at once, for 1 to 100 us each; the
// sink gets them in order. The figure is the time per item; the answer is a digest of their order.
#pragma once
#include "harness/workload.hpp"

namespace bench::uneven_stage {

inline constexpr description what{.name = "stream_uneven",
                                  .about = "items through a parallel stage of 1-100 us, in order",
                                  .unit = "us/item",
                                  .full = 20'000,
                                  .quick = 2'000,
                                  .smoke = 50,
                                  .scale = 1e-3,
                                  .groups = "stream"};

/// Items on their way at once.
inline constexpr std::size_t max_items = 64;

/// Returns how long the work on an item takes, in us: the same for all peers.
inline std::int64_t microseconds_of(std::uint64_t item) {
  return static_cast<std::int64_t>(1 + (item * 0x9e3779b97f4a7c15u >> 40) % 100);
}

/// The work on an item.
inline std::uint64_t work_on(const settings& s, std::uint64_t item) {
  return busy(s.grain * microseconds_of(item), item);
}

/// Returns the digest with the next item.
inline std::uint64_t with(std::uint64_t digest, std::uint64_t item) {
  return (digest ^ item) * 0x9e3779b97f4a7c15u;
}

}  // namespace bench::uneven_stage
