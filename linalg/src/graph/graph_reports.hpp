// SPDX-License-Identifier: Apache-2.0
// The statements of a task graph to the observer (core's execution_observer.hpp), if there is one.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include <creek/core/execution_observer.hpp>
#include <creek/core/measuring/clock.hpp>

#include "graph/records/graph_task.hpp"
#include "graph_section.hpp"

namespace creek::linalg::detail {

class graph_reports {
 public:
  /// Takes the observer of the calling thread. `owner`: its worker, whose lock guards the graph.
  void begin(unsigned owner) noexcept {
    observer_ = execution_observer::current();
    owner_ = owner;
  }
  /// Begins a section in which the caller reads and changes what the graph's threads share.
  graph_section section() const noexcept { return {observer_, owner_}; }
  /// Notes the blocks that the task moves, and reports the work of adding it in one piece. Called
  /// by the enqueuer.
  void added(graph_task& task, std::span<const operand> operands, std::size_t edges) {
    if (observer_ != nullptr) [[unlikely]]
      report_added(task, operands, edges);
  }
  /// Report a task whose body is about to run, and has run.
  void begins(const graph_task& task) const noexcept {
    if (observer_ != nullptr) [[unlikely]]
      report_reads(task);
  }
  void ended(const graph_task& task) const noexcept {
    if (observer_ != nullptr) [[unlikely]]
      report_work(task);
  }
  /// Returns whether time() is of a backend's own clock: see task_run::in_nanoseconds.
  bool has_own_clock() const noexcept {
    return observer_ != nullptr && observer_->time().has_value();
  }
  ticks time() const noexcept;

 private:
  void report_added(graph_task& task, std::span<const operand> operands, std::size_t edges);
  void report_reads(const graph_task& task) const noexcept;
  void report_work(const graph_task& task) const noexcept;

  execution_observer* observer_ = nullptr;
  unsigned owner_ = 0;
  /// Numbers of the blocks in the order of first use.
  std::unordered_map<const void*, std::uint64_t> block_numbers_;
};

}  // namespace creek::linalg::detail
