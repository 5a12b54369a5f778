// SPDX-License-Identifier: Apache-2.0
// A figure of energy, and where it comes from. A backend that keeps its own clock offers its own
// figure; everything else is in creek/power.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

#include <creek/core/units.hpp>

namespace creek {

enum class energy_origin : std::uint8_t {
  unavailable,  ///< there is no figure
  measured,     ///< by counters of the machine
  modelled,     ///< from what workers did, by a model of the host
  by_backend,   ///< by the model of a backend that keeps its own clock
};

constexpr std::string_view to_string(energy_origin origin) noexcept {
  switch (origin) {
    case energy_origin::measured:
      return "measured";
    case energy_origin::modelled:
      return "modelled";
    case energy_origin::by_backend:
      return "simulated";
    default:
      return "unavailable";
  }
}

/// Energy that a backend has used since the zero of its own clock, and that time.
struct metered_energy {
  units::joules energy;
  units::seconds time;
};

/// Meter of a backend that keeps its own clock, for the thread that runs its workers.
class backend_meter {
 public:
  /// Returns the meter of the calling thread, or nullptr: then the machine's meters count.
  static backend_meter* current() noexcept { return current_; }
  /// Installs a meter, or none, for the calling thread; returns the one before.
  static backend_meter* exchange(backend_meter* next) noexcept {
    return std::exchange(current_, next);
  }

  /// Returns the energy up to the clock of the worker that runs on the calling thread now.
  virtual metered_energy read() noexcept = 0;
  /// Returns the time of read() alone, for callers that ask often.
  virtual units::seconds now() noexcept { return read().time; }

 protected:
  ~backend_meter() = default;

 private:
  static inline constinit thread_local backend_meter* current_ = nullptr;
};

/// Runs of such backends that have ended.
struct run_total {
  std::uint64_t runs = 0;
  metered_energy sum;  ///< energies and lengths of all
};

/// Adds up the runs that end in this process, on any thread.
class metered_runs {
 public:
  static void add(metered_energy run) noexcept {
    const std::lock_guard alone(lock_);
    ++total_.runs;
    total_.sum.energy += run.energy;
    total_.sum.time += run.time;
  }
  [[nodiscard]] static run_total so_far() noexcept {
    const std::lock_guard alone(lock_);
    return total_;
  }

 private:
  static inline constinit std::mutex lock_;
  static inline constinit run_total total_;
};

}  // namespace creek
