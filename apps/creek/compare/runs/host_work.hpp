// SPDX-License-Identifier: Apache-2.0
// Work for comparing policies on threads of this machine.
#pragma once

#include <creek/core/work_graph.hpp>
#include <creek/linalg/task_graph.hpp>
#include <memory>
#include <string>
#include <vector>

#include "compare/setup.hpp"
#include "dense/report.hpp"

namespace creek::tool::compare {

/// A problem that can be run any number of times. prepare(), run() and judge() are called in a task
/// of a runtime, which may be a different one each time.
class host_work {
 public:
  host_work() = default;
  host_work(const host_work&) = delete;
  host_work& operator=(const host_work&) = delete;
  virtual ~host_work() = default;

  virtual std::string about() const = 0;
  /// Sets up the operands and uses all workers, so that none starts in the timed part.
  virtual void prepare() = 0;
  virtual void run() = 0;
  /// Returns why the last run's answer is wrong, or an empty text if it is right.
  virtual std::string judge() = 0;
  /// Returns the report on the last run's tasks, or nullptr if they form no graph.
  virtual const linalg::graph_report* graph() const { return nullptr; }
  /// Returns the tasks to come, with their seconds in the last run; empty without a graph.
  virtual work_graph plan() { return {}; }
};

/// Returns the factorization asked for. Throws creek::error if there is not enough memory.
dense::problem dense_problem(const setup& given, long long n);

/// Returns what is wrong with a factorization; empty if nothing is.
std::string what_is_wrong(dense::index_t info, const std::vector<dense::judgement>& judgements);

/// Makes the work of a study. Throws creek::error if there is not enough memory.
std::unique_ptr<host_work> make_host_work(const setup& given, long long n);

}  // namespace creek::tool::compare
