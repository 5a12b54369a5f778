// SPDX-License-Identifier: Apache-2.0
// Base of the jobs that the commands time and judge.
#pragma once

#include <creek/linalg/task_graph.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "dense/problem.hpp"
#include "dense/report.hpp"
#include "operand.hpp"
#include "output_files.hpp"

namespace creek::tool::dense {

/// A job; all members are called in a task, so that all workers take part.
template <scalar T>
class job {
 public:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  virtual ~job() = default;

  /// Sets up the operands. Not timed.
  virtual void prepare() = 0;
  /// Does the work and returns LAPACK's info.
  virtual index_t run() = 0;
  /// Returns how good the last run's answer is.
  virtual std::vector<judgement> judge() const = 0;
  /// Returns the report on the graph of the last run's factorization.
  const linalg::graph_report& graph() const noexcept { return graph_; }
  /// Returns the graph that run() would have. Destroys the operands. Call it after prepare(). As it
  /// is here, for jobs that make their graph by run_graph().
  virtual work_graph plan() {
    plans_ = true;
    (void)run();
    plans_ = false;
    return std::move(plan_);
  }
  /// Estimates the reciprocal condition number of a solved system; call it after judge().
  virtual std::optional<double> rcond() { return std::nullopt; }
  /// Returns the last run's number of corrections; below 0: why they were given up (mixed_result).
  virtual std::optional<int> corrections() const { return std::nullopt; }
  /// Writes the last run's answer, which the caller commits. Called once, after everything else.
  virtual void write(output_files& to) = 0;

 protected:
  /// Runs the tasks that `enqueue` puts into a graph.
  template <class F>
  void run_graph(const F& enqueue) {
    linalg::task_graph graph({.dry_run = plans_, .record = true});
    enqueue(graph);
    graph_ = graph.wait();
    if (plans_) plan_ = graph.plan();
  }

  linalg::graph_report graph_;

 private:
  bool plans_ = false;
  work_graph plan_;
};

}  // namespace creek::tool::dense
