// SPDX-License-Identifier: Apache-2.0
// Measures what a process does with its time. Only where the program has asked for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <creek/core/energy.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/trace.hpp>

namespace creek::stream::detail {

/// Ticks of the host's clock, or nanoseconds of the one that a backend keeps of its own.
struct activity_clock {
  bool is_of_backend = false;
  [[nodiscard]] ticks now() const noexcept {
    backend_meter* const meter = is_of_backend ? backend_meter::current() : nullptr;
    if (meter == nullptr) return tick_clock::now();
    return {static_cast<std::uint64_t>(meter->now().value * 1e9)};
  }
};

/// Used by the process's own strand, but for `ready_at` and `tasks`.
struct activity {
  explicit activity(activity_clock by) noexcept : clock(by) {}
  enum class wait : std::uint8_t { items, room, elsewhere };

  void begin() noexcept {
    begun = clock.now();
    trace::begin(track, "active");
  }
  void end() noexcept {
    ended = clock.now();
    trace::end(track);
  }
  void wait_begins() noexcept {
    ready_at = {};
    waits_since = clock.now();
    trace::end(track);
  }
  /// Returns how long it waited, without the time for which it was ready.
  ticks wait_ends(wait what) noexcept {
    const ticks now = clock.now();
    const ticks over = ready_at.count == 0 ? now : ready_at;
    waited[static_cast<std::size_t>(what)] =
        waited[static_cast<std::size_t>(what)] + (over - waits_since);
    queued = queued + (now - over);
    trace::begin(track, "active");
    return over - waits_since;
  }
  /// Called by the thread that ends a wait, before it resumes the process.
  void is_ready() noexcept { ready_at = clock.now(); }

  const activity_clock clock;
  ticks begun, ended, waits_since, ready_at, queued;
  std::array<ticks, 3> waited{};
  std::atomic<std::uint64_t> tasks{0};  ///< ticks of the tasks of a parallel stage
  trace::track* track = nullptr;
};

}  // namespace creek::stream::detail
