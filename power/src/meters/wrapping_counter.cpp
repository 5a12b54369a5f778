// SPDX-License-Identifier: Apache-2.0
#include "wrapping_counter.hpp"

#include <fmt/format.h>

namespace creek::power::detail {

namespace {

/// Counters are updated in steps, and the clock is read slightly before or after them.
constexpr double slack_seconds = 1;

}  // namespace

std::string wrapping_counter::advance(std::uint64_t value, clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - at_).count();
  const std::uint64_t before = last_;
  const bool wrapped = value < before;
  if (wrapped && (largest_ == 0 || before > largest_)) {
    return fmt::format("went backwards, from {} to {} uJ, and names no largest value", before,
                       value);
  }
  const std::uint64_t gone = wrapped ? largest_ - before + value : value - before;
  if (wrapped && 1e-6 * static_cast<double>(gone) > max_watts_ * (passed + slack_seconds)) {
    return fmt::format("went backwards, from {} to {} uJ within {:.3g} s", before, value, passed);
  }
  const double lasts = 1e-6 * static_cast<double>(largest_) / max_watts_;
  if (largest_ != 0 && passed > lasts) {
    return fmt::format(
        "was not read for {:.0f} s and may have wrapped more than once; read it every {:.0f} s "
        "(meter_options::sample_every)",
        passed, lasts);
  }
  last_ = value;
  at_ = now;
  total_ += gone;
  return {};
}

}  // namespace creek::power::detail
