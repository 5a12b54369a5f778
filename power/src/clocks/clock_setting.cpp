// SPDX-License-Identifier: Apache-2.0
// The kernel refuses, or used to refuse, a lower limit above the upper one, so the order of writes
// matters: to raise, the upper limit is written first; to lower, the lower one. If the present
// limits are unknown, as when they are restored, "upper, lower, upper" works in either case: if the
// first write is refused, the second one enables the third.
#include "clock_setting.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace creek::power {

namespace {

constexpr std::string_view by_program = "userspace";

}  // namespace

clock_setting::clock_setting(const cpufreq_policy& policy)
    : policy_(policy),
      files_(policy_),
      userspace_(policy.userspace && files_[setting::speed] && files_[setting::governor]),
      checks_(policy_) {}

/// Reads the present settings.
bool clock_setting::read_before(std::uint64_t& low, std::uint64_t& high, std::string_view& before,
                                setting_text& space) noexcept {
  const sysfs::number lower_now = files_[setting::lower].read_number();
  if (!lower_now) return files_.fail(setting::lower, lower_now.error);
  const sysfs::number upper_now = files_[setting::upper].read_number();
  if (!upper_now) return files_.fail(setting::upper, upper_now.error);
  if (lower_now.value > upper_now.value) return files_.fail(setting::lower, EINVAL);
  low = lower_now.value;
  high = upper_now.value;
  if (!by_userspace()) return true;
  const int error = files_[setting::governor].read_line(space, before);
  if (error != 0 || before.empty())
    return files_.fail(setting::governor, error != 0 ? error : ENODATA);
  return true;
}

void clock_setting::keep(std::string_view governor_before) noexcept {
  if (by_userspace()) before_.add(setting::governor, governor_before);
  before_.add(setting::upper, high_);
  before_.add(setting::lower, low_);
  before_.add(setting::upper, high_);
  if (governor_before != by_program) return;
  const sysfs::number set = files_[setting::speed].read_number();
  if (set) before_.add(setting::speed, set.value);
}

/// Before the first change: saves the present settings for put_back(), before any write.
bool clock_setting::engage() noexcept {
  // Otherwise two processes would each restore the other's clocks. The lock is released with the
  // descriptor, however the process ends.
  if (flock(files_[setting::upper].descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return files_.fail(setting::lock, EWOULDBLOCK);
  }
  setting_text space;
  std::string_view before;
  if (!read_before(low_, high_, before, space)) return false;
  if (before_.empty()) keep(before);
  engaged_.store(true, std::memory_order_release);
  return !by_userspace() || take_over(before);
}

/// Sets the governor that lets a program set the clock, and limits that allow all clocks; if that
/// is refused, the limits alone are used.
bool clock_setting::take_over(std::string_view governor_before) noexcept {
  if (governor_before != by_program && files_[setting::governor].write("userspace\n") != 0) {
    userspace_ = false;
    return true;
  }
  if (high_ < policy_.highest && files_.write(setting::upper, policy_.highest))
    high_ = policy_.highest;
  if (low_ > policy_.lowest && files_.write(setting::lower, policy_.lowest)) low_ = policy_.lowest;
  return true;
}

bool clock_setting::set_limits(std::uint64_t clock) noexcept {
  const auto move = [&](setting limit, std::uint64_t& now) {
    if (now == clock) return true;
    if (!files_.write(limit, clock)) return false;
    now = clock;
    return true;
  };
  if (clock > high_) return move(setting::upper, high_) && move(setting::lower, low_);
  return move(setting::lower, low_) && move(setting::upper, high_);
}

bool clock_setting::set(std::uint64_t clock) noexcept {
  if (!engaged_.load(std::memory_order_acquire) && !engage()) return false;
  const bool done = by_userspace() ? files_.write(setting::speed, clock) : set_limits(clock);
  asked_.store(done ? clock : 0, std::memory_order_release);
  return done;
}

void clock_setting::put_back() noexcept {
  if (engaged_.load(std::memory_order_acquire)) put_back_again();
}

void clock_setting::put_back_again() noexcept {
  before_.restore(files_);
  asked_.store(0, std::memory_order_release);
  engaged_.store(false, std::memory_order_release);
}

/// Returns the first file that no longer holds what was written: others may set the files, and the
/// kernel may narrow the limits.
std::string clock_setting::misread() const {
  const std::uint64_t asked = asked_.load(std::memory_order_acquire);
  if (asked == 0) return {};
  for (const setting each : {setting::speed, setting::lower, setting::upper}) {
    if ((each == setting::speed) != by_userspace()) continue;
    sysfs::number held = sysfs::read_number(files_.path(each));
    if (held && !close_to(asked, held.value)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // limits act after a moment
      held = sysfs::read_number(files_.path(each));
    }
    if (asked_.load(std::memory_order_acquire) != asked) return {};
    if (!held) return sysfs::why("read", files_.path(each), held.error);
    if (!close_to(asked, held.value)) {
      return fmt::format("{} holds {} where {} was set: the kernel or another program limits it",
                         files_.path(each), held.value, asked);
    }
  }
  return {};
}

std::string clock_setting::failure() const {
  if (std::string refused = files_.failure(); !refused.empty()) return refused;
  if (std::string other = misread(); !other.empty()) return other;
  return checks_.failure();
}

}  // namespace creek::power
