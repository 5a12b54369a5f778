// SPDX-License-Identifier: Apache-2.0
// A figure of energy, and where it comes from. A backend that simulates time offers its own;
// everything else is in creek/power.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include <creek/core/units.hpp>

namespace creek {

enum class energy_origin : std::uint8_t {
  unavailable,  ///< there is no figure
  measured,     ///< by counters of the machine
  modelled,     ///< from what workers did, by a model of the host
  simulated,    ///< by the model of a simulated chip, in virtual time
};

constexpr std::string_view to_string(energy_origin origin) noexcept {
  switch (origin) {
    case energy_origin::measured:
      return "measured";
    case energy_origin::modelled:
      return "modelled";
    case energy_origin::simulated:
      return "simulated";
    default:
      return "unavailable";
  }
}

/// Energy used by a simulated chip since its time zero, and that time.
struct simulated_energy {
  units::joules energy;
  units::seconds time;
};

/// Meter that a backend which simulates time installs for the thread that drives it.
class simulated_meter {
 public:
  /// Returns the energy up to the clock of the core that runs on the calling thread now.
  virtual simulated_energy read() noexcept = 0;
  /// Returns the time of read() alone, for callers that ask often.
  virtual units::seconds now() noexcept { return read().time; }

 protected:
  ~simulated_meter() = default;
};

/// Simulations that ran to their end in this process, on any thread.
struct ended_simulations {
  std::uint64_t runs = 0;
  simulated_energy sum;  ///< energies and lengths of all
};

namespace detail {

/// Guards a sum that backends add to at the end of a simulation.
class simulation_tally {
 public:
  void add(simulated_energy run) noexcept {
    const std::lock_guard alone(lock_);
    ++so_far_.runs;
    so_far_.sum.energy += run.energy;
    so_far_.sum.time += run.time;
  }
  [[nodiscard]] ended_simulations so_far() noexcept {
    const std::lock_guard alone(lock_);
    return so_far_;
  }

 private:
  std::mutex lock_;
  ended_simulations so_far_;
};

inline constinit simulation_tally simulations;

inline constinit thread_local simulated_meter* metered_by = nullptr;

}  // namespace detail

}  // namespace creek
