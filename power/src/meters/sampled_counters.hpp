// SPDX-License-Identifier: Apache-2.0
// Open counters of a meter, and an optional thread that reads them in between. An error persists
// until the counters are opened again: a sum across a gap is no figure.
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
  /// `opened` must have counters. No thread if `every` is 0.
  sampled_counters(opened_counters opened, std::chrono::milliseconds every);

  [[nodiscard]] std::span<const energy_domain> domains() const noexcept {
    return counters_->domains();
  }
  /// Reads joules by domain like energy_counters::sample(); also returns earlier errors.
  [[nodiscard]] std::string sample(sampled_domains which, std::span<units::joules> joules);

 private:
  void keep_sampling(const std::stop_token& stop, std::chrono::milliseconds every);

  std::unique_ptr<energy_counters> counters_;
  std::mutex lock_;
  std::string problem_;
  std::vector<units::joules> between_;  ///< used by the thread only; its figures are discarded
  std::condition_variable_any over_;
  std::jthread thread_;  ///< last member: ends before the others are destroyed
};

}  // namespace creek::power::detail
