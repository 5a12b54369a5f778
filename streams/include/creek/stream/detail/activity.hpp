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

/// Ticks of the host's clock, or nanoseconds of the clock that the backend keeps of its own.
struct activity_clock {
  [[nodiscard]] static ticks now() noexcept {
    if (backend_meter* const meter = backend_meter::current()) [[unlikely]]
      return {static_cast<std::uint64_t>(meter->now().value * 1e9)};
    return tick_clock::now();
  }
};

/// Used by the process's own strand, but for `ready_at` and `tasks`.
struct activity {
  enum class wait : std::uint8_t { items, room, elsewhere };

  void begin() noexcept {
    begun = activity_clock::now();
    trace::begin(track, "active");
  }
  void end() noexcept {
    ended = activity_clock::now();
    trace::end(track);
  }
  void wait_begins() noexcept {
    ready_at = {};
    waits_since = activity_clock::now();
    trace::end(track);
  }
  /// Returns how long it waited, without the time for which it was ready.
  ticks wait_ends(wait what) noexcept {
    const ticks now = activity_clock::now();
    const ticks over = ready_at.count == 0 ? now : ready_at;
    waited[static_cast<std::size_t>(what)] =
        waited[static_cast<std::size_t>(what)] + (over - waits_since);
    queued = queued + (now - over);
    trace::begin(track, "active");
    return over - waits_since;
  }
  /// Called by the thread that ends a wait, before it resumes the process.
  void is_ready() noexcept { ready_at = activity_clock::now(); }

  ticks begun, ended, waits_since, ready_at, queued;
  std::array<ticks, 3> waited{};
  std::atomic<std::uint64_t> tasks{0};  ///< ticks of the tasks of a parallel stage
  trace::track* track = nullptr;
};

}  // namespace creek::stream::detail
