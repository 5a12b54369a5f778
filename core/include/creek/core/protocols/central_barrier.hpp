// SPDX-License-Identifier: Apache-2.0
// The central barrier: a counter of arrivals and one word that releases all cores.
// Source: the sense-reversing barrier of [Mellor-Crummey 1991];
// here the sense is the number of the episode.
#pragma once

#include <creek/core/protocols/team.hpp>

namespace creek {

/// The handle of one core on a barrier of its team; reusable at once. Takes P increments of one
/// counter, and all cores wait for one word: needs the least space, suits a few cores.
template <memory_policy Memory>
class central_barrier {
 public:
  static constexpr std::size_t bytes_needed(int /*size*/) noexcept { return Memory::line_bytes; }

  /// The word is at `place` in the memory of rank 0. Word and counter must be zero at first.
  central_barrier(Memory& memory, const team& members, std::size_t place, counter_id arrivals)
      : memory_{&memory},
        released_{memory.at(members.core(0), place).template as<word>()},
        arrivals_{arrivals},
        last_{static_cast<word>(members.size()) - 1} {}

  /// Blocks until every core of the team has called it as often as this one. Data written (and
  /// flushed) before it are visible after it to every core that invalidates before it reads blocks.
  void wait() {
    ++episode_;
    if (memory_->fetch_increment(arrivals_) == last_) {
      memory_->set_counter(arrivals_, 0);  // nobody arrives again before the release
      memory_->signal(released_, episode_);
    } else {
      memory_->wait_until(released_, [goal = episode_](word seen) { return seen == goal; });
    }
  }

 private:
  Memory* memory_;
  mpm_ptr<word> released_;
  counter_id arrivals_;
  word last_;
  word episode_ = 0;
};

}  // namespace creek
