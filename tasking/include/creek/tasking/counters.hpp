// SPDX-License-Identifier: Apache-2.0
// What every backend counts.
#pragma once

#include <cstdint>

namespace creek {

/// Sums over the workers of a runtime. Forks that no thief took cost nothing and are not counted.
struct tasking_counters {
  std::uint64_t tasks = 0;          ///< tasks that a worker's loop ran: stolen, submitted, its own
  std::uint64_t steals_tried = 0;   ///< looks into another worker's deque
  std::uint64_t steals_won = 0;     ///< tasks taken there
  std::uint64_t inline_runs = 0;    ///< tasks run at once because the deque was full
  std::uint64_t suspensions = 0;    ///< waits that gave their stack up
  std::uint64_t parks = 0;          ///< sleeps in the kernel
  std::uint64_t wakes = 0;          ///< workers woken because a task was ready
  std::uint64_t forced_shares = 0;  ///< thieves that did not wait for the owner's answer
};

}  // namespace creek
