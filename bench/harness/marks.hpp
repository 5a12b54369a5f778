// SPDX-License-Identifier: Apache-2.0
// Proof that empty tasks ran, at the price of storing a byte per task and without a line that all
// workers write: each task marks its own slot; the run adds the marks up after the timed part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace bench {

class marks {
 public:
  explicit marks(std::int64_t n) : slots_(static_cast<std::size_t>(n)) {}

  /// Returns the slot of task `i`; each is written by one task, so no two workers race on it.
  std::uint8_t* slot(std::int64_t i) { return slots_.data() + i; }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (const auto mark : slots_) total += mark;
    return total;
  }

 private:
  std::vector<std::uint8_t> slots_;
};

/// The two tasks of SPC and BPC: only the mark, or about a microsecond of work. The barrier keeps
/// the compiler from turning the serial loop into one memset.
struct empty_task {
  void operator()(std::uint8_t* slot) const {
    *slot = 1;
    asm volatile("" : : "r"(slot) : "memory");
  }
};
struct busy_task {
  std::int64_t grain;
  void operator()(std::uint8_t* slot) const { *slot = static_cast<std::uint8_t>(busy(grain, 1)); }
};

}  // namespace bench
