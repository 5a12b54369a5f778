// SPDX-License-Identifier: Apache-2.0
// The kernel refuses, or used to refuse, a lower limit above the upper one, so the order of writes
// matters: to raise, the upper limit is written first; to lower, the lower one. If the present
// limits are unknown, as when they are restored, "upper, lower, upper" works in either case: if the
// first write is refused, the second one enables the third.
#include "clock_setting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace creek::power {

namespace {

constexpr const char* names[] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq",
                                 "scaling_setspeed"};
constexpr std::string_view by_program = "userspace";

/// Clocks within 5% count as the same clock: drivers round to the steps of the hardware, and an
/// average over milliseconds includes some idle ones.
bool close_to(std::uint64_t asked, std::uint64_t found) noexcept {
  return found <= asked + asked / 20 && found >= asked - asked / 20;
}

std::string remedy(const std::string& path, int error) {
  const std::string refused = sysfs::why("write", path, error);
  if (error == EACCES || error == EPERM) {
    return refused + "; run as root, or let your group write it (docs/power/clocks.md)";
  }
  if (error == EROFS) {
    return refused + "; in a container, mount /sys writable (docs/power/clocks.md)";
  }
  return refused;
}

std::size_t put_number(std::array<char, 40>& into, std::uint64_t clock) noexcept {
  char* end = std::to_chars(into.data(), into.data() + into.size() - 1, clock).ptr;
  *end++ = '\n';
  return static_cast<std::size_t>(end - into.data());
}

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

clock_setting::clock_setting(const cpufreq_policy& policy)
    : policy_(policy), effective_(open_effective(policy)) {
  if (!policy_.problem.empty()) {
    why_not_ = policy_.problem;
    return;
  }
  for (int each = governor; each < files; ++each) {
    const auto at = static_cast<std::size_t>(each);
    files_[at] = sysfs::file(policy_.file(names[at]), O_RDWR);
  }
  for (const which limit : {upper, lower}) {
    if (!files_[limit] && why_not_.empty()) why_not_ = remedy(path(limit), files_[limit].error());
  }
  userspace_ = policy_.userspace && files_[speed] && files_[governor];
}

std::string clock_setting::path(which of) const {
  return policy_.file(names[of]);
}

std::uint64_t clock_setting::nearest(std::uint64_t wish) const noexcept {
  if (policy_.clocks.empty()) return std::clamp(wish, policy_.lowest, policy_.highest);
  const auto at = std::lower_bound(policy_.clocks.begin(), policy_.clocks.end(), wish);
  return at != policy_.clocks.end() ? *at : policy_.highest;
}

bool clock_setting::fail(which at, int error) noexcept {
  std::uint32_t none = 0;
  failed_.compare_exchange_strong(
      none, static_cast<std::uint32_t>(at) << 16 | static_cast<std::uint32_t>(error),
      std::memory_order_relaxed);
  return false;
}

bool clock_setting::write(which to, std::string_view line) noexcept {
  const int error = files_[to].write(line);
  return error == 0 || fail(to, error);
}

bool clock_setting::write(which to, std::uint64_t clock) noexcept {
  text bytes;
  return write(to, std::string_view(bytes.data(), put_number(bytes, clock)));
}

void clock_setting::add_order(which to, std::string_view word) noexcept {
  order& next = before_[orders_++];
  next.to = to;
  next.size = std::min(word.size(), next.bytes.size() - 1);
  std::memcpy(next.bytes.data(), word.data(), next.size);
  next.bytes[next.size++] = '\n';
}

void clock_setting::add_order(which to, std::uint64_t clock) noexcept {
  order& next = before_[orders_++];
  next.to = to;
  next.size = put_number(next.bytes, clock);
}

/// Reads the present settings.
bool clock_setting::read_before(std::uint64_t& low, std::uint64_t& high, std::string_view& before,
                                text& space) noexcept {
  const sysfs::number lower_now = files_[lower].read_number();
  if (!lower_now) return fail(lower, lower_now.error);
  const sysfs::number upper_now = files_[upper].read_number();
  if (!upper_now) return fail(upper, upper_now.error);
  if (lower_now.value > upper_now.value) return fail(lower, EINVAL);
  low = lower_now.value;
  high = upper_now.value;
  if (!by_userspace()) return true;
  const int error = files_[governor].read_line(space, before);
  if (error != 0 || before.empty()) return fail(governor, error != 0 ? error : ENODATA);
  return true;
}

void clock_setting::keep(std::string_view governor_before) noexcept {
  if (by_userspace()) add_order(governor, governor_before);
  add_order(upper, high_);
  add_order(lower, low_);
  add_order(upper, high_);
  if (governor_before != by_program) return;
  const sysfs::number set = files_[speed].read_number();
  if (set) add_order(speed, set.value);
}

