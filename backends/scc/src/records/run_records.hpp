// SPDX-License-Identifier: Apache-2.0
// The records of a run: its usage, and the files of its trace and heatmap.
#pragma once

#include <optional>
#include <string>

#include <creek/core/io/atomic_file.hpp>

#include "activity_log.hpp"
#include "chip/interrupt_controller.hpp"

namespace creek::scc_backend {

/// Both files are written or none.
class run_records {
 public:
  run_records(const chip& on, activity_log& log, traffic_counters& traffic,
              const interrupt_controller& interrupts)
      : chip_{on}, log_{log}, traffic_{traffic}, interrupts_{interrupts} {}

  /// Opens the two files and records their data; call before the run. An empty name: no such file.
  /// Throws creek::error.
  void open(const std::string& trace_file, const std::string& heatmap_file,
            atomic_file::targets may_be);
  /// Writes the files; call it once. Throws creek::error.
  void write(virtual_time end);
  /// Returns the usage from time zero to `end`, after which nothing has happened yet.
  usage_report usage(virtual_time end);
  /// Adds the run to the process's total of simulations; call it once, at the end of the run.
  void tally(virtual_time end);

 private:
  const chip& chip_;
  activity_log& log_;
  traffic_counters& traffic_;
  const interrupt_controller& interrupts_;
  std::optional<atomic_file> trace_file_, heatmap_file_;
};

}  // namespace creek::scc_backend
