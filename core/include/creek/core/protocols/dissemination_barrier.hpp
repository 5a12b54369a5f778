// SPDX-License-Identifier: Apache-2.0
// The dissemination barrier: in round k each core signals the one 2^k further; no core is special.
// Sources: [Hensgen 1988]; [Mellor-Crummey 1991].
// The flags hold the number of the episode,
// which does what the papers' parity and sense do.
#pragma once

#include <utility>

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The handle of one core on a barrier of its team; reusable at once. ceil(log2 P) rounds, each
/// with one write to another core and a wait for a word of this core's own.
template <memory_policy Memory>
class dissemination_barrier {
 public:
  [[nodiscard]] static constexpr std::size_t bytes_needed(int size) noexcept {
    return whole_lines<Memory>(
        std::max<std::size_t>(1, static_cast<std::size_t>(detail::doubling_rounds(size))) *
        sizeof(word));
  }

  /// Uses bytes_needed() bytes at `place` in every member's memory, zero at first.
  dissemination_barrier(Memory& memory, team members, std::size_t place)
      : memory_{&memory}, members_{std::move(members)}, place_{place} {}

  /// Blocks until every core of the team has called it as often as this one. Data written (and
  /// flushed) before it are visible after it to every core that invalidates before it reads blocks.
  void wait() {
    ++episode_;
    const int size = members_.size();
    for (int round = 0; (1 << round) < size; ++round) {
      const int peer = (members_.rank() + (1 << round)) % size;
      memory_->signal(flag(peer, round), episode_);
      // The peer that signals this core may be an episode ahead already.
      memory_->wait_until(flag(members_.rank(), round),
                          [goal = episode_](word seen) { return detail::reached(seen, goal); });
    }
  }

 private:
  [[nodiscard]] mpm_ptr<word> flag(int rank, int round) const noexcept {
    return memory_->at(members_.core(rank), place_).template as<word>() + round;
  }

  Memory* memory_;
  team members_;
  std::size_t place_;
  word episode_ = 0;
};

}  // namespace creek
