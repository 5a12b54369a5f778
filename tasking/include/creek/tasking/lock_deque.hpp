// SPDX-License-Identifier: Apache-2.0
// The published deque for machines without coherent caches: a fixed circular array of task
// descriptors in its owner's message-passing memory and one test-and-set lock. It runs over any
// memory policy. Source: the task-parallel runtime of [Prell 2011]. Differs from it in one point:
// the owner inserts without the lock always, not only away from full and empty. Inserting writes a
// slot that no thief can see and then the tail, which only the owner writes; it reuses a slot only
// after the head has passed it, and a thief moves the head only after it has copied the task out.
// So nothing is left for the lock to order.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <creek/core/memory.hpp>
#include <creek/tasking/steal_result.hpp>

namespace creek {

/// A deque of `Task`s (trivially copyable, fixed size) in message-passing memory.
///
/// Words: `head`, position of the oldest task, written by the holder of the lock; `tail`, position
/// after the newest, written by the owner only, and downwards only under the lock. Positions run
/// from 0 to 2 * capacity - 1 and wrap, so that full and empty differ. The lock is the test-and-set
/// register of the owner's core.
///
/// One object serves all cores where they share addresses; elsewhere each makes its own over the
/// same place. Every method takes the memory of the core that calls it.
template <memory_policy Memory, class Task>
requires std::is_trivially_copyable_v<Task>
class lock_deque {
 public:
  static constexpr std::size_t slot_bytes = whole_lines<Memory>(sizeof(Task));

  /// Returns the bytes of message-passing memory for `capacity` tasks.
  [[nodiscard]] static constexpr std::size_t bytes_needed(std::size_t capacity) noexcept {
    return 2 * Memory::line_bytes + capacity * slot_bytes;
  }

  /// Makes a deque for `owner` at `place` in the owner's memory: bytes_needed(capacity) bytes,
  /// line-aligned. `capacity` is at least 1. The owner calls reset() before the first use.
  lock_deque(core_id owner, mpm_ptr<std::byte> place, std::size_t capacity) noexcept
      : head_{place.template as<word>()},
        tail_{(place + Memory::line_bytes).template as<word>()},
        slots_{place + 2 * Memory::line_bytes},
        capacity_{static_cast<word>(capacity)},
        owner_{owner} {}

  /// Makes the deque empty. Only the owner calls it, while no other core uses the deque.
  void reset(Memory& memory) {
    memory.store(head_, 0);
    memory.store(tail_, 0);
    own_ = {};
  }

  /// Inserts the newest task. Owner only; no lock, no atomic read-modify-write. Returns false if
  /// the deque is full: the caller runs the task at once. A thief that takes the task sees all the
  /// owner wrote before.
  [[nodiscard]] bool push(Memory& memory, const Task& task) {
    if (distance(own_.head_seen, own_.tail) == capacity_) [[unlikely]] {
      own_.head_seen = memory.load(head_);
      if (distance(own_.head_seen, own_.tail) == capacity_) return false;
    }
    memory.write(slot(own_.tail), &task, sizeof(Task));
    memory.flush();
    own_.tail = next(own_.tail);
    memory.store(tail_, own_.tail);
    assert(verify_own());
    return true;
  }

  /// Takes the newest task, under the lock. Only the owner calls it. Returns false if there is
  /// none, which costs one load of a word of the owner's.
  [[nodiscard]] bool pop_newest(Memory& memory, Task& task) {
    // Only thieves move the head, and never past the tail: if the two are equal now, they stay so.
    if (memory.load(head_) == own_.tail) return false;
    take_lock(memory);
    own_.head_seen = memory.load(head_);
    const bool found = own_.head_seen != own_.tail;
    if (found) {
      own_.tail = previous(own_.tail);
      memory.invalidate();
      memory.read(&task, slot(own_.tail), sizeof(Task));
      memory.store(tail_, own_.tail);
    }
    memory.clear(owner_);
    assert(verify_own());
    return found;
  }

  /// Takes the oldest task. Any core but the owner; never waits. If it returns `taken`, the owner's
  /// push of that task and everything before it happened before.
  [[nodiscard]] steal_result steal_oldest(Memory& memory, Task& task) {
    if (memory.load(head_) == memory.load(tail_)) return steal_result::empty;
    if (!memory.test_and_set(owner_)) return steal_result::lost;
    const word head = memory.load(head_);
    const bool found = head != memory.load(tail_);
    if (found) {
      memory.invalidate();  // this core may hold a copy of the slot from an earlier round
      memory.read(&task, slot(head), sizeof(Task));
      memory.store(head_, next(head));
    }
    memory.clear(owner_);
    return found ? steal_result::taken : steal_result::empty;
  }

  /// Returns about how many tasks there are. Any core; exact for the owner while no core steals.
  [[nodiscard]] std::size_t approx_size(Memory& memory) const {
    const word size = distance(memory.load(head_), memory.load(tail_));
    return size <= capacity_ ? size : 0;  // the two words were loaded at different moments
  }

  /// Returns whether the words of the deque agree with each other and with what its owner knows.
  /// Only the owner calls it, while no core steals.
  [[nodiscard]] bool verify(Memory& memory) const {
    const word head = memory.load(head_);
    return verify_own() && memory.load(tail_) == own_.tail && head < 2 * capacity_ &&
           distance(own_.head_seen, head) <= distance(own_.head_seen, own_.tail);
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] core_id owner() const noexcept { return owner_; }

 private:
  [[nodiscard]] word next(word p) const noexcept { return p + 1 == 2 * capacity_ ? 0 : p + 1; }
  [[nodiscard]] word previous(word p) const noexcept { return (p == 0 ? 2 * capacity_ : p) - 1; }
  [[nodiscard]] word distance(word from, word to) const noexcept {
    return to >= from ? to - from : to + 2 * capacity_ - from;
  }
  [[nodiscard]] mpm_ptr<std::byte> slot(word position) const noexcept {
    const word index = position >= capacity_ ? position - capacity_ : position;
    return slots_ + static_cast<std::ptrdiff_t>(index * slot_bytes);
  }

  /// Returns whether the owner's positions are in range. Reads no shared memory, which takes time
  /// on some backends.
  [[nodiscard]] bool verify_own() const noexcept {
    return own_.tail < 2 * capacity_ && own_.head_seen < 2 * capacity_ &&
           distance(own_.head_seen, own_.tail) <= capacity_;
  }
  void take_lock(Memory& memory) {
    if (!memory.test_and_set(owner_)) [[unlikely]]
      wait_for_lock(memory);
  }
  // A thief holds the lock for the copy of one task, so this happens rarely and ends soon.
  [[gnu::noinline]] void wait_for_lock(Memory& memory) {
    std::int64_t gap = 32;
    do {
      memory.pause(cycles{gap});
      if (gap < 4096) gap *= 2;
    } while (!memory.test_and_set(owner_));
  }

  // State that only the owner knows, on a line that thieves do not read.
  struct alignas(64) owner_state {
    word tail = 0;
    word head_seen = 0;  // the head some time ago; the true one is here or further
  };

  mpm_ptr<word> head_;
  mpm_ptr<word> tail_;
  mpm_ptr<std::byte> slots_;
  word capacity_;
  core_id owner_;
  owner_state own_;
};

}  // namespace creek
