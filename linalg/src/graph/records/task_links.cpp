// SPDX-License-Identifier: Apache-2.0
#include "task_links.hpp"

#include <utility>

#include <creek/core/threads/sanitizer.hpp>

namespace creek::linalg::detail {

namespace {

/// Enters an edge at its predecessor; returns false if that has ended.
bool enter_edge(graph_task& from, graph_edge& edge) noexcept {
  graph_edge* first = from.successors.load(std::memory_order_acquire);
  do {
    if (first == graph_task::closed()) {
      sanitizer::acquired(&from.successors);
      return false;
    }
    edge.next = first;
    sanitizer::releases(&from.successors);
  } while (!from.successors.compare_exchange_weak(first, &edge, std::memory_order_release,
                                                  std::memory_order_acquire));
  return true;
}

/// Takes over what a predecessor that has ended left for its successors.
void inherit(graph_task& task, const found_edge& edge) noexcept {
  if ((edge.flags & graph_edge::affine) != 0) {
    task.home.store(edge.from->ran_on, std::memory_order_relaxed);
  }
  if (edge.from->failed && (edge.flags & graph_edge::flow) != 0) {
    task.poisoned.store(true, std::memory_order_relaxed);
  }
}

/// Tells a successor that its predecessor has ended; returns whether it is ready.
bool release(graph_task& successor, const graph_task& ended, std::uintptr_t flags,
             int here) noexcept {
  if (ended.failed && (flags & graph_edge::flow) != 0) {
    successor.poisoned.store(true, std::memory_order_relaxed);
  }
  if ((flags & graph_edge::affine) != 0) {
    successor.home.store(static_cast<std::int16_t>(here), std::memory_order_relaxed);
  }
  // Release: the body's effects, for the thread whose decrement is the last (acquire).
  sanitizer::releases(&successor.pending);
  if (successor.pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  sanitizer::acquired(&successor.pending);
  return true;
}

}  // namespace

std::int32_t link_predecessors(graph_task& task, std::span<const found_edge> found,
                               task_records& records) noexcept {
  std::int32_t edges = 0;
  const auto self = reinterpret_cast<std::uintptr_t>(&task);
  for (const found_edge& each : found) {
    const bool fits = static_cast<std::size_t>(edges) < graph_task::own_edges;
    graph_edge& edge =
        fits ? task.edges[static_cast<std::size_t>(edges)] : *records.take_edge(task);
    edge.word = self | each.flags;
    if (enter_edge(*each.from, edge)) {
      ++edges;
      continue;
    }
    if (!fits) records.put_edge(task);
    inherit(task, each);
  }
  return edges;
}

bool end_linking(graph_task& task, std::int32_t edges) noexcept {
  // Acquire: the effects of predecessors that ended during the linking.
  if (edges == 0) return true;
  sanitizer::releases(&task.pending);
  if (task.pending.fetch_sub(linking - edges, std::memory_order_acq_rel) != linking - edges) {
    return false;
  }
  sanitizer::acquired(&task.pending);
  return true;
}

graph_task* close_successors(graph_task& task, int here, unsigned& edges) noexcept {
  graph_task* released = nullptr;
  // Acquire: the edges that the enqueuer has added. Release: the body's effects, for threads that
  // find the list closed.
  sanitizer::releases(&task.successors);
  graph_edge* edge = task.successors.exchange(graph_task::closed(), std::memory_order_acq_rel);
  sanitizer::acquired(&task.successors);
  while (edge != nullptr) {
    const std::uintptr_t flags = edge->word;
    graph_task* successor = edge->successor();
    ++edges;
    edge = edge->next;  // before the decrement: the edge may be reused afterwards
    if (release(*successor, task, flags, here)) {
      successor->next = std::exchange(released, successor);
    }
  }
  return released;
}

}  // namespace creek::linalg::detail
