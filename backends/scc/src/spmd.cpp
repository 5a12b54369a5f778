// SPDX-License-Identifier: Apache-2.0
// A run from its chip's first cycle to its last.
#include <creek/scc/spmd.hpp>

#include <algorithm>

#include "machine.hpp"

namespace creek::scc_backend {

virtual_time run_report::length() const noexcept {
  return ended.empty() ? virtual_time{} : *std::max_element(ended.begin(), ended.end());
}

run_report run_cores(const machine_options& options, const std::function<void(memory&)>& core) {
  machine simulated(options.description, options.stack_bytes);
  simulated.simulation().run([&](core_id id) {
    memory view(simulated, id);
    core(view);
  });
  run_report report;
  for (int i = 0; i < options.description.cores(); ++i) {
    report.ended.push_back(simulated.simulation().ended_at(core_id{i}));
  }
  report.switches = simulated.simulation().switches();
  return report;
}

}  // namespace creek::scc_backend
