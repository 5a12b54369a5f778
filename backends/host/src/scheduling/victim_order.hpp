// SPDX-License-Identifier: Apache-2.0
// The order in which a worker looks at the others for work to steal.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <creek/tasking/options.hpp>

namespace creek::host_backend {

/// Chooses the victims of one worker, which alone uses it: at random, the last one that had work
/// first, or by distance, as scheduler_options::scheduler says. Never chooses the worker itself.
class victim_order {
 public:
  victim_order() = default;
  /// `near_first` lists the other workers by distance.
  victim_order(const scheduler_options& options, unsigned self, std::vector<unsigned> near_first)
      : kind_(options.scheduler),
        self_(self),
        last_(self),
        random_state_((options.seed + 1) * 0x9E3779B97F4A7C15ULL + self * 0xBF58476D1CE4E5B9ULL +
                      1),
        near_first_(std::move(near_first)) {}

  unsigned others() const noexcept { return static_cast<unsigned>(near_first_.size()); }
  /// Returns the victim of attempt number `attempt` of a search. Needs another worker.
  unsigned next(unsigned attempt) noexcept {
    if (kind_ == scheduler_kind::stealing_latency) return near_first_[attempt % others()];
    const bool again = kind_ == scheduler_kind::stealing_last_victim && attempt == 0;
    if (again && last_ != self_) return last_;
    const auto pick = static_cast<unsigned>(random() % others());
    return pick < self_ ? pick : pick + 1;
  }
  void had_work(unsigned victim) noexcept { last_ = victim; }

 private:
  std::uint64_t random() noexcept {  // xorshift64* [Vigna 2016]
    random_state_ ^= random_state_ >> 12;
    random_state_ ^= random_state_ << 25;
    random_state_ ^= random_state_ >> 27;
    return random_state_ * 0x2545F4914F6CDD1DULL;
  }

  scheduler_kind kind_ = {};
  unsigned self_ = 0;
  unsigned last_ = 0;
  std::uint64_t random_state_ = 0;
  std::vector<unsigned> near_first_;
};

}  // namespace creek::host_backend
