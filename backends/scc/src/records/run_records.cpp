// SPDX-License-Identifier: Apache-2.0
#include "run_records.hpp"

namespace creek::scc_backend {

usage_report run_records::usage(virtual_time end) {
  usage_report made = log_.meter().report(end);
  traffic_.report(made.cores);
  for (int i = 0; i < chip_.cores(); ++i) {
    made.cores[static_cast<std::size_t>(i)].interrupts = interrupts_.taken(core_id{i});
  }
  return made;
}

void run_records::tally(virtual_time end) {
  metered_runs::add({log_.meter().report(end).total, end.in_seconds()});
}

void run_records::open(const std::string& trace_file, const std::string& heatmap_file,
                       atomic_file::targets may_be) {
  if (!trace_file.empty()) {
    trace_file_.emplace(trace_file, may_be);
    log_.begin_trace();
  }
  if (!heatmap_file.empty()) {
    heatmap_file_.emplace(heatmap_file, may_be);
    traffic_.count_flows(chip_.columns * chip_.rows);
  }
}

void run_records::write(virtual_time end) {
  if (log_.trace() != nullptr) log_.trace()->write(*trace_file_, log_.meter(), end);
  if (const tile_flows* flows = traffic_.flows()) {
    heatmap_file_->write(heatmap(chip_, usage(end), *flows, end));
  }
  if (trace_file_) trace_file_->prepare();
  if (heatmap_file_) heatmap_file_->prepare();
  if (trace_file_) trace_file_->commit();
  if (heatmap_file_) heatmap_file_->commit();
}

}  // namespace creek::scc_backend
