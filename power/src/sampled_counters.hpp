// SPDX-License-Identifier: Apache-2.0
// Counters that a meter has open, and a thread that reads them in between if one is asked for. What
// once went wrong stays wrong until the counters are opened again: a sum across a gap is no figure.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "energy_counters.hpp"

namespace creek::power::detail {

class sampled_counters {
 public:
  /// `opened` must have counters. `every` 0: no thread.
  sampled_counters(opened_counters opened, std::chrono::milliseconds every);

  [[nodiscard]] std::span<const energy_domain> domains() const noexcept {
    return counters_->domains();
  }
  /// Joules by domain, as energy_counters::sample(), or what went wrong, now or before.
  [[nodiscard]] std::string sample(sampled_domains which, std::span<units::joules> joules);

 private:
  void keep_sampling(const std::stop_token& stop, std::chrono::milliseconds every);

  std::unique_ptr<energy_counters> counters_;
  std::mutex lock_;
  std::string problem_;
  std::vector<units::joules> between_;  ///< the thread's, whose figures nobody needs
  std::condition_variable_any over_;
  std::jthread thread_;  ///< last: ends before what it uses
};

}  // namespace creek::power::detail
