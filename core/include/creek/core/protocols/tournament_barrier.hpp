// SPDX-License-Identifier: Apache-2.0
// The tournament barrier: in round k the odd core of each pair reports to the even one and waits;
// the champion, rank 0,
// releases all cores down the same tree.
// Sources: [Hensgen 1988]; [Mellor-Crummey 1991].
#pragma once

#include <utility>

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The handle of one core on a barrier of its team; reusable at once. 2 (P - 1) writes in all, the
/// least of the three that do not share a counter; 2 ceil(log2 P) steps on the longest path.
template <memory_policy Memory>
class tournament_barrier {
 public:
  [[nodiscard]] static constexpr std::size_t bytes_needed(int size) noexcept {
    return whole_lines<Memory>((1 + static_cast<std::size_t>(detail::doubling_rounds(size))) *
                               sizeof(word));
  }

  /// Uses bytes_needed() bytes at `place` in every member's memory, zero at first.
  tournament_barrier(Memory& memory, team members, std::size_t place)
      : memory_{&memory}, members_{std::move(members)}, place_{place} {}

  /// Blocks until every core of the team has called it as often as this one. Data written (and
  /// flushed) before it are visible after it to every core that invalidates before it reads blocks.
  void wait() {
    ++episode_;
    int round = 0;
    for (; wins(round); ++round) {
      if (rival(round) < members_.size()) wait_for(arrival(members_.rank(), round));
    }
    if (members_.rank() != 0) {
      memory_->signal(arrival(members_.rank() - (1 << round), round), episode_);
      wait_for(release(members_.rank()));
    }
    while (round-- > 0) {
      if (rival(round) < members_.size()) memory_->signal(release(rival(round)), episode_);
    }
  }

 private:
  // Returns whether this core takes part in the round of that number and wins it.
  [[nodiscard]] bool wins(int round) const noexcept {
    return (1 << round) < members_.size() && (members_.rank() >> round & 1) == 0;
  }
  [[nodiscard]] int rival(int round) const noexcept { return members_.rank() + (1 << round); }

  [[nodiscard]] mpm_ptr<word> release(int rank) const noexcept {
    return memory_->at(members_.core(rank), place_).template as<word>();
  }
  [[nodiscard]] mpm_ptr<word> arrival(int rank, int round) const noexcept {
    return release(rank) + (1 + round);
  }
  void wait_for(mpm_ptr<word> flag) {
    memory_->wait_until(flag, [goal = episode_](word seen) { return seen == goal; });
  }

  Memory* memory_;
  team members_;
  std::size_t place_;
  word episode_ = 0;
};

}  // namespace creek
