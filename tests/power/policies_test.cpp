// SPDX-License-Identifier: Apache-2.0
// Answers and requests of each policy, event by event, on a site that only records them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include <creek/core/energy.hpp>
#include <creek/core/error.hpp>
#include <creek/power/policies.hpp>

#include "power/fake_clocks.hpp"

namespace {

using namespace creek;
using support::fake_clocks;
using ::testing::HasSubstr;

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

/// A policy that has begun on some workers, and their clocks.
struct running {
  running(std::string_view name, unsigned workers, power::policy_options options = {})
      : clocks(workers, support::three_clocks()), policy(power::make_policy(name, options)) {
    policy->begin({.workers = workers, .clocks = &clocks});
  }
  ~running() { policy->end(); }
  fake_clocks clocks;
  std::shared_ptr<power_policy> policy;
};

/// A draw that is easy to add up: 10 W shared; a worker draws its GHz when it works, and 1 W at all
/// clocks when it sleeps.
class round_draws final : public draw_model {
 public:
  units::watts computing(units::hertz clock) const noexcept override {
    return units::watts{clock.value > 0 ? clock.value * 1e-9 : 4};
  }
  units::watts polling(units::hertz clock) const noexcept override { return computing(clock); }
  units::watts asleep(units::hertz) const noexcept override { return units::watts{1}; }
  units::watts shared() const noexcept override { return units::watts{10}; }
};

const int some_graph = 0;
task_profile graph_task(std::uint64_t number, const char* name = "t") {
  return {.name = name, .number = number, .graph = &some_graph};
}

TEST(Policies, AreAllMadeByName) {
  power::policy_options options;
  options.watts = 100;
  options.plan.tasks.push_back({"t", 1, 0, {}});
  EXPECT_EQ(power::policy_names().size(), 7u);
  for (const std::string_view name : power::policy_names()) {
    EXPECT_EQ(power::make_policy(name, options)->name(), name);
  }
  EXPECT_EQ(power::make_policy("race-to-idle")->name(), "race_to_idle");
}

TEST(Policies, RefuseAnUnknownName) {
  const std::string why = refusal([] { static_cast<void>(power::make_policy("warp_speed")); });
  EXPECT_THAT(why, HasSubstr("warp_speed"));
  for (const std::string_view name : power::policy_names()) {
    EXPECT_THAT(why, HasSubstr(std::string(name)));
  }
}

TEST(Policies, ServeOneRuntimeAtATime) {
  running first("blocking", 2);
  fake_clocks clocks(2, support::three_clocks());
  EXPECT_THAT(refusal([&] { first.policy->begin({.workers = 2, .clocks = &clocks}); }),
              HasSubstr("in use"));
  first.policy->end();
  first.policy->begin({.workers = 2, .clocks = &clocks});
}

TEST(Policies, WithoutClocksSaySoOnce) {
  no_clock_control none("the moon is full");
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    const auto policy = power::make_policy("frequency");
    policy->begin({.workers = 1, .clocks = &none});
    EXPECT_EQ(policy->worker_idle(0).how, idle_policy::poll);
    policy->task_about_to_run(0, {});
    policy->end();
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("frequency"));
  EXPECT_EQ(said.find("the moon is full"), said.rfind("the moon is full"));
}

TEST(Policies, PollingAndBlockingLeaveTheClocksAlone) {
  for (const char* name : {"polling", "blocking"}) {
    running on(name, 2);
    EXPECT_EQ(on.policy->worker_idle(1).how,
              name == std::string("polling") ? idle_policy::poll : idle_policy::block);
    on.policy->task_about_to_run(1, graph_task(0));
    EXPECT_EQ(on.policy->tasks_ready(1, 5), 5u);
    EXPECT_EQ(on.policy->max_awake(), ~0U);
    EXPECT_EQ(on.clocks.wishes(1), 0);
  }
}

