// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a graph on strands on the runtime's workers, spawned while there is work for
// them, and on the enqueuing thread when it has nothing better to do. README.md of this module
// describes the protocol, and why no task is left behind.
#pragma once

#include <cstddef>
#include <exception>
#include <stop_token>
#include <utility>

#include "graph/graph_failure.hpp"
#include "graph/graph_reports.hpp"
#include "graph/records/ended_tasks.hpp"
#include "graph_power.hpp"
#include "graph_schedule.hpp"
#include "strand_group.hpp"
#include "task_runner.hpp"

namespace creek::linalg::detail {

/// State that the enqueuer and the strands of a graph share. Each part says who may use it when.
struct graph_state {
  explicit graph_state(std::stop_token stop) noexcept : failure(std::move(stop)) {}

  graph_reports reports;
  alignas(64) graph_schedule schedule{reports};
  alignas(64) ended_tasks ended;
  alignas(64) graph_failure failure;
};

/// Calls by the enqueuer: begin, (publish, make_room)..., join, end.
class graph_workers {
 public:
  explicit graph_workers(graph_state& state) noexcept
      : state_(state), runner_(state.reports, state.failure, power_) {}

  /// Binds the graph to the caller and the workers around it.
  void begin();
  bool has_begun() const noexcept { return begun_; }
  /// Throws usage_error if the caller is not the one that called begin().
  void require_caller(const char* what) const;
  unsigned count() const noexcept { return count_; }
  /// Makes a task with no pending predecessors ready. Also spawns strands.
  void publish(graph_task* task) noexcept;
  /// Runs tasks until at most `goal` are unfinished; the enqueuer waits if none is ready.
  void make_room(std::size_t goal);
  /// Runs all tasks and returns when the last strand has left.
  void join();
  /// Like join(), for a destructor: may be called on any thread and does not check the caller.
  void join_anyhow() noexcept;
  /// Returns the first exception; called after join().
  std::exception_ptr end() noexcept;

 private:
  void spawn(unsigned strands) noexcept;
  void spawn_for_ready(bool waits) noexcept;
  void run_strand() noexcept;
  graph_task* take_or_leave() noexcept;
  graph_task* close(graph_task& task, int here) noexcept;
  graph_task* end_and_take(graph_task& task, bool by_strand, std::size_t goal) noexcept;
  bool help(std::size_t goal) noexcept;
  void wait_for_room(std::size_t goal);
  void finish() noexcept;

  graph_state& state_;
  graph_power power_;
  task_runner runner_;
  strand_group strands_;
  unsigned count_ = 1;
  bool begun_ = false;
};

}  // namespace creek::linalg::detail
