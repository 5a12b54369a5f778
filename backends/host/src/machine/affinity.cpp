// SPDX-License-Identifier: Apache-2.0
// Affinity masks of any size, and thread names, through the Linux calls themselves: binding by
// hwloc would keep a topology alive for nothing.
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>

namespace creek::host_backend {
namespace {

struct free_cpu_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

// A cpu_set_t for `cpus` CPUs, empty.
struct cpu_mask {
  explicit cpu_mask(int cpus) : bytes(CPU_ALLOC_SIZE(cpus)), set(CPU_ALLOC(cpus)) {
    if (set == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes, set.get());
  }
  std::size_t bytes;
  std::unique_ptr<cpu_set_t, free_cpu_set> set;
};

}  // namespace

std::vector<int> affinity_mask() {
  // The kernel refuses a mask shorter than its own and does not say how long that is.
  constexpr int longest = 1 << 20;
  for (int cpus = 1024; cpus <= longest; cpus *= 4) {
    cpu_mask mask(cpus);
    if (sched_getaffinity(0, mask.bytes, mask.set.get()) == 0) {
      std::vector<int> units;
      const auto count = static_cast<std::size_t>(CPU_COUNT_S(mask.bytes, mask.set.get()));
      units.reserve(count);
      for (int cpu = 0; units.size() < count; ++cpu) {
        if (CPU_ISSET_S(static_cast<unsigned>(cpu), mask.bytes, mask.set.get())) {
          units.push_back(cpu);
        }
      }
      return units;
    }
    if (errno != EINVAL) break;
  }
  throw error(errno, "affinity mask");
}

void allow_this_thread(const std::vector<int>& os_indices) {
  const int most = os_indices.empty() ? 0 : std::ranges::max(os_indices);
  if (os_indices.empty() || std::ranges::min(os_indices) < 0) {
    throw usage_error("allow_this_thread: needs at least one processing unit, numbered from 0");
  }
  cpu_mask mask(most + 1);
  for (int cpu : os_indices) CPU_SET_S(static_cast<unsigned>(cpu), mask.bytes, mask.set.get());
  if (sched_setaffinity(0, mask.bytes, mask.set.get()) != 0) {
    throw error(errno, os_indices.size() == 1
                           ? fmt::format("bind to processing unit {}", most)
                           : fmt::format("bind to {} processing units", os_indices.size()));
  }
}

void bind_this_thread(int os_index) {
  allow_this_thread({os_index});
}

void name_this_thread(std::string_view name) noexcept {
  constexpr std::size_t most = 15, tail = 4;
  char text[most + 1] = {};
  if (name.size() <= most) {
    std::ranges::copy(name, text);
  } else {
    std::ranges::copy(name.substr(0, most - tail), text);
    std::ranges::copy(name.substr(name.size() - tail), text + most - tail);
  }
  pthread_setname_np(pthread_self(), text);
}

std::string this_thread_name() {
  char text[16] = {};
  pthread_getname_np(pthread_self(), text, sizeof text);
  return text;
}

}  // namespace creek::host_backend
