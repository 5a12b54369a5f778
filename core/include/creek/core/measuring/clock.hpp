// SPDX-License-Identifier: Apache-2.0
// Cheap time. A tick is one count of the time stamp counter where that counter is invariant and the
// kernel trusts it, else one nanosecond of CLOCK_MONOTONIC; ticks turn into nanoseconds by a scale
// that is measured against CLOCK_MONOTONIC and gets better the longer the process lives.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

/// Tells the CPU that this is a spin loop. 3-140 cycles depending on the model, so bound spins by
/// time (spin_until), not by count.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// A point or a span of time on tick_clock.
struct ticks {
  std::uint64_t count = 0;

  friend constexpr ticks operator+(ticks a, ticks b) noexcept { return {a.count + b.count}; }
  friend constexpr ticks operator-(ticks a, ticks b) noexcept { return {a.count - b.count}; }
  friend constexpr auto operator<=>(ticks, ticks) = default;
};

/// How ticks map to CLOCK_MONOTONIC: time = origin_time + (t - origin) * ns_per_tick.
struct tick_scale {
  ticks origin;
  std::chrono::nanoseconds origin_time{0};
  double ns_per_tick = 1.0;

  /// Returns the time on CLOCK_MONOTONIC of a point in ticks.
  [[nodiscard]] std::chrono::nanoseconds time_of(ticks at) const noexcept {
    // Signed, since a point may lie before the origin.
    const auto passed = static_cast<std::int64_t>(at.count - origin.count);
    return origin_time +
           std::chrono::nanoseconds(static_cast<std::int64_t>(double(passed) * ns_per_tick));
  }
};

/// The clock of this process. Has static functions only; any thread may call them.
class tick_clock {
 public:
  /// Reads the clock: 5-10 ns with the time stamp counter, 20-50 ns without. Neither a fence nor
  /// ordered with the loads and stores around it (a few nanoseconds of slack). Comparable between
  /// the threads of a process.
  [[nodiscard]] static ticks now() noexcept {
#if defined(__x86_64__)
    if (source_.load(std::memory_order_relaxed) == source::tsc) [[likely]] {
      return {__builtin_ia32_rdtsc()};
    }
#endif
    return now_slow();
  }

  /// Returns the scale, measured from the first use of the clock until now; the rate is good to
  /// 1e-3 at once and to 1e-6 after a second. The first call may take 0.2 ms.
  [[nodiscard]] static tick_scale scale() noexcept;

  /// Converts a span to nanoseconds, by a rate cached from the latest scale(): a multiplication.
  [[nodiscard]] static std::chrono::nanoseconds to_nanoseconds(ticks span) noexcept {
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(span.count) * rate()));
  }

  /// Converts a span of time to ticks; negative spans give 0, and those of many years 2^62.
  [[nodiscard]] static ticks from_nanoseconds(std::chrono::nanoseconds span) noexcept {
    if (span.count() <= 0) return {};
    const double exact = static_cast<double>(span.count()) / rate();
    return {exact < 0x1p62 ? static_cast<std::uint64_t>(exact) : std::uint64_t{1} << 62};
  }

  /// Returns true if now() reads the time stamp counter.
  [[nodiscard]] static bool uses_tsc() noexcept;

 private:
  enum class source : std::uint8_t { undecided, tsc, system };

  static ticks now_slow() noexcept;
  static double measure_rate() noexcept;
  static double rate() noexcept {
    const double known = rate_.load(std::memory_order_relaxed);
    return known != 0 ? known : measure_rate();
  }

  // Constant-initialised, so that the clock works before and after main as well.
  static constinit std::atomic<source> source_;
  static constinit std::atomic<double> rate_;  // ns per tick; 0: not measured yet
};

/// Keeps this CPU busy for `span`.
inline void spin_for(std::chrono::nanoseconds span) noexcept {
  const ticks start = tick_clock::now();
  const ticks length = tick_clock::from_nanoseconds(span);
  while (tick_clock::now() - start < length) cpu_pause();
}

/// Spins until `condition()` is true or `limit` has passed; returns the last value of
/// `condition()`. The clock is read only every eighth round: it costs as much as a short pause.
template <std::predicate Condition>
[[nodiscard]] bool spin_until(Condition condition, std::chrono::nanoseconds limit) {
  if (condition()) return true;
  const ticks start = tick_clock::now();
  const ticks length = tick_clock::from_nanoseconds(limit);
  do {
    for (int round = 0; round < 8; ++round) {
      cpu_pause();
      if (condition()) return true;
    }
  } while (tick_clock::now() - start < length);
  return condition();
}

}  // namespace creek
