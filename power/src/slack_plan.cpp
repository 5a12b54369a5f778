// SPDX-License-Identifier: Apache-2.0
// Slack by a schedule: with the order of the tasks on each worker kept, how late each may end. The
// real schedule follows the times, so what was chosen is simulated again, and less of the slack is
// given out where the end moves too far.
#include <creek/power/slack_plan.hpp>

#include <algorithm>
#include <cmath>
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
    find_latest_ends(limit);
    // All of the slack first; then half the way between what was too much and what was not.
    double fits = 0, too_much = 0, share = 1;
    slack_plan best = all_at_top();
    for (int attempt = 0; attempt < attempts; ++attempt) {
      slack_plan tried = give(share);
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
    made.steps.assign(at_top_.size(), top());
    made.end = made.end_at_top = schedule_.end;
    return made;
  }
  std::uint16_t top() const noexcept { return static_cast<std::uint16_t>(slowness_.size() - 1); }

  /// If what comes after a task, in the graph and on its worker, runs at the highest clock.
  void find_latest_ends(double limit) {
    latest_end_.assign(at_top_.size(), limit);
    for (auto at = schedule_.order.rbegin(); at != schedule_.order.rend(); ++at) {
      const std::uint32_t task = *at;
      double latest = latest_end_[task];  // by the next on its worker, which came before
      for (const std::uint32_t successor : graph_.tasks[task].successors) {
        latest = std::min(latest, latest_end_[successor] - at_top_[successor]);
      }
      latest_end_[task] = latest;
      const std::uint32_t before = schedule_.before[task];
      if (before != list_schedule::none) {
        latest_end_[before] = std::min(latest_end_[before], latest - at_top_[task]);
      }
    }
  }

  /// Each task takes that share of the slack that those before it have left.
  slack_plan give(double share) {
    slack_plan made = all_at_top();
    std::vector<double> took = at_top_;
    std::vector<double> earliest(at_top_.size(), 0.0), ends(at_top_.size(), 0.0);
    double work = 0, slowed_work = 0;
    for (const std::uint32_t task : schedule_.order) {
      const std::uint32_t before = schedule_.before[task];
      const double begin =
          before == list_schedule::none ? earliest[task] : std::max(earliest[task], ends[before]);
      const double slack = std::max(0.0, latest_end_[task] - begin - at_top_[task]);
      made.steps[task] = lowest_step(at_top_[task], at_top_[task] + share * slack);
      took[task] = at_top_[task] * slowness_[made.steps[task]];
      ends[task] = begin + took[task];
      for (const std::uint32_t successor : graph_.tasks[task].successors) {
        earliest[successor] = std::max(earliest[successor], ends[task]);
      }
      work += at_top_[task];
      if (made.steps[task] == top()) continue;
      ++made.slowed;
      slowed_work += at_top_[task];
    }
    made.slowed_work = work > 0 ? slowed_work / work : 0;
    made.end = scheduler_.run(took, workers_).end;
    return made;
  }

  std::uint16_t lowest_step(double work, double room) const noexcept {
    std::uint16_t step = 0;
    while (step < top() && work * slowness_[step] > room) ++step;
    return step;
  }

  const work_graph& graph_;
  list_scheduler scheduler_;
  unsigned workers_;
  std::vector<double> slowness_;  ///< of the clocks: the highest is 1
  std::vector<double> at_top_;    ///< times of the tasks
  list_schedule schedule_;        ///< at the highest clock
  std::vector<double> latest_end_;
};

}  // namespace

slack_plan plan_slack(const work_graph& graph, unsigned workers,
                      std::span<const units::hertz> clocks, double bound) {
  if (!std::isfinite(bound) || bound < 0) {
    throw usage_error(
        "slack_reduction: the bound is the share by which the end may move, such as "
        "0.02: 0 or more; no other can be kept");
  }
  if (workers == 0 || clocks.empty()) {
    throw usage_error("slack_reduction: a plan needs a worker and a clock at least");
  }
  if (clocks.size() > std::numeric_limits<std::uint16_t>::max() || clocks.front().value <= 0) {
    throw usage_error("slack_reduction: clocks are above 0 Hz, lowest first, at most 65535");
  }
  return slack_planner(graph, workers, clocks).plan(bound);
}

}  // namespace creek::power
