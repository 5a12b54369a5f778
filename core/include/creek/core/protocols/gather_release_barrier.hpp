// SPDX-License-Identifier: Apache-2.0
// RCCE's barrier: rank 0 polls a flag in each core's memory in turn until all cores have arrived,
// then sets another in each to release it. Source: [Mattson 2010]; here the
// flags hold the number of the episode, which does what RCCE's alternating values do.
#pragma once

#include <utility>

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The handle of one core on a barrier of its team; reusable at once. Rank 0 reads P - 1 remote
/// words and writes as many: short code and little space, for a few cores.
template <memory_policy Memory>
class gather_release_barrier {
 public:
  static constexpr std::size_t bytes_needed(int /*size*/) noexcept { return Memory::line_bytes; }

  /// Uses bytes_needed() bytes at `place` in every member's memory, zero at first.
  gather_release_barrier(Memory& memory, team members, std::size_t place)
      : memory_{&memory}, members_{std::move(members)}, place_{place} {}

  /// Blocks until every core of the team has called it as often as this one. Data written (and
  /// flushed) before it are visible after it to every core that invalidates before it reads blocks.
  void wait() {
    ++episode_;
    const auto come = [goal = episode_](word seen) { return detail::reached(seen, goal); };
    if (members_.rank() != 0) {
      memory_->signal(gather(members_.rank()), episode_);
      memory_->wait_until(release(members_.rank()), come);
      return;
    }
    for (int rank = 1; rank < members_.size(); ++rank) memory_->wait_until(gather(rank), come);
    for (int rank = 1; rank < members_.size(); ++rank) memory_->signal(release(rank), episode_);
  }

 private:
  [[nodiscard]] mpm_ptr<word> gather(int rank) const noexcept {
    return memory_->at(members_.core(rank), place_).template as<word>();
  }
  [[nodiscard]] mpm_ptr<word> release(int rank) const noexcept { return gather(rank) + 1; }

  Memory* memory_;
  team members_;
  std::size_t place_;
  word episode_ = 0;
};

}  // namespace creek
