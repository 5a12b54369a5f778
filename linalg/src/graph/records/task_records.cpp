// SPDX-License-Identifier: Apache-2.0
#include "task_records.hpp"

#include <algorithm>
#include <cassert>

namespace creek::linalg::detail {

void task_records::recycle(graph_task* ended) {
  while (ended != nullptr) {
    graph_task& task = *std::exchange(ended, ended->next);
    if (task.failed) failed_.insert(task.number);
    while (task.spare_edges != nullptr) put_edge(task);
    (task.newer != nullptr ? task.newer->older : newest_) = task.older;
    if (task.older != nullptr) task.older->newer = task.newer;
    task.number = graph_task::no_number;
    records_.put(&task);
  }
}

/// Takes the task's edges off what their successors wait for.
bool task_records::verify_edges(const graph_task& task) noexcept {
  const graph_edge* edge = task.successors.load(std::memory_order_acquire);
  if (edge == graph_task::closed()) return true;
  for (; edge != nullptr; edge = edge->next) {
    graph_task& successor = *edge->successor();
    const bool is_younger =
        successor.number > task.number && successor.number != graph_task::no_number;
    if (!is_younger || successor.found_at-- == 0) return false;
  }
  return true;
}

bool task_records::verify() const noexcept {
  // A count of pending predecessors only falls. It is read before the edges that it includes.
  for (graph_task* task = newest_; task != nullptr; task = task->older) {
    const graph_task* older = task->older;
    if (older != nullptr && (older->newer != task || older->number >= task->number)) return false;
    task->found_by = graph_task::no_number;
    task->found_at = static_cast<std::uint32_t>(task->pending.load(std::memory_order_acquire));
  }
  for (const graph_task* task = newest_; task != nullptr; task = task->older) {
    if (!verify_edges(*task)) return false;
  }
  return true;
}

void task_records::refresh_paths() noexcept {
  assert(verify());
  // From the newest task backwards, so successors come first. Only the enqueuer changes and
  // recycles edges and records, so it may walk a list while its task ends.
  for (graph_task* task = newest_; task != nullptr; task = task->older) {
    const graph_edge* edge = task->successors.load(std::memory_order_acquire);
    if (edge == graph_task::closed()) continue;
    float longest = 0;
    for (; edge != nullptr; edge = edge->next) {
      longest = std::max(longest, edge->successor()->path.load(std::memory_order_relaxed));
    }
    task->path.store(task->weight + longest, std::memory_order_relaxed);
  }
}

}  // namespace creek::linalg::detail
