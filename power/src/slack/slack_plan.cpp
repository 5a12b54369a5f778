// SPDX-License-Identifier: Apache-2.0
// Slack from a schedule: how late each task may end if the order of tasks on each worker is kept.
// The real schedule depends on the tasks' times, so the choice is scheduled again, and less of the
// slack is used if the end moves too far.
#include <creek/power/slack_plan.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <creek/core/error.hpp>

#include "list_schedule.hpp"

namespace creek::power {

namespace {

using detail::list_schedule;
using detail::list_scheduler;

class slack_planner {
 public:
  slack_planner(const work_graph& graph, unsigned workers, std::span<const units::hertz> clocks)
      : graph_(graph), scheduler_(graph), workers_(workers) {
    for (const units::hertz each : clocks) slowness_.push_back(clocks.back() / each);
    for (const planned_task& each : graph.tasks) at_top_.push_back(each.work);
    schedule_ = scheduler_.run(at_top_, workers);
  }

  slack_plan plan(double bound) {
    const double limit = schedule_.end * (1 + bound);
    // Tries all of the slack first, then bisects between too much and what fits.
    double fits = 0, too_much = 0, share = 1;
    slack_plan best = all_at_top();
    for (int attempt = 0; attempt < attempts; ++attempt) {
      slack_plan tried = give(limit, share);
      const bool kept = tried.end <= limit * (1 + rounding);
      (kept ? fits : too_much) = share;
      if (kept && tried.slowed_work >= best.slowed_work) best = std::move(tried);
      if (kept && too_much == 0) break;
      share = (fits + too_much) / 2;
    }
    return best;
  }

 private:
  static constexpr int attempts = 6;
  static constexpr double rounding = 1e-9;

  slack_plan all_at_top() const {
    slack_plan made;
    made.steps = std::vector<std::uint16_t>(at_top_.size(), top());
    made.end = made.end_at_top = schedule_.end;
    return made;
  }
  std::uint16_t top() const noexcept { return static_cast<std::uint16_t>(slowness_.size() - 1); }

  /// Returns how late each task may end, given the times of its successors and worker.
  std::vector<double> latest_ends(std::span<const double> took, double limit) const {
    std::vector<double> latest(took.size(), limit);
    for (auto at = schedule_.order.rbegin(); at != schedule_.order.rend(); ++at) {
      const std::uint32_t task = *at;
      // The worker's next task was processed earlier and has updated this one.
      for (const std::uint32_t successor : graph_.tasks[task].successors) {
        latest[task] = std::min(latest[task], latest[successor] - took[successor]);
      }
      const std::uint32_t before = schedule_.before[task];
      if (before != list_schedule::none) {
        latest[before] = std::min(latest[before], latest[task] - took[task]);
      }
    }
    return latest;
  }

  /// Gives each task, in the order of the schedule, the lowest step that fits into `room(task,
  /// begin)`; returns the resulting times.
  std::vector<double> choose(std::vector<std::uint16_t>& steps,
                             const std::function<double(std::uint32_t, double)>& room) const {
    std::vector<double> took = at_top_;
    std::vector<double> begins(at_top_.size(), 0.0);
    std::vector<double> ends(at_top_.size(), 0.0);
    for (const std::uint32_t task : schedule_.order) {
      const std::uint32_t before = schedule_.before[task];
      if (before != list_schedule::none) begins[task] = std::max(begins[task], ends[before]);
      steps[task] = lowest_step(at_top_[task], room(task, begins[task]));
      took[task] = at_top_[task] * slowness_[steps[task]];
      ends[task] = begins[task] + took[task];
      for (const std::uint32_t successor : graph_.tasks[task].successors) {
        begins[successor] = std::max(begins[successor], ends[task]);
      }
    }
    return took;
  }

  /// Distributes slack evenly over the work that is left, since two tasks at a middle clock need
  /// less energy than one at the lowest and one at the highest clock.
  std::vector<double> give_evenly(slack_plan& made, double limit, double share) const {
    const std::vector<double> latest = latest_ends(at_top_, limit);
    return choose(made.steps, [&](std::uint32_t task, double begin) {
      const double left = limit - latest[task] + at_top_[task];
      const double slack = std::max(0.0, limit - begin - left);
      return left > 0 ? at_top_[task] * (1 + share * slack / left) : 0.0;
    });
  }

  /// Gives the remaining slack to the first task that can use it.
  std::vector<double> give_rest(slack_plan& made, std::span<const double> evenly, double limit,
                                double share) const {
    const std::vector<double> latest = latest_ends(evenly, limit);
    return choose(made.steps, [&](std::uint32_t task, double begin) {
      const double slack = std::max(0.0, latest[task] - begin - evenly[task]);
      return evenly[task] + share * slack;
    });
  }

  slack_plan give(double limit, double share) {
    slack_plan made = all_at_top();
    const std::vector<double> evenly = give_evenly(made, limit, share);
    made.end = scheduler_.run(give_rest(made, evenly, limit, share), workers_).end;
    sum_up(made);
    return made;
  }

  void sum_up(slack_plan& made) const noexcept {
    double work = 0;
    for (std::size_t task = 0; task < at_top_.size(); ++task) {
      work += at_top_[task];
      if (made.steps[task] == top()) continue;
      ++made.slowed;
      made.slowed_work += at_top_[task];
    }
    made.slowed_work = work > 0 ? made.slowed_work / work : 0;
  }

  /// Returns the lowest step that fits; the top step for work 0, whose slowdown is unknown.
  std::uint16_t lowest_step(double work, double room) const noexcept {
    std::uint16_t step = work > 0 ? 0 : top();
    while (step < top() && work * slowness_[step] > room) ++step;
    return step;
  }

  const work_graph& graph_;
  list_scheduler scheduler_;
  unsigned workers_;
  std::vector<double> slowness_;  ///< by clock; the highest is 1
  std::vector<double> at_top_;    ///< times of the tasks at the highest clock
  list_schedule schedule_;        ///< at the highest clock
};

}  // namespace

slack_plan plan_slack(const work_graph& graph, unsigned workers,
                      std::span<const units::hertz> clocks, double bound) {
  if (!std::isfinite(bound) || bound < 0) {
    throw usage_error(
        "slack_reduction: the bound must be 0 or more; it is the share by which the end may move, "
        "such as 0.02");
  }
  if (workers == 0 || clocks.empty()) {
    throw usage_error("slack_reduction: a plan needs at least one worker and one clock");
  }
  if (clocks.size() > std::numeric_limits<std::uint16_t>::max() || clocks.front().value <= 0) {
    throw usage_error("slack_reduction: at most 65535 clocks, above 0 Hz, the lowest first");
  }
  return slack_planner(graph, workers, clocks).plan(bound);
}

}  // namespace creek::power
