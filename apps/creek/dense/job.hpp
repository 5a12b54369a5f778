// SPDX-License-Identifier: Apache-2.0
// Base of the jobs that the commands time and judge.
#pragma once

#include <creek/linalg/task_graph.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "operand.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "report.hpp"

namespace creek::tool::dense {

/// Everything is called in a task, so that all workers take part.
template <scalar T>
class job {
 public:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  virtual ~job() = default;

  /// Puts the operands in place. Not timed.
  virtual void prepare() = 0;
  /// The work; returns LAPACK's info.
  virtual index_t run() = 0;
  /// How good the last run's answer is.
  virtual std::vector<judgement> judge() const = 0;
  /// Returns the report on the graph of the last run's factorization.
  const linalg::graph_report& graph() const noexcept { return graph_; }
  /// The graph that run() would have, of those that make theirs by run_graph(); the operands are
  /// used up. After prepare().
  work_graph plan() {
    plans_ = true;
    (void)run();
    plans_ = false;
    return std::move(plan_);
  }
  /// The reciprocal of the condition, estimated; after judge(), for a system that was solved.
  virtual std::optional<double> rcond() { return std::nullopt; }
  /// Corrections that the last run made, or less than 0, why they were given up; see mixed_result.
  virtual std::optional<int> corrections() const { return std::nullopt; }
  /// Writes the last run's answer, which the caller commits; once, and last.
  virtual void write(output_files& to) = 0;

 protected:
  /// Runs what `enqueue` puts into a graph.
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
