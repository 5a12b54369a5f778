// SPDX-License-Identifier: Apache-2.0
// Facts about this process that tests query from the system.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace creek::support {

#if defined(__has_feature)  // Clang
inline constexpr bool under_asan = __has_feature(address_sanitizer);
inline constexpr bool under_tsan = __has_feature(thread_sanitizer);
#else
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool under_asan = true;
#else
inline constexpr bool under_asan = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif
#endif
inline constexpr bool under_sanitizer = under_asan || under_tsan;

/// Returns the CPU seconds of all threads so far, user and system.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Returns field `index` of /proc/self/statm in bytes: 0 address space, 1 resident.
inline std::size_t memory_bytes(int index) {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  for (int i = 0; i <= index; ++i) statm >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
inline std::size_t address_space() {
  return memory_bytes(0);
}
inline std::size_t resident_bytes() {
  return memory_bytes(1);
}

/// Returns true if every thread but the caller's sleeps.
inline bool others_sleep() {
  const std::string self = std::to_string(gettid());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == self) continue;
    std::ifstream file(thread.path() / "stat");
    std::string stat;
    std::getline(file, stat);  // "14 (name) S ..."; empty if the thread has just ended
    const auto name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat.at(name_end + 2) != 'S') return false;
  }
  return true;
}

/// Gives the other threads time to fall asleep; they may not, if they have work or poll.
inline void let_others_sleep() {
  for (int i = 0; i < 1000 && !others_sleep(); ++i) std::this_thread::yield();
}

/// Returns the number of mappings of this process.
inline std::size_t mapping_count() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

}  // namespace creek::support
