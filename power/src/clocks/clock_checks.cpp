// SPDX-License-Identifier: Apache-2.0
#include "clock_checks.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

namespace creek::power {

namespace {

sysfs::file open_effective(const cpufreq_policy& policy) {
  // From measured to assumed clocks; on x86 the last file is a measured one, too.
  for (const char* name : {"cpuinfo_avg_freq", "cpuinfo_cur_freq", "scaling_cur_freq"}) {
    sysfs::file opened(policy.file(name), O_RDONLY);
    if (!opened) continue;
    // The average of a sleeping CPU is not available now, but will be later.
    const int error = opened.read_number().error;
    if (error == 0 || error == EAGAIN) return opened;
  }
  return {};
}

}  // namespace

bool close_to(std::uint64_t asked, std::uint64_t found) noexcept {
  return found <= asked + asked / 20 && found >= asked - asked / 20;
}

clock_checks::clock_checks(const cpufreq_policy& policy)
    : policy_(policy), effective_(open_effective(policy)) {}

std::uint64_t clock_checks::effective() const noexcept {
  if (!effective_) return 0;
  const sysfs::number read = effective_.read_number();
  return read ? read.value : 0;
}

bool clock_checks::add(std::uint64_t asked, std::uint64_t effective) noexcept {
  checks_.fetch_add(1, std::memory_order_relaxed);
  // At its highest clock a core may boost by itself.
  if (close_to(asked, effective) || (asked == policy_.highest && effective > asked)) return false;
  misses_.fetch_add(1, std::memory_order_relaxed);
  missed_.store(asked << 32 | (effective & 0xffffffff), std::memory_order_relaxed);
  return true;
}

std::string clock_checks::failure() const {
  if (const std::uint64_t missed = missed_.load(std::memory_order_relaxed); missed != 0) {
    return fmt::format("{} ran at {} kHz where {} were set, in {} of {} checks", policy_.folder,
                       missed & 0xffffffff, missed >> 32, misses_.load(std::memory_order_relaxed),
                       checks_.load(std::memory_order_relaxed));
  }
  return {};
}

}  // namespace creek::power
