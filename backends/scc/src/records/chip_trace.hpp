// SPDX-License-Identifier: Apache-2.0
// The trace of a simulated run in virtual time: one track per core, whose innermost slices show its
// activity (compute, wait, halt) inside the slices that the program names; and per voltage island
// the frequency (mean of its tiles), voltage and power as graphs.
#pragma once

#include <cstdint>
#include <vector>

#include <creek/core/io/atomic_file.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/scc/chip.hpp>

#include "power/energy_meter.hpp"

namespace creek::scc_backend {

class chip_trace {
 public:
  explicit chip_trace(const chip& of);

  /// Records that the core's activity changes at `at`; times of one core never go back.
  void becomes(core_id core, activity what, virtual_time at);
  void begin_span(core_id core, trace::name what, std::int64_t argument, virtual_time at);
  void end_span(core_id core, virtual_time at);

  /// Ends all slices at `end`, adds the graphs after `meter` and writes the trace to `out`, which
  /// the caller commits. Call it once. Throws creek::error.
  void write(atomic_file& out, const energy_meter& meter, virtual_time end);

 private:
  struct state {
    trace::track* track;
    activity what = activity::halted;
    virtual_time since;
  };
  /// From `at` on, a core draws the power of `what`.
  struct power_step {
    virtual_time at;
    int core;
    activity what;
  };
  state& of_core(core_id core) noexcept { return cores_[core.index()]; }
  void close_slice(state& core, virtual_time at);
  void draw_islands(const energy_meter& meter);
  void draw_island(int island, const std::vector<power_step>& steps, const energy_meter& meter);

  const chip& chip_;
  trace::session session_;
  std::vector<state> cores_;
  std::vector<power_step> steps_;  ///< in the order of recording
};

}  // namespace creek::scc_backend
