// SPDX-License-Identifier: Apache-2.0
// Records the activity of each core, for energy and trace.
#pragma once

#include <memory>

#include <creek/core/energy.hpp>

#include "chip_trace.hpp"
#include "power/energy_meter.hpp"
#include "simulation/engine.hpp"

namespace creek::scc_backend {

/// A core is busy, or idle in one way. Meter and trace are told of each change at the core's clock.
class activity_log {
 public:
  activity_log(const chip& on, engine& simulation)
      : chip_{on}, simulation_{simulation}, meter_{on} {}

  void becomes_idle(activity kind) {
    meter_.idle(simulation_.running(), kind, simulation_.now());
    if (trace_) [[unlikely]]
      trace_->becomes(simulation_.running(), kind, simulation_.now());
  }
  void resumes() {
    meter_.resume(simulation_.running(), simulation_.now());
    if (trace_) [[unlikely]]
      trace_->becomes(simulation_.running(), activity::busy, simulation_.now());
  }
  /// Parks the running core, which polls unless `kind` says otherwise; see engine::park().
  void park(const char* what, std::uint64_t address, activity kind = activity::waiting) {
    becomes_idle(kind);
    simulation_.park(what, address);
    resumes();
  }
  energy_account switch_account(energy_account to) {
    return meter_.switch_account(simulation_.running(), simulation_.now(), to);
  }

  void begin_span(trace::name what, std::int64_t argument) {
    if (trace_) trace_->begin_span(simulation_.running(), what, argument, simulation_.now());
  }
  void end_span() {
    if (trace_) trace_->end_span(simulation_.running(), simulation_.now());
  }
  /// Records a trace from now on. Call before the run.
  void begin_trace() { trace_ = std::make_unique<chip_trace>(chip_); }
  /// Returns the trace, or null if there is none.
  chip_trace* trace() const noexcept { return trace_.get(); }
  energy_meter& meter() noexcept { return meter_; }

 private:
  const chip& chip_;
  engine& simulation_;
  energy_meter meter_;
  std::unique_ptr<chip_trace> trace_;  ///< null: no trace
};

}  // namespace creek::scc_backend
