// SPDX-License-Identifier: Apache-2.0
// Runs the body of one task of a graph, on any thread.
#pragma once

#include <exception>

#include "graph/graph_failure.hpp"
#include "graph/graph_reports.hpp"
#include "graph_power.hpp"

namespace creek::linalg::detail {

class task_runner {
 public:
  task_runner(const graph_reports& reports, graph_failure& failure,
              const graph_power& power) noexcept
      : reports_(reports), failure_(failure), power_(power) {}
  /// Has bodies run as tasks of their own, which may fork and spawn, or as plain calls.
  void run_as_tasks(bool as_tasks) noexcept { as_tasks_ = as_tasks; }

  /// Runs the body, or drops it if the graph is cancelled or the task reads what a failed one
  /// should have written; and records both.
  void run(graph_task& task) const noexcept;

 private:
  /// Returns the exception of the body, or of a task that it spawned.
  std::exception_ptr call(graph_task& task, bool runs) const noexcept;
  void note_outcome(graph_task& task, bool runs, std::exception_ptr why) const noexcept;

  const graph_reports& reports_;
  graph_failure& failure_;
  const graph_power& power_;
  bool as_tasks_ = false;
};

}  // namespace creek::linalg::detail
