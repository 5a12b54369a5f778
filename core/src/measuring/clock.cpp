// SPDX-License-Identifier: Apache-2.0
// Choosing the source of tick_clock and measuring its rate.
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>
#include <string>

#include <creek/core/measuring/clock.hpp>

namespace creek {

constinit std::atomic<tick_clock::source> tick_clock::source_{source::undecided};
constinit std::atomic<double> tick_clock::rate_{0};

namespace {

using std::chrono::nanoseconds;

nanoseconds monotonic() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

// CPUID Fn8000_0007 EDX[8]: the counter runs at a constant rate in all P-, C- and T-states. Whether
// the CPUs' counters agree, only the kernel knows; if they do not, it falls back to another timer.
bool tsc_is_reliable() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return false;
  try {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string name;
    file >> name;
    return name != "hpet" && name != "acpi_pm" && name != "jiffies" && name != "refined-jiffies";
  } catch (...) {
    return false;  // out of memory: the slow clock always works
  }
#else
  return false;
#endif
}

struct anchor {
  ticks at;
  nanoseconds time;
};

// Returns, of a few pairs of readings, the one with the least time in between: an interrupt there
// would falsify the rate.
anchor take_anchor() noexcept {
  anchor best{};
  ticks least{~std::uint64_t{0}};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const ticks before = tick_clock::now();
    const nanoseconds time = monotonic();
    const ticks after = tick_clock::now();
    if (after - before < least) {
      least = after - before;
      best = {{before.count + least.count / 2}, time};
    }
  }
  return best;
}

const anchor& first_anchor() noexcept {
  static const anchor first = take_anchor();
  return first;
}

}  // namespace

ticks tick_clock::now_slow() noexcept {
  if (source_.load(std::memory_order_relaxed) == source::undecided) {
    // Two threads may decide at once; both decide alike.
    source_.store(tsc_is_reliable() ? source::tsc : source::system, std::memory_order_relaxed);
    first_anchor();
    return now();
  }
  return {static_cast<std::uint64_t>(monotonic().count())};
}

bool tick_clock::uses_tsc() noexcept {
  static_cast<void>(now());
  return source_.load(std::memory_order_relaxed) == source::tsc;
}

tick_scale tick_clock::scale() noexcept {
  if (!uses_tsc()) {
    rate_.store(1.0, std::memory_order_relaxed);
    return {};
  }
  constexpr nanoseconds shortest = std::chrono::microseconds(200);
  const anchor& first = first_anchor();
  while (monotonic() - first.time < shortest) cpu_pause();
  const anchor last = take_anchor();
  const double rate = static_cast<double>((last.time - first.time).count()) /
                      static_cast<double>((last.at - first.at).count);
  rate_.store(rate, std::memory_order_relaxed);
  return {first.at, first.time, rate};
}

double tick_clock::measure_rate() noexcept {
  return scale().ns_per_tick;
}

}  // namespace creek
