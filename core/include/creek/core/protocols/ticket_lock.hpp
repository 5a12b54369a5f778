// SPDX-License-Identifier: Apache-2.0
// The ticket lock: an atomic counter hands out turns, a word says whose turn it is.
// Source: [Mellor-Crummey 1991].
#pragma once

#include <creek/core/memory.hpp>

namespace creek {

/// The handle of one core on the lock; BasicLockable. First come, first served. All waiting cores
/// watch one word, so it suits a few cores; `mcs_lock` suits many.
template <memory_policy Memory>
class ticket_lock {
 public:
  static constexpr std::size_t bytes_needed = Memory::line_bytes;

  /// `home` holds the word at `place`. Word and counter must be zero at first.
  ticket_lock(Memory& memory, core_id home, std::size_t place, counter_id tickets) noexcept
      : memory_{&memory}, serving_{memory.at(home, place).template as<word>()}, tickets_{tickets} {}

  void lock() {
    mine_ = memory_->fetch_increment(tickets_);
    memory_->wait_until(serving_, [mine = mine_](word turn) { return turn == mine; });
  }
  void unlock() { memory_->signal(serving_, mine_ + 1); }

 private:
  Memory* memory_;
  mpm_ptr<word> serving_;
  counter_id tickets_;
  word mine_ = 0;
};

}  // namespace creek
