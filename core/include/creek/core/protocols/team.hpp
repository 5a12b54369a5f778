// SPDX-License-Identifier: Apache-2.0
// The cores that take part in a barrier or a communicator, and which of them the caller is.
#pragma once

#include <algorithm>
#include <concepts>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/error.hpp>
#include <creek/core/memory.hpp>

namespace creek {

/// An ordered set of cores; the place of a core in it is its *rank*, 0 .. size() - 1.
class team {
 public:
  /// Makes a team of all cores of the memory, rank = core number.
  // Excludes team itself: a memory must be copyable, and to check that would ask here again.
  template <class Memory>
  requires(!std::same_as<Memory, team>) && memory_policy<Memory> explicit team(const Memory& memory)
      : members_(static_cast<std::size_t>(memory.cores())),
  rank_{memory.self().value} {
    int core = 0;
    for (core_id& member : members_) member = core_id{core++};
  }
  /// Makes a team of the given cores, `self` among them.
  team(std::vector<core_id> members, core_id self) : members_{std::move(members)} {
    const auto place = std::find(members_.begin(), members_.end(), self);
    if (place == members_.end()) {
      throw usage_error("team: core " + std::to_string(self.value) + " is not a member");
    }
    rank_ = static_cast<int>(place - members_.begin());
  }

  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] core_id core(int rank) const noexcept {
    return members_[static_cast<std::size_t>(rank)];
  }

 private:
  std::vector<core_id> members_;
  int rank_ = 0;
};

namespace detail {
/// Returns the number of rounds of an algorithm that doubles its reach each round.
constexpr int doubling_rounds(int size) noexcept {
  int rounds = 0;
  while ((1 << rounds) < size) ++rounds;
  return rounds;
}
/// Returns whether a counting word has reached `goal`; right if they are less than 2^31 apart.
constexpr bool reached(word count, word goal) noexcept {
  return static_cast<std::int32_t>(count - goal) >= 0;
}
}  // namespace detail

}  // namespace creek
