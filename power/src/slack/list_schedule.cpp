// SPDX-License-Identifier: Apache-2.0
#include "list_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::power::detail {

namespace {

void validate(const work_graph& graph) {
  const auto refuse = [](std::size_t task, const std::string& what) {
    throw usage_error("plan: task " + std::to_string(task) + what);
  };
  for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
    const planned_task& each = graph.tasks[task];
    if (!std::isfinite(each.work) || each.work < 0) refuse(task, " must have work of 0 or more");
    for (const std::uint32_t successor : each.successors) {
      if (successor <= task || successor >= graph.tasks.size()) {
        refuse(task, " has successor " + std::to_string(successor) +
                         "; successors are tasks with larger numbers");
      }
    }
  }
}

struct running_task {
  double end;
  std::uint32_t worker, task;
  friend bool operator>(const running_task& a, const running_task& b) noexcept {
    return std::tie(a.end, a.worker) > std::tie(b.end, b.worker);
  }
};

}  // namespace

list_scheduler::list_scheduler(const work_graph& graph) : graph_(graph) {
  validate(graph);
  const std::size_t tasks = graph.tasks.size();
  paths_.resize(tasks);
  waits_for_.resize(tasks);
  for (std::size_t task = tasks; task-- > 0;) {
    double longest = 0;
    for (const std::uint32_t successor : graph.tasks[task].successors) {
      longest = std::max(longest, paths_[successor]);
      ++waits_for_[successor];
    }
    paths_[task] = graph.tasks[task].work + longest;
  }
}

list_schedule list_scheduler::run(std::span<const double> took, unsigned workers) {
  const std::size_t tasks = graph_.tasks.size();
  list_schedule made;
  made.order.reserve(tasks);
  made.before.assign(tasks, list_schedule::none);
  const auto goes_later = [this](std::uint32_t a, std::uint32_t b) {
    const planned_task& first = graph_.tasks[a];
    const planned_task& second = graph_.tasks[b];
    return std::tuple(first.priority, paths_[a], b) < std::tuple(second.priority, paths_[b], a);
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(goes_later)> ready(
      goes_later);
  std::priority_queue<running_task, std::vector<running_task>, std::greater<>> running;
  std::vector<std::uint32_t> pending = waits_for_;
  std::vector<std::uint32_t> last(workers, list_schedule::none);
  std::vector<std::uint32_t> free;
  for (std::uint32_t worker = workers; worker-- > 0;) free.push_back(worker);
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if (pending[task] == 0) ready.push(task);
  }
  for (double now = 0; !ready.empty() || !running.empty();) {
    while (!ready.empty() && !free.empty()) {
      const std::uint32_t task = ready.top(), worker = free.back();
      ready.pop();
      free.pop_back();
      made.order.push_back(task);
      made.before[task] = std::exchange(last[worker], task);
      running.push({now + took[task], worker, task});
    }
    // Finishes all tasks that end now, before the next ones begin.
    now = running.top().end;
    while (!running.empty() && running.top().end <= now) {
      const running_task ended = running.top();
      running.pop();
      free.push_back(ended.worker);
      for (const std::uint32_t successor : graph_.tasks[ended.task].successors) {
        if (--pending[successor] == 0) ready.push(successor);
      }
    }
    made.end = now;
  }
  return made;
}

}  // namespace creek::power::detail
