// SPDX-License-Identifier: Apache-2.0
// Enqueuing side of a task graph: finds the dependences of a task, links its record to those of its
// predecessors, and recycles the records of ended tasks. Runs in the thread of add() and wait().
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "block_table.hpp"
#include "graph_profile.hpp"
#include "graph_task.hpp"
#include "recycling_pool.hpp"
#include "task_graph_crew.hpp"

namespace creek::linalg::detail {

class graph_engine {
 public:
  explicit graph_engine(graph_options options);
  ~graph_engine();
  graph_engine(const graph_engine&) = delete;
  graph_engine& operator=(const graph_engine&) = delete;

  void* prepare(const task_info& info, std::span<const operand> operands);
  void commit(body_call call) noexcept;
  graph_report wait();
  graph_crew& crew() noexcept { return crew_; }
  /// Returns the profile of a dry run; throws usage_error for any other run.
  const graph_profile& profile(const char* what) const;

 private:
  struct found_edge {
    graph_task* from;
    std::uintptr_t flags;
  };
  /// Added to `pending` while a task is linked, because its predecessors may finish meanwhile.
  static constexpr std::int32_t linking = 1 << 30;

  /// Window used with a single worker.
  static constexpr std::size_t enough_for_one = 256;

  void make_room();
  void reserve(std::span<const operand> operands);
  void recycle_ended();
  bool has_failed(task_name task) const;
  bool must_stay(task_name task) const;
  bool reads_spoilt(std::span<const operand> operands) const;
  void drop(const task_info& info, std::span<const operand> operands);
  graph_task& start_record(const task_info& info);
  void find_edges(graph_task& task, std::span<const operand> operands) noexcept;
  std::int32_t link(graph_task& task) noexcept;
  bool link_in_turn(graph_task& task) noexcept;
  void report_add(graph_task& task, std::span<const operand> operands);
  static bool enter_edge(graph_task& from, graph_edge& edge) noexcept;
  void refresh_paths() noexcept;
  void clear();

  const graph_options options_;
  graph_crew crew_;
  std::unique_ptr<graph_profile> profile_;
  block_table<task_name> blocks_;
  recycling_pool<graph_task, &graph_task::next> records_;
  recycling_pool<spare_edge, &spare_edge::next_owned> spare_edges_;
  std::vector<found_edge> found_;
  /// Numbers of the blocks in the order of first use, for an observer.
  std::unordered_map<const void*, std::uint64_t> block_numbers_;
  /// Numbers of recycled tasks that failed: blocks they should have written hold no result.
  std::unordered_set<std::uint64_t> failed_;
  graph_task* newest_ = nullptr;  ///< end of the list of records in use
  graph_task* adding_ = nullptr;  ///< task between prepare() and commit()
  std::size_t since_refresh_ = 0;
  std::uint64_t next_number_ = 0;
  std::size_t dropped_ = 0;
  std::deque<task_run> runs_;
  graph_report report_;
};

}  // namespace creek::linalg::detail
