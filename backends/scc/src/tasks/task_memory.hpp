// SPDX-License-Identifier: Apache-2.0
// A worker's message-passing memory: a word by which others signal that something it waits for has
// happened, its deque, and the rest for counters of children and for results.
// Source: the task-parallel runtime for the SCC [Prell 2011] (docs/scc/machine.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include <creek/core/messages/symmetric_allocator.hpp>
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

/// Work sharing: the one deque in the master's memory, from which all take and into which all put,
/// under the lock of the master's core. Laid out as a lock_deque.
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

/// The rest of a core's message-passing memory, handed out by the line. Its free list lies in
/// private memory of the core. Results may be destroyed by any thread, and after the runtime.
class line_pool {
 public:
  line_pool(std::size_t first, std::size_t bytes) : lines_(first, bytes, memory::line_bytes) {}
  std::optional<mpm_block> take(std::size_t lines) {
    const std::lock_guard guard(mutex_);
    return lines_.allocate(lines * memory::line_bytes);
  }
  std::optional<mpm_block> take_at(std::size_t place, std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    return lines_.allocate_at(place, bytes);
  }
  void give_back(mpm_block unused) {
    const std::lock_guard guard(mutex_);
    mpm_block gone = std::move(unused);
  }

 private:
  std::mutex mutex_;
  symmetric_allocator lines_;
};

/// A block of a core's pool; goes back to it when destroyed.
class pool_lines {
 public:
  pool_lines(std::shared_ptr<line_pool> from, core_id owner, mpm_block block) noexcept
      : from_(std::move(from)), owner_(owner), block_(std::move(block)) {}
  pool_lines(pool_lines&&) noexcept = default;
  pool_lines& operator=(pool_lines&&) = delete;
  ~pool_lines() {
    if (from_ != nullptr) from_->give_back(std::move(block_));
  }
  core_id owner() const noexcept { return owner_; }
  mpm_ptr<std::byte> at(const memory& view, std::size_t line) const noexcept {
    return view.at(owner_, block_.offset() + line * memory::line_bytes);
  }

 private:
  std::shared_ptr<line_pool> from_;
  core_id owner_;
  mpm_block block_;
};

}  // namespace creek::scc_backend
