// SPDX-License-Identifier: Apache-2.0
// Enqueuing side of a task graph: finds the dependences of a task, links its record to those of its
// predecessors, and recycles the records of ended tasks. Runs in the thread of add() and wait().
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>

#include "graph/execution/graph_workers.hpp"
#include "graph/records/block_turns.hpp"
#include "graph/records/dependences.hpp"
#include "graph/records/task_records.hpp"
#include "graph_profile.hpp"

namespace creek::linalg::detail {

class graph_engine {
 public:
  explicit graph_engine(graph_options options);
  ~graph_engine();

  void* prepare(const task_info& info, std::span<const operand> operands);
  void commit(body_call call) noexcept;
  graph_report wait();
  /// May be used on any thread.
  graph_failure& failure() noexcept { return state_.failure; }
  /// Returns the profile of a dry run; throws usage_error for any other run.
  const graph_profile& profile(const char* what) const;

 private:
  void make_room();
  void reserve(std::span<const operand> operands);
  void drop(const task_info& info, std::span<const operand> operands);
  graph_task& start_record(const task_info& info);
  bool link_in_turn(graph_task& task) noexcept;
  void refresh_paths() noexcept;
  graph_report finish_report();

  const graph_options options_;
  graph_state state_;
  graph_workers workers_{state_};
  std::unique_ptr<graph_profile> profile_;
  task_records records_;
  dependences dependences_{records_};
  turn_table turns_;
  graph_task* adding_ = nullptr;  ///< task between prepare() and commit()
  std::size_t since_refresh_ = 0;
  std::deque<task_run> runs_;
  graph_report report_;  ///< so far: `tasks` added, `skipped` among those that were not enqueued
};

}  // namespace creek::linalg::detail
