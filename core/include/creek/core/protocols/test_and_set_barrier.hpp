// SPDX-License-Identifier: Apache-2.0
// A barrier of test-and-set registers alone: an arriving core takes the first free register of the
// team and waits until it is cleared; the last one clears the first, and each core that leaves
// clears the next. Source: [Reble 2011].
//
// Why a core that comes back early does no harm: a core that goes frees its own register before it
// clears the next one. So when register k is cleared to wake its holder, k cores have gone and the
// registers 0 .. k - 1 are theirs to take again: none of them gets as far as register k.
#pragma once

#include <utility>

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The handle of one core on a barrier of its team; reusable at once. Needs no message-passing
/// memory but the registers of all members, which may serve no lock and no other barrier until
/// every core has left this one. O(P) tries each.
template <memory_policy Memory>
class test_and_set_barrier {
 public:
  test_and_set_barrier(Memory& memory, team members)
      : memory_{&memory}, members_{std::move(members)} {}

  /// Blocks until every core of the team has called it as often as this one. Orders nothing but
  /// itself: what a core wrote before is visible after if it was flushed.
  void wait() {
    const int size = members_.size();
    if (size == 1) return;
    int mine = 0;
    while (!take(mine)) mine = (mine + 1) % size;
    if (mine == size - 1) clear(0);
    while (!take(mine)) memory_->pause(between_looks);
    clear(mine);
    if (mine + 1 < size) clear(mine + 1);
  }

 private:
  // Compare and branch of a polling loop: an estimate.
  static constexpr cycles between_looks{4};

  bool take(int place) { return memory_->test_and_set(members_.core(place)); }
  void clear(int place) { memory_->clear(members_.core(place)); }

  Memory* memory_;
  team members_;
};

}  // namespace creek
