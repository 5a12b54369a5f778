// SPDX-License-Identifier: Apache-2.0
// Work of a task runtime that is not done.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tasks/messages/outside_work.hpp"

namespace creek::scc_backend {

/// Counts what keeps the simulation going; of the driver. `active` is raised before others can find
/// the work, and lowered after it has run, so the simulation never rests while something is left.
struct pending_work {
  std::uint64_t active = 0;     ///< tasks in a deque or running, messages under way, ready strands
  std::uint64_t queued = 0;     ///< tasks in deques that others take from
  std::uint64_t suspended = 0;  ///< strands that wait
  bool finished = false;        ///< the runtime has ended: nothing can come

  // From outside; the first core begins and sends them.
  std::deque<ext::submitted_task*> arrived;  ///< not begun
  std::vector<ext::submitted_task*> roots;   ///< not ended
  std::deque<outside_message> messages;      ///< not sent
};

}  // namespace creek::scc_backend
