// SPDX-License-Identifier: Apache-2.0
// How the programs of `creek bench scc-invoke` enter a runtime on the simulated chip, and read its
// clock.
#pragma once

#include <fmt/format.h>

#include <cerrno>

#include <creek/core/error.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>

#include "invocations.hpp"

namespace creek::tool {

/// Throws creek::error if the simulated program found something wrong.
inline void require(bool right, const char* what) {
  if (!right) throw error(EIO, fmt::format("scc-invoke: {}", what));
}

inline double seconds(virtual_time span) {
  return span.in_seconds().value;
}

/// Returns the virtual time. Call it inside run_tasks.
inline virtual_time now() {
  return *scc_backend::simulated_now();
}

/// Runs `body` on core 0 of a runtime on all cores that take part.
template <class Body>
scc_backend::task_report run_tasks(const invocation_setup& on, idle_policy idle, Body body) {
  scc_backend::task_report report;
  scc chosen({}, on.machine);
  chosen.machine.seed = 0;  // the seed of the options is used
  if (on.machine.seed != 0) chosen.options.seed = on.machine.seed;
  chosen.options.workers = static_cast<unsigned>(on.cores);
  chosen.options.messages = on.protocol;
  chosen.options.idle = idle;
  chosen.report = &report;
  {
    runtime rt{chosen};
    rt.run(body);
  }
  return report;
}

}  // namespace creek::tool
