// SPDX-License-Identifier: Apache-2.0
#include "graph_reports.hpp"

#include <array>
#include <memory>
#include <vector>

#include "graph/records/block_table.hpp"

namespace creek::linalg::detail {

void graph_reports::report_added(graph_task& task, std::span<const operand> operands,
                                 std::size_t edges) {
  if (task.extras != nullptr) task.extras->moves.clear();
  for (const operand& each : operands) {
    if (each.bytes == 0) continue;
    if (task.extras == nullptr) task.extras = std::make_unique<task_extras>();
    const auto number = block_numbers_.try_emplace(each.block, block_numbers_.size()).first->second;
    task.extras->moves.push_back({number, each.bytes, each.how});
  }
  const std::array done{
      work_amount{work::task_recorded},
      work_amount{work::operand_found, static_cast<std::int64_t>(operands.size())},
      work_amount{work::edge_found, static_cast<std::int64_t>(edges)}};
  observer_->worked(done);
}

void graph_reports::report_reads(const graph_task& task) const noexcept {
  if (task.extras == nullptr) return;
  for (const moved_block& each : task.extras->moves) {
    if (reads(each.how)) observer_->moved(each.number, each.bytes, false);
  }
}

/// Reports the flops of a task, and the blocks that it has written.
void graph_reports::report_work(const graph_task& task) const noexcept {
  const work_amount done{work::flop, static_cast<std::int64_t>(task.flops)};
  observer_->worked({&done, 1});
  if (task.extras == nullptr) return;
  for (const moved_block& each : task.extras->moves) {
    if (writes(each.how)) observer_->moved(each.number, each.bytes, true);
  }
}

ticks graph_reports::time() const noexcept {
  if (observer_ != nullptr) [[unlikely]] {
    if (const auto own = observer_->time()) return {static_cast<std::uint64_t>(own->count())};
  }
  return tick_clock::now();
}

}  // namespace creek::linalg::detail
