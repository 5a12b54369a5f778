// SPDX-License-Identifier: Apache-2.0
// Tasks off the critical path run at lower clocks, so that the whole graph ends no later than a
// bound allows: see slack_plan.hpp. Waiting workers sleep.
#include <utility>

#include <creek/power/slack_plan.hpp>

#include "policies/clock_wishes.hpp"
#include "policies/named_policy.hpp"
#include "policies/policy_makers.hpp"
#include "policies/waiting_workers.hpp"

namespace creek::power::detail {

namespace {

class slack_reduction final : public named_policy {
 public:
  slack_reduction(work_graph graph, double bound)
      : named_policy("slack_reduction"), graph_(std::move(graph)), bound_(bound) {}

  idle_plan worker_idle(unsigned worker) noexcept override {
    // A sleeping worker needs no clock, and must not keep up that of its domain.
    if (wishes_.controls() && !waiting_.waits(worker)) return waiting_workers::first_look;
    wishes_.wish_lowest(worker);
    return {idle_policy::block, std::chrono::nanoseconds{wishes_.controls() ? 0 : -1}};
  }

  /// Detects a graph other than the planned one by the names of its tasks, if they differ; tasks
  /// that are not in the plan run at the highest clock.
  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override {
    waiting_.works(worker);
    const bool planned = task.graph != nullptr && task.number < plan_.steps.size() &&
                         task.name != nullptr && graph_.tasks[task.number].name == task.name;
    if (planned) {
      wishes_.wish(worker, plan_.steps[task.number]);
    } else {
      wishes_.wish_highest(worker);
    }
  }

 private:
  void start(const power_site& site) override {
    // Also without control: whether a plan is valid does not depend on the machine.
    const units::hertz nominal{1};
    const auto clocks = site.clocks->clocks();
    plan_ =
        plan_slack(graph_, site.workers, clocks.empty() ? std::span(&nominal, 1) : clocks, bound_);
    wishes_.begin(site, name());
    waiting_.begin(site.workers);
  }

  const work_graph graph_;
  const double bound_;
  slack_plan plan_;
  clock_wishes wishes_;
  waiting_workers waiting_;
};

}  // namespace

std::shared_ptr<power_policy> make_slack_reduction(const policy_options& options) {
  if (options.plan.tasks.empty()) {
    throw usage_error(
        "slack_reduction: needs a plan of the tasks; make a dry run of the program and pass its "
        "task_graph::plan() as policy_options::plan");
  }
  // Throws for an invalid bound before there is a runtime.
  const units::hertz any{1};
  static_cast<void>(plan_slack({}, 1, {&any, 1}, options.bound));
  return std::make_shared<slack_reduction>(options.plan, options.bound);
}

}  // namespace creek::power::detail
