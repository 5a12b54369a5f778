// SPDX-License-Identifier: Apache-2.0
// A factorization of a generated matrix of doubles that is run again and again, on workers of this
// machine or of a simulated chip. Its source alone compiles the jobs for all who do so.
#pragma once

#include <creek/core/work_graph.hpp>
#include <memory>
#include <vector>

#include "jobs/job.hpp"

namespace creek::tool::dense {

class generated_job {
 public:
  explicit generated_job(const problem& what);

  /// Sets up the operands. Call it in a task on this machine: its workers allocate the memory.
  void prepare();
  index_t run() { return job_->run(); }
  std::vector<judgement> judge() const { return job_->judge(); }
  const linalg::graph_report& graph() const { return job_->graph(); }
  /// Returns the tasks to come, with their flops. Destroys the operands.
  work_graph plan() { return job_->plan(); }
  const problem& what() const noexcept { return what_; }

 private:
  const problem what_;
  const operand<double> a_;
  std::unique_ptr<job<double>> job_;
};

}  // namespace creek::tool::dense
