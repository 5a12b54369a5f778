// SPDX-License-Identifier: Apache-2.0
// The two ways in which virtual time runs out: its numbers end, or nothing but polling happens.
#pragma once

#include <algorithm>
#include <limits>

#include "engine.hpp"

namespace creek::scc_backend {

/// Progress is an action that is more than a look. It never moves back in time.
class time_limits {
 public:
  /// The latest time: a core's next action still fits behind it, see chip::validate().
  static constexpr virtual_time latest{std::numeric_limits<std::int64_t>::max() -
                                       1'000'000'000'000'000'000};

  /// `stuck_after`: time for which nothing but polling may happen before that counts as a deadlock;
  /// zero: no limit.
  time_limits(engine& simulation, virtual_time stuck_after) noexcept
      : simulation_{simulation},
        stuck_after_{stuck_after > virtual_time{}
                         ? stuck_after
                         : virtual_time{std::numeric_limits<std::int64_t>::max()}} {}

  /// Notes progress of the running core: now, or as far as a core ran ahead.
  void note_progress() noexcept { progress_until_ = std::max(progress_until_, simulation_.now()); }
  void throw_if_stuck() const {
    if (simulation_.now() - progress_until_ > stuck_after_) [[unlikely]]
      throw_stuck();
  }
  [[noreturn]] static void throw_end_of_time();

 private:
  [[noreturn]] void throw_stuck() const;

  engine& simulation_;
  virtual_time stuck_after_;
  virtual_time progress_until_;
};

}  // namespace creek::scc_backend