TEST(Policies, FrequencyLowersTheClockOfWhoReallyWaits) {
  running on("frequency", 1);
  on.policy->task_about_to_run(0, {});
  EXPECT_EQ(on.clocks.wished(0), 2u);
  for (int task = 0; task < 10; ++task) {  // finds the next at once: no change
    EXPECT_EQ(on.policy->worker_idle(0).how, idle_policy::poll);
    on.policy->task_about_to_run(0, {});
  }
  EXPECT_EQ(on.clocks.wishes(0), 1);
  on.policy->worker_idle(0);
  EXPECT_EQ(on.policy->worker_idle(0).how, idle_policy::poll);
  EXPECT_EQ(on.clocks.wished(0), 0u);
  on.policy->worker_idle(0);
  EXPECT_EQ(on.clocks.wishes(0), 2);
  on.policy->task_about_to_run(0, {});
  EXPECT_EQ(on.clocks.wished(0), 2u);
}

TEST(Policies, RaceToIdleSleepsSoonAtTheHighestClock) {
  running on("race_to_idle", 1);
  on.policy->task_about_to_run(0, {});
  EXPECT_EQ(on.clocks.wished(0), 2u);
  const idle_plan plan = on.policy->worker_idle(0);
  EXPECT_EQ(plan.how, idle_policy::block);
  EXPECT_GE(plan.search.count(), 0);
  EXPECT_LE(plan.search, std::chrono::microseconds(10));
  EXPECT_EQ(on.clocks.wished(0), 2u);
}

TEST(Policies, RaceToIdleWakesForForkedTasks) {
  running on("race_to_idle", 1);
  on.policy->task_about_to_run(0, {});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(on.policy->tasks_ready(0, 1), 1u);
}

/// Simulated time, in the form in which a backend provides it.
class hand_clock final : public backend_meter {
 public:
  hand_clock() { backend_meter::exchange(this); }
  ~hand_clock() { backend_meter::exchange(nullptr); }
  metered_energy read() noexcept override { return {units::joules{0}, now()}; }
  units::seconds now() noexcept override { return units::seconds{microseconds * 1e-6}; }
  double microseconds = 0;
};

TEST(Policies, RaceToIdleWakesAsManyAsTheReadyTasksAreWorth) {
  running on("race_to_idle", 2);
  hand_clock clock;
  const auto run_tasks = [&](unsigned worker, double length) {
    for (int i = 0; i < 40; ++i) {
      on.policy->task_about_to_run(worker, graph_task(0));
      clock.microseconds += length;
    }
  };
  run_tasks(0, 1000);
  EXPECT_EQ(on.policy->tasks_ready(0, 7), 7u);
  run_tasks(1, 2);
  EXPECT_EQ(on.policy->tasks_ready(1, 3), 0u);
  EXPECT_EQ(on.policy->tasks_ready(1, 100), 10u);  // 200 us of work, 20 us per wake-up
  for (int i = 0; i < 10; ++i) EXPECT_EQ(on.policy->tasks_ready(1, 1), 1u);  // woken ones begin
  EXPECT_EQ(on.policy->tasks_ready(1, 1), 0u);
}

TEST(Policies, APowerCapChoosesWhatDoesMostUnderIt) {
  const round_draws draws;
  const auto chosen = [&](double watts) {
    fake_clocks clocks(4, support::three_clocks());
    power::policy_options options;
    options.watts = watts;
    const auto policy = power::make_policy("power_cap", options);
    policy->begin({.workers = 4, .clocks = &clocks, .draws = &draws});
    policy->task_about_to_run(0, {});
    const std::pair result{policy->max_awake(), clocks.wished(0)};
    policy->worker_idle(1);  // searches at the same clock
    EXPECT_EQ(clocks.wished(1), clocks.wished(0));
    policy->end();
    return result;
  };
  EXPECT_EQ(chosen(26), std::pair(4u, std::size_t{2}));  // 10 + 4 * 4
  EXPECT_EQ(chosen(25.9), std::pair(3u, std::size_t{2}));
  EXPECT_EQ(chosen(18),
            std::pair(4u, std::size_t{1}));  // 8 worker GHz, as 2 at 4 GHz, which draw 20
  EXPECT_EQ(chosen(14.5), std::pair(4u, std::size_t{0}));
}

TEST(Policies, ACapBelowIdlePowerIsRefused) {
  const round_draws draws;
  fake_clocks clocks(4, support::three_clocks());
  const auto begin = [&](double watts, const clock_control* other = nullptr) {
    return refusal([&] {
      power::policy_options options;
      options.watts = watts;
      power::make_policy("power_cap", options)
          ->begin({.workers = 4,
                   .clocks = other != nullptr ? const_cast<clock_control*>(other) : &clocks,
                   .draws = &draws});
    });
  };
  EXPECT_THAT(begin(13), HasSubstr("14 W"));
  EXPECT_THAT(begin(14), HasSubstr("14 W"));
  const no_clock_control none("no clocks");
  EXPECT_THAT(begin(15, &none), HasSubstr("17 W"));  // one at work, at the clock that there is
  for (const double watts : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(begin(watts), HasSubstr("say how many watts"));
  }
}

