// SPDX-License-Identifier: Apache-2.0
#include "dependences.hpp"

namespace creek::linalg::detail {

void dependences::look_up(std::span<const operand> operands) {
  blocks_.look_up(operands, [this](task_name task) { return records_.must_stay(task); });
  for (const auto* each : blocks_.entries()) __builtin_prefetch(each->writer.task, 1);
  const std::size_t edges = blocks_.max_edges();
  if (found_.capacity() < edges) found_.reserve(2 * edges);
  if (edges > graph_task::own_edges) records_.reserve_edges(edges - graph_task::own_edges);
}

bool dependences::reads_spoilt(std::span<const operand> operands) const {
  return blocks_.reads_spoilt(operands,
                              [this](task_name task) { return records_.has_failed(task); });
}

void dependences::spoil(std::span<const operand> operands, std::uint64_t number) noexcept {
  blocks_.spoil(operands, age_of(task_name{nullptr, number}));
}

// Runs for each edge of each task.
[[gnu::always_inline]] inline void dependences::note(graph_task& task, task_name from,
                                                     dependence kind, bool affine) noexcept {
  if (!from.is_known()) return;  // it ended long ago without failing: see reads_spoilt()
  if (from.task->found_by != task.number) {
    from.task->found_by = task.number;
    from.task->found_at = static_cast<std::uint32_t>(found_.size());
    found_.push_back({from.task, 0});
  }
  std::uintptr_t& flags = found_[from.task->found_at].flags;
  if (kind == dependence::flow) flags |= graph_edge::flow;
  if (affine) flags |= graph_edge::affine;
}

std::span<const found_edge> dependences::enter(graph_task& task,
                                               std::span<const operand> operands) noexcept {
  found_.clear();
  blocks_.enter(
      task_name{&task, task.number}, operands,
      [this](task_name other) { return records_.must_stay(other); },
      [&](task_name from, dependence kind, bool affine) noexcept {
        note(task, from, kind, affine);
      });
  return found_;
}

}  // namespace creek::linalg::detail
