// SPDX-License-Identifier: Apache-2.0
// A bare futex wake: the time from before the system call to the woken thread's first instruction,
// and until an awake waker sees its answer on a cache line. n wakes; the sleeper is left alone as
// long as in the workload `wakeup`, and on whatever core the kernel puts it, as there.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "harness/workload.hpp"
#include "pinning.hpp"
#include "wakeup/config.hpp"

namespace bench::limits {
namespace {

constexpr description what{.name = "futex_wake",
                           .about = "bare futex wake until the sleeper runs",
                           .unit = "ns",
                           .full = 200,
                           .quick = 40,
                           .smoke = 3,
                           .min_workers = 2,
                           .limit = true,
                           .warmup = false};
constexpr description trip{.name = "futex_trip",
                           .about = "bare futex wake until the sleeper's answer is seen",
                           .unit = "ns",
                           .full = 200,
                           .quick = 40,
                           .smoke = 3,
                           .min_workers = 2,
                           .limit = true,
                           .warmup = false,
                           .groups = "invoke"};
constexpr description far_trip{.name = "futex_trip_far",
                               .about = "... with the sleeper kept on another core",
                               .unit = "ns",
                               .full = 200,
                               .quick = 40,
                               .smoke = 3,
                               .min_workers = 2,
                               .limit = true,
                               .warmup = false,
                               .groups = "invoke"};

using word = std::atomic<std::uint32_t>;

void sleep_on(word& w, std::uint32_t value) {
  while (w.load(std::memory_order_acquire) == value) {
    syscall(SYS_futex, &w, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
  }
}

void wake(word& w) {
  w.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &w, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

sample measure(const settings& s) {
  word given{0};
  wakeup::clock::time_point began;
  word answered{0};
  std::jthread sleeper([&] {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(s.n); ++i) {
      sleep_on(given, i);
      began = wakeup::clock::now();
      wake(answered);
    }
  });
  std::vector<double> latencies;
  for (std::int64_t i = 0; i < s.n; ++i) {
    std::this_thread::sleep_for(wakeup::gap);
    const auto handed = wakeup::clock::now();
    wake(given);
    sleep_on(answered, static_cast<std::uint32_t>(i));
    latencies.push_back(std::chrono::duration<double, std::nano>(began - handed).count());
  }
  return median_sample(std::move(latencies), static_cast<std::uint64_t>(s.n));
}

const registration registered{what, measure};

/// Measures trips of waker and sleeper, which are pinned to `cores` if given.
sample trips(const settings& s, const std::optional<std::pair<int, int>>& cores) {
  word given{0};
  alignas(64) word answered{0};
  std::jthread sleeper([&] {
    std::optional<pin> stay;
    if (cores) stay.emplace(cores->second);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(s.n); ++i) {
      sleep_on(given, i);
      answered.store(i + 1, std::memory_order_release);
    }
  });
  std::optional<pin> stay;
  if (cores) stay.emplace(cores->first);
  std::vector<double> times;
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(s.n); ++i) {
    std::this_thread::sleep_for(wakeup::gap);
    times.push_back(timed([&] {
      wake(given);
      while (answered.load(std::memory_order_acquire) != i) {
      }
    }));
  }
  return median_sample(std::move(times), answered.load());
}

sample measure_trip(const settings& s) {
  return trips(s, {});
}
sample measure_far_trip(const settings& s) {
  return trips(s, two_cpus());
}

const registration with_trip{trip, measure_trip};
const registration with_far_trip{far_trip, measure_far_trip};

}  // namespace
}  // namespace bench::limits
