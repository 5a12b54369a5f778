// SPDX-License-Identifier: Apache-2.0
// Pins threads for the limits, which are about two particular cores.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <stdexcept>
#include <vector>

namespace bench::limits {

/// Returns the CPUs that this process may use, in the kernel's order.
inline std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

/// Returns two different CPUs; throws if the process has only one.
inline std::pair<int, int> two_cpus() {
  const auto cpus = allowed_cpus();
  if (cpus.size() < 2) throw std::runtime_error("needs two processors");
  return {cpus[0], cpus[1]};
}

/// Keeps the calling thread on `cpu` while it lives, and then restores its old mask.
class pin {
 public:
  explicit pin(int cpu) {
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  ~pin() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
  pin(const pin&) = delete;
  pin& operator=(const pin&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace bench::limits
