// SPDX-License-Identifier: Apache-2.0
// A limit that takes long to read, read now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace creek::host_backend {

/// Remembers a number for `max_age`. One word, so that any thread may use it and a child of fork()
/// finds it whole; threads that find it too old at once read it each.
class recent_limit {
 public:
  static constexpr std::chrono::milliseconds max_age{100};

  /// Returns the number that `read()` gave at most `max_age` before `now`, a time of a clock that
  /// never goes back. The number fits 24 bits.
  template <class Read>
  unsigned get(std::chrono::nanoseconds now, Read read) {
    const auto at = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    const std::uint64_t known = word_.load(std::memory_order_relaxed);
    if (known != 0 && at - (known >> number_bits) < max_age.count()) {
      return static_cast<unsigned>(known & ((1U << number_bits) - 1));
    }
    const unsigned number = read();
    word_.store(at << number_bits | number, std::memory_order_relaxed);
    return number;
  }

 private:
  static constexpr unsigned number_bits = 24;
  std::atomic<std::uint64_t> word_{0};  ///< milliseconds, number; 0: not read yet
};

}  // namespace creek::host_backend
