// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <creek/core/error.hpp>

#include "task_graph_engine.hpp"

namespace creek::linalg {

task_graph::task_graph(graph_options options)
    : engine_(std::make_unique<detail::graph_engine>(std::move(options))) {}

task_graph::~task_graph() = default;

void* task_graph::prepare(const task_info& info, std::span<const operand> operands) {
  return engine_->prepare(info, operands);
}

void task_graph::commit(detail::body_call call) noexcept {
  engine_->commit(call);
}

graph_report task_graph::wait() {
  return engine_->wait();
}

void task_graph::cancel() noexcept {
  engine_->failure().cancel();
}

bool task_graph::is_cancelled() const noexcept {
  return engine_->failure().is_cancelled();
}

void task_graph::write_dot(std::ostream& to) const {
  engine_->profile("write_dot").write_dot(to);
}

void task_graph::write_json(std::ostream& to) const {
  engine_->profile("write_json").write_json(to);
}

work_graph task_graph::plan() const {
  return engine_->profile("plan").plan();
}

// A host's tick rate is measured anew in each process; a backend's own clock is reproducible.
std::chrono::nanoseconds task_run::length() const noexcept {
  const ticks span = end - start;
  return in_nanoseconds ? std::chrono::nanoseconds(span.count) : tick_clock::to_nanoseconds(span);
}

work_graph measured(work_graph plan, std::span<const task_run> runs) {
  const auto refuse = [](const std::string& what) {
    throw usage_error("measured: " + what + "; record a run of the program of the dry run");
  };
  if (plan.tasks.size() != runs.size()) {
    refuse("the plan has " + std::to_string(plan.tasks.size()) + " tasks and the run " +
           std::to_string(runs.size()));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    planned_task& task = plan.tasks[i];
    if (task.name != runs[i].name) {
      refuse("task " + std::to_string(i) + " is '" + task.name + "' in the plan and '" +
             runs[i].name + "' in the run");
    }
    if (runs[i].skipped) refuse("task " + std::to_string(i) + " did not run");
    task.work = std::chrono::duration<double>(runs[i].length()).count();
  }
  return plan;
}

std::vector<double> activity(std::span<const task_run> runs, unsigned workers) {
  struct change {
    ticks at;
    int by;
  };
  std::vector<change> changes;
  changes.reserve(2 * runs.size());
  for (const task_run& each : runs) {
    if (each.skipped) continue;
    changes.push_back({each.start, 1});
    changes.push_back({each.end, -1});
  }
  if (changes.empty()) return {};
  // At equal times, ends come before starts: a worker goes from one task to the next.
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return a.at != b.at ? a.at < b.at : a.by < b.by;
  });
  std::vector<double> shares(std::size_t{workers} + 1);
  const auto total = static_cast<double>((changes.back().at - changes.front().at).count);
  int active = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    active += changes[i].by;
    const auto length = static_cast<double>((changes[i + 1].at - changes[i].at).count);
    const auto at = static_cast<std::size_t>(std::max(active, 0));
    if (total > 0) shares[std::min<std::size_t>(at, workers)] += length / total;
  }
  return shares;
}

}  // namespace creek::linalg
