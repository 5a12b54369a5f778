// SPDX-License-Identifier: Apache-2.0
// The deque of work sharing, from which all workers take and into which all put.
#pragma once

#include <cstddef>

#include "task_memory.hpp"

namespace creek::scc_backend {

/// Lies in the master's memory, laid out as a lock_deque; both ends change under the lock of the
/// master's core.
class shared_task_deque {
 public:
  static constexpr std::size_t slot_bytes = task_deque::slot_bytes;

  shared_task_deque(core_id owner, mpm_ptr<std::byte> place, std::size_t capacity) noexcept
      : head_{place.as<word>()},
        tail_{(place + memory::line_bytes).as<word>()},
        slots_{place + 2 * memory::line_bytes},
        capacity_{static_cast<word>(capacity)},
        owner_{owner} {}

  void reset(task_memory& memory) const {
    memory.store(head_, 0);
    memory.store(tail_, 0);
  }
  /// Inserts the newest task. Any core. Returns false if full, which may cost two loads only.
  [[nodiscard]] bool put(task_memory& memory, const task_record& task) const;
  /// Takes the oldest task. Any core. Returns `lost` if the lock was not free.
  [[nodiscard]] steal_result take(task_memory& memory, task_record& task) const;

 private:
  [[nodiscard]] word size(word head, word tail) const noexcept { return tail - head; }
  [[nodiscard]] mpm_ptr<std::byte> slot(word position) const noexcept {
    return slots_ + static_cast<std::ptrdiff_t>(position % capacity_ * slot_bytes);
  }

  // Positions only grow; the slot is the remainder of the position.
  mpm_ptr<word> head_;
  mpm_ptr<word> tail_;
  mpm_ptr<std::byte> slots_;
  word capacity_;
  core_id owner_;
};

}  // namespace creek::scc_backend