/// Before the first change: saves the present settings for put_back(), before any write.
bool clock_setting::engage() noexcept {
  // Otherwise two processes would each restore the other's clocks. The lock is released with the
  // descriptor, however the process ends.
  if (flock(files_[upper].descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(lock, EWOULDBLOCK);
  }
  text space;
  std::string_view before;
  if (!read_before(low_, high_, before, space)) return false;
  if (orders_ == 0) keep(before);
  engaged_.store(true, std::memory_order_release);
  return !by_userspace() || take_over(before);
}

/// Sets the governor that lets a program set the clock, and limits that allow all clocks; if that
/// is refused, the limits alone are used.
bool clock_setting::take_over(std::string_view governor_before) noexcept {
  if (governor_before != by_program && files_[governor].write("userspace\n") != 0) {
    userspace_ = false;
    return true;
  }
  if (high_ < policy_.highest && write(upper, policy_.highest)) high_ = policy_.highest;
  if (low_ > policy_.lowest && write(lower, policy_.lowest)) low_ = policy_.lowest;
  return true;
}

bool clock_setting::set_limits(std::uint64_t clock) noexcept {
  const auto move = [&](which limit, std::uint64_t& now) {
    if (now == clock) return true;
    if (!write(limit, clock)) return false;
    now = clock;
    return true;
  };
  if (clock > high_) return move(upper, high_) && move(lower, low_);
  return move(lower, low_) && move(upper, high_);
}

bool clock_setting::set(std::uint64_t clock) noexcept {
  if (!engaged_.load(std::memory_order_acquire) && !engage()) return false;
  const bool done = by_userspace() ? write(speed, clock) : set_limits(clock);
  asked_.store(done ? clock : 0, std::memory_order_release);
  return done;
}

void clock_setting::put_back() noexcept {
  if (engaged_.load(std::memory_order_acquire)) put_back_again();
}

void clock_setting::put_back_again() noexcept {
  std::array<int, files> errors{};
  for (std::size_t i = 0; i < orders_; ++i) {
    const order& each = before_[i];
    errors[each.to] = files_[each.to].write({each.bytes.data(), each.size});
  }
  std::uint32_t left = 0;
  for (std::uint32_t at = 0; at < files; ++at) {
    if (errors[at] != 0) left = at << 16 | static_cast<std::uint32_t>(errors[at]);
  }
  left_.store(left, std::memory_order_relaxed);
  asked_.store(0, std::memory_order_release);
  engaged_.store(false, std::memory_order_release);
}

std::string clock_setting::left_behind() const {
  const std::uint32_t left = left_.load(std::memory_order_relaxed);
  if (left == 0) return {};
  return sysfs::why("put back", path(static_cast<which>(left >> 16)), left & 0xffff);
}

std::uint64_t clock_setting::effective() const noexcept {
  if (!effective_) return 0;
  const sysfs::number read = effective_.read_number();
  return read ? read.value : 0;
}

bool clock_setting::check(std::uint64_t asked, std::uint64_t effective) noexcept {
  checks_.fetch_add(1, std::memory_order_relaxed);
  // At its highest clock a core may boost by itself.
  if (close_to(asked, effective) || (asked == policy_.highest && effective > asked)) return false;
  misses_.fetch_add(1, std::memory_order_relaxed);
  missed_.store(asked << 32 | (effective & 0xffffffff), std::memory_order_relaxed);
  return true;
}

/// Returns the first file that no longer holds what was written: others may set the files, and the
/// kernel may narrow the limits.
std::string clock_setting::misread() const {
  const std::uint64_t asked = asked_.load(std::memory_order_acquire);
  if (asked == 0) return {};
  for (const which each : {speed, lower, upper}) {
    if ((each == speed) != by_userspace()) continue;
    sysfs::number held = sysfs::read_number(path(each));
    if (held && !close_to(asked, held.value)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // limits act after a moment
      held = sysfs::read_number(path(each));
    }
    if (asked_.load(std::memory_order_acquire) != asked) return {};
    if (!held) return sysfs::why("read", path(each), held.error);
    if (!close_to(asked, held.value)) {
      return fmt::format("{} holds {} where {} was set: the kernel or another program limits it",
                         path(each), held.value, asked);
    }
  }
  return {};
}

std::string clock_setting::failure() const {
  if (const std::uint32_t failed = failed_.load(std::memory_order_relaxed); failed != 0) {
    const auto at = static_cast<which>(failed >> 16);
    const int error = failed & 0xffff;
    if (at == lock) return policy_.folder + " is set by another process with creek";
    return sysfs::why("set", path(at), error);
  }
  if (std::string other = misread(); !other.empty()) return other;
  if (const std::uint64_t missed = missed_.load(std::memory_order_relaxed); missed != 0) {
    return fmt::format("{} ran at {} kHz where {} were set, in {} of {} checks", policy_.folder,
                       missed & 0xffffffff, missed >> 32, misses_.load(std::memory_order_relaxed),
                       checks_.load(std::memory_order_relaxed));
  }
  return {};
}

}  // namespace creek::power