TEST(Policies, ARefusedPolicyCanBeginElsewhere) {
  const round_draws draws;
  fake_clocks clocks(4, support::three_clocks());
  power::policy_options options;
  options.watts = 15;
  const auto policy = power::make_policy("power_cap", options);
  no_clock_control none("none");
  EXPECT_THROW(policy->begin({.workers = 4, .clocks = &none, .draws = &draws}), usage_error);
  policy->begin({.workers = 4, .clocks = &clocks, .draws = &draws});
  policy->end();
}

TEST(Policies, EnergyDelayFollowsTheWidthOfThePhase) {
  running on("energy_delay", 8);
  EXPECT_EQ(on.policy->max_awake(), 8u);
  for (int i = 0; i < 400; ++i) {  // a chain: each task makes the next
    on.policy->task_about_to_run(0, graph_task(0));
    on.policy->tasks_ready(0, 1);
  }
  EXPECT_EQ(on.policy->max_awake(), 1u);
  on.policy->tasks_ready(0, 20);  // all at once, and nothing more happens until one has ended
  EXPECT_EQ(on.policy->max_awake(), 8u);
  for (int hired = 0; hired < 8; ++hired) on.policy->tasks_ready(0, 1);  // not one more each
  EXPECT_EQ(on.policy->max_awake(), 8u);
}

power::policy_options slack(work_graph plan, double bound) {
  power::policy_options options;
  options.plan = std::move(plan);
  options.bound = bound;
  return options;
}

/// A chain of two long tasks beside a short one.
work_graph chain_and_short() {
  work_graph plan;
  plan.tasks = {{"long", 4, 0, {2}}, {"short", 2, 0, {}}, {"long", 4, 0, {}}};
  return plan;
}

TEST(Policies, SlackReductionWishesThePlannedStep) {
  running on("slack_reduction", 2, slack(chain_and_short(), 0));
  on.policy->task_about_to_run(0, graph_task(0, "long"));
  EXPECT_EQ(on.clocks.wished(0), 2u);
  on.policy->task_about_to_run(1, graph_task(1, "short"));
  EXPECT_EQ(on.clocks.wished(1), 0u);  // four times as long is as long as the chain
  on.policy->task_about_to_run(1, graph_task(2, "long"));
  EXPECT_EQ(on.clocks.wished(1), 2u);
  on.policy->task_about_to_run(1, graph_task(1, "other"));  // a task of another graph
  EXPECT_EQ(on.clocks.wished(1), 2u);
  on.policy->task_about_to_run(1, graph_task(99, "long"));
  on.policy->task_about_to_run(1, {});
  EXPECT_EQ(on.clocks.wished(1), 2u);
  EXPECT_EQ(on.policy->worker_idle(1).how, idle_policy::poll);
  EXPECT_EQ(on.policy->worker_idle(1).how, idle_policy::block);
  EXPECT_EQ(on.clocks.wished(1), 0u);  // it is asleep, so it does not hold the clock of its domain
}

TEST(Policies, SlackReductionRefusesWhatCannotBeKept) {
  EXPECT_THAT(refusal([] { static_cast<void>(power::make_policy("slack_reduction")); }),
              HasSubstr("dry run"));
  for (const double bound : {-0.01, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(
        refusal([&] {
          static_cast<void>(power::make_policy("slack_reduction", slack(chain_and_short(), bound)));
        }),
        HasSubstr("bound"));
  }
  work_graph backwards = chain_and_short();
  backwards.tasks[2].successors = {0};
  EXPECT_THAT(refusal([&] { running on("slack_reduction", 2, slack(backwards, 0)); }),
              HasSubstr("task 2"));
  work_graph endless = chain_and_short();
  endless.tasks[1].work = std::nan("");
  EXPECT_THAT(refusal([&] { running on("slack_reduction", 2, slack(endless, 0)); }),
              HasSubstr("task 1"));
}

}  // namespace
