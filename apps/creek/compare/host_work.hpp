// SPDX-License-Identifier: Apache-2.0
// Work for comparing policies on threads of this machine.
#pragma once

#include <creek/core/work_graph.hpp>
#include <creek/linalg/task_graph.hpp>
#include <memory>
#include <string>
#include <vector>

#include "../dense/report.hpp"
#include "setup.hpp"

namespace creek::tool::compare {

/// The same problem, as often as wanted. prepare(), run() and judge() are called in a task of a
/// runtime that may be another one each time.
class host_work {
 public:
  host_work() = default;
  host_work(const host_work&) = delete;
  host_work& operator=(const host_work&) = delete;
  virtual ~host_work() = default;

  virtual std::string about() const = 0;
  /// Puts the operands in place and uses all workers, so that none begins in the timed part.
  virtual void prepare() = 0;
  virtual void run() = 0;
  /// Why the last run's answer is wrong; empty: it is right.
  virtual std::string judge() = 0;
  /// The tasks of the last run; null where there is no graph of them.
  virtual const linalg::graph_report* graph() const { return nullptr; }
  /// Returns the tasks to come, with their seconds in the last run; empty without a graph.
  virtual work_graph plan() { return {}; }
};

/// The factorization that was asked for. Throws creek::error where there is not enough memory.
dense::problem dense_problem(const setup& given, long long n);

/// Returns what is wrong with a factorization; empty if nothing is.
std::string what_is_wrong(dense::index_t info, const std::vector<dense::judgement>& judgements);

/// Throws creek::error where there is not enough memory.
std::unique_ptr<host_work> make_host_work(const setup& given, long long n);

}  // namespace creek::tool::compare
