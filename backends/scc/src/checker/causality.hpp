// SPDX-License-Identifier: Apache-2.0
// Vector clocks with epochs: how far each core knows the past of the others. Source: FastTrack
// [Flanagan 2009]. An announcement shares the vector of its core,
// which is copied only when the core learns more, so that an announcement costs no time
// proportional to the number of cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace creek::scc_backend {

/// Knowledge that a core published by a store, a clear or an increment: its own past up to an
/// epoch, and all that it knew of others.
struct announcement {
  std::int32_t core = -1;  ///< -1: no announcement
  std::uint32_t epoch = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> others;
};

/// The clock of one core. Its epochs begin at 1 and end with each announcement.
class causal_clock {
 public:
  void begin(std::int32_t self, std::size_t cores) noexcept {
    self_ = self;
    cores_ = cores;
  }
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  /// Returns whether `core`'s actions in that epoch come before this core's actions now.
  [[nodiscard]] bool knows(std::int32_t core, std::uint32_t epoch) const noexcept {
    return core == self_ || (others_ && (*others_)[static_cast<std::size_t>(core)] >= epoch);
  }
  [[nodiscard]] announcement announce() noexcept { return {self_, epoch_++, others_}; }
  void learn(const announcement& news) {
    // A core that knows of an epoch knows all that was known in it.
    if (news.core < 0 || knows(news.core, news.epoch)) return;
    if (!others_) {
      others_ = std::make_shared<std::vector<std::uint32_t>>(cores_);
    } else if (others_.use_count() > 1) {
      others_ = std::make_shared<std::vector<std::uint32_t>>(*others_);
    }
    std::vector<std::uint32_t>& known = *others_;
    if (news.others) {
      std::transform(known.begin(), known.end(), news.others->begin(), known.begin(),
                     [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    }
    known[static_cast<std::size_t>(news.core)] = news.epoch;
  }

 private:
  std::int32_t self_ = 0;
  std::uint32_t epoch_ = 1;
  std::size_t cores_ = 0;
  std::shared_ptr<std::vector<std::uint32_t>> others_;
};

}  // namespace creek::scc_backend
