// SPDX-License-Identifier: Apache-2.0
// Meter of the energy used in a span of a program, with the origin of the figure: the machine's
// counters, a model, the backend's own meter, or none, with the reason and how to get access.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/energy.hpp>
#include <creek/core/units.hpp>
#include <creek/power/host_model.hpp>

namespace creek::power {

/// NaN, so that a sum that ignores the origin cannot look like a result.
inline constexpr units::joules no_joules{std::numeric_limits<double>::quiet_NaN()};

struct energy_figure {
  units::joules energy = no_joules;  ///< NaN if origin is `unavailable`
  energy_origin origin = energy_origin::unavailable;
  std::string source;  ///< rapl, perf, nvml, model or simulation; empty: none
  std::string reason;  ///< if unavailable: reason and how to get access, in one line

  [[nodiscard]] bool available() const noexcept { return origin != energy_origin::unavailable; }
};

/// Part of the machine with its own counter.
struct domain_figure {
  std::string name;  ///< package-0, package-0/core, package-0/dram, psys, gpu-0 ...
  units::joules energy;
  bool counted = true;  ///< part of the total; false: in another (core) or around all (psys)
};

struct meter_reading {
  energy_figure energy;  ///< whole machine (measured), or the parts covered by the model
  std::vector<domain_figure> domains;
  units::seconds wall;  ///< wall time of the figure, by the backend's clock if the figure is its
  units::seconds cpu;   ///< all threads of this process, in real time; always available

  /// Returns the mean power; NaN without a figure or if wall time is 0.
  [[nodiscard]] units::watts mean_power() const noexcept {
    return wall.value > 0 ? energy.energy / wall
                          : units::watts{std::numeric_limits<double>::quiet_NaN()};
  }
};

enum class meter_source : unsigned char {
  automatic,  ///< simulation, else rapl, else perf; never a model or part of the machine
  rapl,       ///< powercap in sysfs
  perf,       ///< energy events of the kernel's perf
  nvml,       ///< NVIDIA GPUs only, without the host's cores
  model,      ///< host_model
  none,
};

[[nodiscard]] std::string_view to_string(meter_source source) noexcept;
/// Parses auto, rapl, perf, nvml, model or none. Throws usage_error that lists them.
[[nodiscard]] meter_source parse_meter_source(std::string_view name);

/// Source of the workers' activity, for a model: see accounting.
class activity_source {
 public:
  /// Returns the activity since some moment in the past; only differences count. Any thread.
  [[nodiscard]] virtual core_activity activity() const = 0;

 protected:
  ~activity_source() = default;
};

struct meter_options {
  meter_source source = meter_source::automatic;
  std::string sysfs = "/sys";  ///< directory of the kernel's files; CREEK_SYSFS
  host_model model;            ///< for meter_source::model
  /// For a model: distinguishes computing from polling; must outlive the meter. Null: all CPU time
  /// counts as computing, at the nominal clock.
  const activity_source* activity = nullptr;
  unsigned cores = 0;  ///< number of cores in the model; 0: those that this process may use
  /// Interval at which an extra thread reads the counters, so that no wrap-around is missed; 0: no
  /// thread. An Intel counter of 2^32 * 61 uJ lasts 22 minutes at 200 W, AMD's of 65.5 kJ 5.5
  /// minutes, one of 2^32 uJ 21 seconds. perf's and NVML's do not wrap in a machine's lifetime.
  /// Without the thread one wrap between two reads is detected; if a second one was possible, the
  /// figure is unavailable and says so.
  std::chrono::milliseconds sample_every{0};

  /// Returns the options set by CREEK_METER and CREEK_SYSFS. Throws usage_error.
  [[nodiscard]] static meter_options from_environment();
};

/// Measures from construction on. Used by one thread at a time. The constructor opens the files and
/// read() reuses them, so reading costs one system call per counter.
///
/// Counters cover the whole machine, including other processes.
class meter {
 public:
  /// Configures the meter from the environment. Throws usage_error for a variable with a bad value;
  /// a machine without counters is no error.
  meter();
  /// Throws usage_error for an invalid model.
  explicit meter(const meter_options& options);
  ~meter();
  meter(meter&&) noexcept;
  meter& operator=(meter&&) noexcept;

  /// Returns the figures since construction or restart(). A counter that vanished or went backwards
  /// makes this figure and all later ones, until restart(), unavailable.
  [[nodiscard]] meter_reading read();
  /// Returns the energy figure alone: reads fewer counters, and no CPU time.
  [[nodiscard]] energy_figure read_energy();
  /// Starts a new measurement.
  void restart();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// State of a source: usable, or the reason why not.
struct meter_state {
  meter_source source;
  bool usable = false;
  std::string detail;  ///< usable: domains, comma-separated; else the reason and the remedy
};

/// Returns all sources of measured figures, in the order that `automatic` uses, then NVML, which it
/// does not use. Opens and closes each.
[[nodiscard]] std::vector<meter_state> look_for_meters(const meter_options& options);

}  // namespace creek::power
