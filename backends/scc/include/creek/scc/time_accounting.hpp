// SPDX-License-Identifier: Apache-2.0
// Accounts of a core's time: whose energy, which activity in the trace, whether computing.
#pragma once

#include <cstdint>

#include <creek/core/measuring/trace.hpp>
#include <creek/scc/core_view.hpp>
#include <creek/scc/usage.hpp>

namespace creek::scc_backend {

/// Changes records only, never the time itself.
class time_accounting : public core_view {
 public:
  explicit time_accounting(const core_view& core) noexcept : core_view(core) {}

  /// Charges this core's energy to another account from now on; returns the previous account.
  /// energy_scope does it for a block.
  energy_account switch_energy_account(energy_account to) const;

  /// Names the core's activity from now on in the trace, until the end of the span; spans of a core
  /// nest. Does nothing without a trace. trace_span does it for a block.
  void begin_span(trace::name what, std::int64_t argument = trace::no_argument) const;
  void end_span() const;
  /// With a measured clock (machine_options::cycles_a_host_second): stops counting the core's work
  /// as computing from here on, and starts it again. For layers whose calls state their own cost.
  void stop_computing() const;
  void start_computing() const;
};

/// Charges a core's energy during a block to an account. Scopes nest: the inner one gets it.
class [[nodiscard]] energy_scope {
 public:
  energy_scope(const core_view& of, energy_account to)
      : of_(of), before_(of_.switch_energy_account(to)) {}
  ~energy_scope() { of_.switch_energy_account(before_); }
  energy_scope(const energy_scope&) = delete;
  energy_scope& operator=(const energy_scope&) = delete;

 private:
  time_accounting of_;
  energy_account before_;
};

/// A named slice of a core's track in the trace, for a block.
class [[nodiscard]] trace_span {
 public:
  trace_span(const core_view& of, trace::name what, std::int64_t argument = trace::no_argument)
      : of_(of) {
    of_.begin_span(what, argument);
  }
  ~trace_span() { of_.end_span(); }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;

 private:
  time_accounting of_;
};

}  // namespace creek::scc_backend
