// SPDX-License-Identifier: Apache-2.0
// Special values of a task stack's words.
#pragma once

#include <cstdint>
#include <limits>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/task_slot.hpp>

namespace creek::ext {

/// A floor above every slot: each join takes the slow path.
inline task_slot* const no_floor =
    reinterpret_cast<task_slot*>(std::numeric_limits<std::uintptr_t>::max() & ~std::uintptr_t{63});

/// Returns the limit at which a push takes the slow path with nothing else to be done: where a
/// worker sleeps, and where each push has to be announced, for the fast path announces nothing.
inline task_slot* resting_limit(bool armed, task_slot* first, task_slot* last) noexcept {
  return armed || sanitizer::needs_announcements() ? first : last;
}

}  // namespace creek::ext
