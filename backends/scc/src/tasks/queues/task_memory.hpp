// SPDX-License-Identifier: Apache-2.0
// A worker's message-passing memory: a word by which others signal that something it waits for has
// happened, its deque, and the rest for counters of children and for results.
// Source: the task-parallel runtime for the SCC [Prell 2011] (docs/scc/machine.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include <creek/scc/memory.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/lock_deque.hpp>

namespace creek::scc_backend {

struct forked_branch;

/// A task as it lies in a deque and moves from core to core: 144 bytes, so that ten of them with
/// the deque's two words take 1504 bytes before rounding to lines [Prell 2011]. The closure itself
/// stays in host memory, as state of the simulation; `closure` is moved in its place.
struct task_record {
  ext::submitted_task* task = nullptr;
  forked_branch* branch = nullptr;  ///< instead of `task`: the second half of a fork
  std::byte closure[128] = {};
};
static_assert(sizeof(task_record) == 144);

/// The memory of a worker's core; counts how often a lock was not free.
class task_memory : public memory {
 public:
  task_memory(machine& on, core_id self, std::uint64_t& lock_waits) noexcept
      : memory(on, self), lock_waits_(&lock_waits) {}

  [[nodiscard]] bool test_and_set(core_id id) const {
    if (memory::test_and_set(id)) return true;
    ++*lock_waits_;
    return false;
  }
  /// Waits for the lock of `id`; backs off as the deque does.
  void lock(core_id id) const {
    for (std::int64_t gap = 32; !test_and_set(id); gap = gap < 4096 ? 2 * gap : gap) {
      pause(cycles{gap});
    }
  }

 private:
  std::uint64_t* lock_waits_;
};
static_assert(memory_policy<task_memory>);

using task_deque = lock_deque<task_memory, task_record>;

}  // namespace creek::scc_backend
