// SPDX-License-Identifier: Apache-2.0
// The deque of work sharing: both ends under one lock.
#include "shared_task_deque.hpp"

namespace creek::scc_backend {

bool shared_task_deque::put(task_memory& memory, const task_record& task) const {
  if (size(memory.load(head_), memory.load(tail_)) >= capacity_) return false;
  memory.lock(owner_);
  const word tail = memory.load(tail_);
  const bool room = size(memory.load(head_), tail) < capacity_;
  if (room) {
    memory.write(slot(tail), &task, sizeof task);
    memory.flush();
    memory.store(tail_, tail + 1);
  }
  memory.clear(owner_);
  return room;
}

steal_result shared_task_deque::take(task_memory& memory, task_record& task) const {
  if (memory.load(head_) == memory.load(tail_)) return steal_result::empty;
  if (!memory.test_and_set(owner_)) return steal_result::lost;
  const word head = memory.load(head_);
  const bool found = head != memory.load(tail_);
  if (found) {
    memory.invalidate();
    memory.read(&task, slot(head), sizeof task);
    memory.store(head_, head + 1);
  }
  memory.clear(owner_);
  return found ? steal_result::taken : steal_result::empty;
}

}  // namespace creek::scc_backend
