// SPDX-License-Identifier: Apache-2.0
// The MCS list lock: a queue of waiting cores, each watching a word in its own memory.
// Source: [Mellor-Crummey 1991].
// A memory that cannot swap words changes the tail under the test-and-set register of its home
// core: held for two word accesses, so that waiting happens in the queue and not there.
#pragma once

#include <mutex>

#include <creek/core/memory.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>

namespace creek {

/// The handle of one core on the lock; BasicLockable. First come, first served; handing over takes
/// one write to another core's memory, however many wait.
template <memory_policy Memory>
class mcs_lock {
 public:
  /// Three words in a line of every core: the tail, used at the home core only, and two for itself.
  static constexpr std::size_t bytes_needed = Memory::line_bytes;

  /// `home` keeps the tail. The line at `place` of every core must be zero at first.
  mcs_lock(Memory& memory, core_id home, std::size_t place) noexcept
      : memory_{&memory},
        home_{home},
        place_{place},
        tail_{word_of(home, tail_index)},
        next_{word_of(memory.self(), next_index)},
        granted_{word_of(memory.self(), granted_index)},
        me_{static_cast<word>(memory.self().value) + 1} {}

  void lock() {
    memory_->store(next_, 0);
    memory_->store(granted_, 0);
    const word before_me = swap_tail(me_);
    if (before_me == none) return;
    memory_->signal(word_of(core_of(before_me), next_index), me_);
    memory_->wait_until(granted_, [](word granted) { return granted != 0; });
  }

  void unlock() {
    word next = memory_->load(next_);
    if (next == none) {
      if (leave_if_last()) return;
      // Another core has swapped the tail and is about to store its own number here.
      next = memory_->wait_until(next_, [](word seen) { return seen != none; });
    }
    memory_->signal(word_of(core_of(next), granted_index), 1);
  }

 private:
  // A word names a core by its number plus one, so that zeroed memory is an empty queue.
  static constexpr word none = 0;
  static constexpr int tail_index = 0, next_index = 1, granted_index = 2;

  static core_id core_of(word core) noexcept { return core_id{static_cast<int>(core) - 1}; }
  [[nodiscard]] mpm_ptr<word> word_of(core_id core, int index) const noexcept {
    return memory_->at(core, place_).template as<word>() + index;
  }

  word swap_tail(word value) {
    if constexpr (swapping_memory<Memory>) {
      return memory_->exchange(tail_, value);
    } else {
      test_and_set_lock guard_lock{*memory_, home_};
      const std::lock_guard guard{guard_lock};
      const word before = memory_->load(tail_);
      memory_->store(tail_, value);
      return before;
    }
  }
  bool leave_if_last() {
    if constexpr (swapping_memory<Memory>) {
      return memory_->compare_exchange(tail_, me_, none);
    } else {
      test_and_set_lock guard_lock{*memory_, home_};
      const std::lock_guard guard{guard_lock};
      if (memory_->load(tail_) != me_) return false;
      memory_->store(tail_, none);
      return true;
    }
  }

  Memory* memory_;
  core_id home_;
  std::size_t place_;
  mpm_ptr<word> tail_;
  mpm_ptr<word> next_;
  mpm_ptr<word> granted_;
  word me_;
};

}  // namespace creek
