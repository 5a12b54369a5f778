// SPDX-License-Identifier: Apache-2.0
#include "setting_files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace creek::power {

namespace {

constexpr const char* file_names[] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq",
                                      "scaling_setspeed"};

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

std::size_t put_number(setting_text& into, std::uint64_t clock) noexcept {
  char* end = std::to_chars(into.data(), into.data() + into.size() - 1, clock).ptr;
  *end++ = '\n';
  return static_cast<std::size_t>(end - into.data());
}

std::uint32_t packed(setting at, int error) noexcept {
  return static_cast<std::uint32_t>(at) << 16 | static_cast<std::uint32_t>(error);
}

}  // namespace

setting_files::setting_files(const cpufreq_policy& policy) : policy_(policy) {
  if (!policy.problem.empty()) return;
  for (std::size_t at = 0; at < setting_count; ++at) {
    files_[at] = sysfs::file(policy.file(file_names[at]), O_RDWR);
  }
}

std::string setting_files::path(setting which) const {
  return policy_.file(file_names[static_cast<std::size_t>(which)]);
}

std::string setting_files::why_not() const {
  if (!policy_.problem.empty()) return policy_.problem;
  for (const setting limit : {setting::upper, setting::lower}) {
    const sysfs::file& file = (*this)[limit];
    if (!file) return remedy(path(limit), file.error());
  }
  return {};
}

bool setting_files::fail(setting at, int error) noexcept {
  std::uint32_t none = 0;
  failed_.compare_exchange_strong(none, packed(at, error), std::memory_order_relaxed);
  return false;
}

bool setting_files::write(setting to, std::uint64_t clock) noexcept {
  setting_text bytes;
  const int error = (*this)[to].write({bytes.data(), put_number(bytes, clock)});
  return error == 0 || fail(to, error);
}

std::string setting_files::failure() const {
  const std::uint32_t failed = failed_.load(std::memory_order_relaxed);
  if (failed == 0) return {};
  const auto at = static_cast<setting>(failed >> 16);
  if (at == setting::lock) return policy_.folder + " is set by another process with creek";
  return sysfs::why("set", path(at), failed & 0xffff);
}

void saved_settings::add(setting to, std::string_view word) noexcept {
  order& next = orders_[size_++];
  next.to = to;
  next.size = std::min(word.size(), next.bytes.size() - 1);
  std::memcpy(next.bytes.data(), word.data(), next.size);
  next.bytes[next.size++] = '\n';
}

void saved_settings::add(setting to, std::uint64_t clock) noexcept {
  order& next = orders_[size_++];
  next.to = to;
  next.size = put_number(next.bytes, clock);
}

void saved_settings::restore(const setting_files& files) noexcept {
  std::array<int, setting_count> errors{};
  for (std::size_t i = 0; i < size_; ++i) {
    const order& each = orders_[i];
    errors[static_cast<std::size_t>(each.to)] =
        files[each.to].write({each.bytes.data(), each.size});
  }
  std::uint32_t left = 0;
  for (std::size_t at = 0; at < setting_count; ++at) {
    if (errors[at] != 0) left = packed(static_cast<setting>(at), errors[at]);
  }
  left_.store(left, std::memory_order_relaxed);
}

std::string saved_settings::left_behind(const setting_files& files) const {
  const std::uint32_t left = left_.load(std::memory_order_relaxed);
  if (left == 0) return {};
  return sysfs::why("put back", files.path(static_cast<setting>(left >> 16)), left & 0xffff);
}

}  // namespace creek::power
