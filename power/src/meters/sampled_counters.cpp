// SPDX-License-Identifier: Apache-2.0
#include "sampled_counters.hpp"

#include <utility>

namespace creek::power::detail {

sampled_counters::sampled_counters(opened_counters opened, std::chrono::milliseconds every)
    : counters_(std::move(opened.counters)) {
  if (every.count() <= 0) return;
  between_.resize(domains().size());
  thread_ =
      std::jthread([this, every](const std::stop_token& stop) { keep_sampling(stop, every); });
}

std::string sampled_counters::sample(sampled_domains which, std::span<units::joules> joules) {
  const std::lock_guard alone(lock_);
  if (problem_.empty()) problem_ = counters_->sample(which, joules);
  return problem_;
}

void sampled_counters::keep_sampling(const std::stop_token& stop, std::chrono::milliseconds every) {
  std::unique_lock alone(lock_);
  while (!stop.stop_requested()) {
    if (over_.wait_for(alone, stop, every, [] { return false; }) || stop.stop_requested()) return;
    if (problem_.empty()) problem_ = counters_->sample(sampled_domains::all, between_);
  }
}

}  // namespace creek::power::detail
