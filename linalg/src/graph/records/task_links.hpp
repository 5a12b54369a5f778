// SPDX-License-Identifier: Apache-2.0
// Edges between the records of tasks. The enqueuer enters them at predecessors that may end
// meanwhile; the thread that ends a task closes its list. README.md of this module describes it.
#pragma once

#include <cstdint>
#include <span>

#include "graph_task.hpp"
#include "task_records.hpp"

namespace creek::linalg::detail {

/// Dependence of the task that is being added.
struct found_edge {
  graph_task* from;
  std::uintptr_t flags;
};

/// Links a task to those predecessors that have not ended; returns their number. Called by the
/// enqueuer, with as many spare edges reserved as the task may need.
std::int32_t link_predecessors(graph_task& task, std::span<const found_edge> found,
                               task_records& records) noexcept;

/// Number added to `pending` while a task is linked, because predecessors may end meanwhile.
inline constexpr std::int32_t linking = 1 << 30;

/// Subtracts it, when `edges` predecessors were found; returns whether none is left to wait for.
bool end_linking(graph_task& task, std::int32_t edges) noexcept;

/// Ends a task that ran on worker `here`: no edge can be entered any more. Returns the successors
/// that became ready, linked through `next`, and adds its edges to `edges`.
graph_task* close_successors(graph_task& task, int here, unsigned& edges) noexcept;

}  // namespace creek::linalg::detail
