// SPDX-License-Identifier: Apache-2.0
// Energy by task and phase: known answers in the time of a fake chip, invariants on real workers.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/power/accounting.hpp>
#include <creek/power/policies.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/task_group.hpp>

#include "power/fake_chip.hpp"

namespace creek::power {
namespace {

using creek::testing::fake_chip;

constexpr const char *panel = "panel", *update = "update";

/// Two clocks in one domain each, which the test sets.
class set_clocks final : public clock_control {
 public:
  std::span<const units::hertz> clocks() const noexcept override { return {}; }
  int domain(unsigned worker) const noexcept override { return static_cast<int>(worker); }
  void wish(unsigned, std::size_t) noexcept override {}
  units::hertz clock(unsigned worker) const noexcept override { return at[worker]; }

  units::hertz at[2];
};

/// No leakage and a constant voltage: a core at half the clock draws half the power.
host_model plain_model() {
  host_model model;
  model.nominal = units::hertz{1e9};
  model.computing = units::watts{8};
  model.polling = units::watts{4};
  model.asleep = units::watts{1};
  model.leakage = 0;
  model.lowest_voltage = 1;
  return model;
}

const account_line& line(const std::vector<account_line>& lines, const std::string& name) {
  static const account_line none;
  for (const account_line& each : lines) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no line " << name;
  return none;
}

double sum(const std::vector<account_line>& lines) {
  double all = 0;
  for (const account_line& each : lines) all += each.energy.value;
  return all;
}

energy_figure of_joules(double joules) {
  return {units::joules{joules}, energy_origin::measured, "rapl", {}};
}

/// Accounting on the workers of a fake chip.
class OnChip : public ::testing::Test {
 protected:
  void SetUp() override { books.begin({.workers = 2, .clocks = &clocks}); }
  void TearDown() override { books.end(); }
  void at(double seconds) { chip.at.time = units::seconds{seconds}; }
  void runs(unsigned worker, const char* name) { books.task_about_to_run(worker, {.name = name}); }

  fake_chip chip;
  set_clocks clocks;
  accounting books{make_policy("blocking"), plain_model()};
};

TEST_F(OnChip, SharesByBusyTime) {
  runs(0, panel);
  runs(1, update);
  at(1);
  runs(0, update);
  at(4);
  (void)books.worker_idle(0);
  (void)books.worker_idle(1);
  const energy_account account = books.account(of_joules(80));
  EXPECT_DOUBLE_EQ(line(account.tasks, "panel").busy.value, 1);
  EXPECT_DOUBLE_EQ(line(account.tasks, "update").busy.value, 7);
  EXPECT_EQ(line(account.tasks, "update").times, 2U);
  EXPECT_DOUBLE_EQ(line(account.tasks, "panel").energy.value, 10);
  EXPECT_DOUBLE_EQ(line(account.tasks, "update").energy.value, 70);
  EXPECT_EQ(account.tasks.front().name, "update");
  EXPECT_EQ(account.tasks.back().name, "idle and runtime");
}

TEST_F(OnChip, SharesByClock) {
  clocks.at[0] = units::hertz{1e9};
  clocks.at[1] = units::hertz{5e8};
  runs(0, panel);
  runs(1, update);
  at(2);
  const energy_account account = books.account(of_joules(30));
  EXPECT_DOUBLE_EQ(line(account.tasks, "panel").energy.value, 20);
  EXPECT_DOUBLE_EQ(line(account.tasks, "update").energy.value, 10);
  EXPECT_DOUBLE_EQ(books.activity().clock.value, 7.5e8);
  EXPECT_DOUBLE_EQ(books.activity().computing.value, 4);
}

TEST_F(OnChip, ChargesSleepToNobody) {
  runs(0, panel);
  const idle_plan plan = books.worker_idle(1);
  at(2);
  const energy_account account = books.account(of_joules(18));
  const double idle = line(account.tasks, "idle and runtime").energy.value;
  EXPECT_NEAR(idle, 2, 1e-3);
  EXPECT_NEAR(line(account.tasks, "panel").energy.value, 16, 1e-3);
  const std::chrono::duration<double> searched = plan.search;
  EXPECT_GT(searched.count(), 0);
  EXPECT_NEAR(books.activity().polling.value, searched.count(), 1e-9);
}

TEST_F(OnChip, TakesASearchWithoutEndForOne) {
  struct searching final : power_policy {
    std::string_view name() const noexcept override { return "searching"; }
    void begin(const power_site&) override {}
    idle_plan worker_idle(unsigned) noexcept override {
      return {idle_policy::block, std::chrono::nanoseconds::max()};
    }
  };
  accounting endless(std::make_shared<searching>(), plain_model());
  endless.begin({.workers = 1, .clocks = &clocks});
  at(1);
  (void)endless.worker_idle(0);
  at(3);
  EXPECT_DOUBLE_EQ(endless.activity().polling.value, 2);
  endless.end();
}

TEST_F(OnChip, KnowsTheSameNameFromTwoPlaces) {
  const std::string first = "gemm", second = "gemm";
  runs(0, first.c_str());
  runs(1, second.c_str());
  at(1);
  const energy_account account = books.account(of_joules(2));
  EXPECT_EQ(account.tasks.size(), 2U);
  EXPECT_DOUBLE_EQ(line(account.tasks, "gemm").busy.value, 2);
}

TEST_F(OnChip, SplitsTasksWherePhasesChange) {
  runs(0, nullptr);
  at(1);
  {
    const phase outer("read");
    at(3);
    {
      const phase inner("parse");
      at(7);
    }
    at(8);
  }
  at(10);
  const energy_account account = books.account(of_joules(90));
  EXPECT_DOUBLE_EQ(line(account.phases, "no phase").busy.value, 3);
  EXPECT_DOUBLE_EQ(line(account.phases, "read").busy.value, 3);
  EXPECT_DOUBLE_EQ(line(account.phases, "parse").busy.value, 4);
  // One core computes at 8 W, the other sleeps at 1 W.
  EXPECT_DOUBLE_EQ(line(account.phases, "parse").energy.value, 36);
  EXPECT_DOUBLE_EQ(line(account.tasks, "task").busy.value, 10);
}

TEST_F(OnChip, EndsPhasesInAnyOrder) {
  runs(0, panel);
  auto first = std::make_unique<phase>("one");
  auto second = std::make_unique<phase>("two");
  at(1);
  first.reset();  // not the one that counts
  at(3);
  second.reset();
  at(4);
  const energy_account account = books.account(of_joules(1));
  EXPECT_DOUBLE_EQ(line(account.phases, "two").busy.value, 3);
  EXPECT_DOUBLE_EQ(line(account.phases, "no phase").busy.value, 1);
}

TEST_F(OnChip, RestartForgets) {
  runs(0, panel);
  at(5);
  books.restart();
  at(6);
  EXPECT_DOUBLE_EQ(line(books.account(of_joules(1)).tasks, "panel").busy.value, 1);
  EXPECT_DOUBLE_EQ(books.activity().wall.value, 1);
}

TEST_F(OnChip, RestartLeavesAModelWithoutAFigureUntilItsMeterRestarts) {
  runs(0, panel);
  at(5);
  meter_options options;
  options.source = meter_source::model;
  options.activity = &books;
  meter m(options);
  at(6);
  EXPECT_TRUE(m.read().energy.available());
  books.restart();
  at(7);
  const energy_figure figure = m.read().energy;
  EXPECT_FALSE(figure.available());
  EXPECT_NE(figure.reason.find("restart the meter"), std::string::npos);
  m.restart();
  at(8);
  EXPECT_TRUE(m.read().energy.available());
}

TEST_F(OnChip, SumsToTheWhole) {
  const char* names[] = {"a", "b", "c", "d", "e", "f", "g"};
  double now = 0;
  for (int i = 0; i < 1000; ++i) {
    runs(static_cast<unsigned>(i % 2), names[i % 7]);
    at(now += 1e-4 * (1 + i % 13));
    if (i % 5 == 0) (void)books.worker_idle(static_cast<unsigned>(i % 2));
  }
  for (const double joules : {1.0, 0.1, 12345.678, 1e-9, 3e7}) {
    const energy_account account = books.account(of_joules(joules));
    EXPECT_DOUBLE_EQ(sum(account.tasks), joules);
    EXPECT_DOUBLE_EQ(sum(account.phases), joules);
    for (const account_line& each : account.tasks) EXPECT_GE(each.energy.value, 0);
  }
}

TEST_F(OnChip, KeepsWhatThereIsNoRoomFor) {
  std::vector<std::string> names(1000);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = "task " + std::to_string(i);
    runs(0, names[i].c_str());
    at(static_cast<double>(i + 1));
  }
  const energy_account account = books.account(of_joules(5));
  EXPECT_GT(line(account.tasks, "other tasks").busy.value, 700);
  EXPECT_NEAR(books.activity().computing.value, 1000, 1e-6);
  EXPECT_DOUBLE_EQ(sum(account.tasks), 5);
}

TEST_F(OnChip, ChargesNothingToWorkersOfARuntimeBefore) {
  books.end();
  books.begin({.workers = 1, .clocks = &clocks});
  runs(0, panel);
  at(2);
  // A second core that slept there would use 2 J.
  const energy_account account = books.account(of_joules(18));
  EXPECT_DOUBLE_EQ(line(account.tasks, "panel").energy.value, 18);
  EXPECT_DOUBLE_EQ(line(account.tasks, "idle and runtime").energy.value, 0);
}

TEST_F(OnChip, HasNoJoulesWithoutAFigure) {
  runs(0, panel);
  at(1);
  const energy_account account = books.account({.source = {}, .reason = "no counters"});
  for (const account_line& each : account.tasks) EXPECT_TRUE(std::isnan(each.energy.value));
  for (const account_line& each : account.phases) EXPECT_TRUE(std::isnan(each.energy.value));
  EXPECT_DOUBLE_EQ(line(account.tasks, "panel").busy.value, 1);
}

TEST(Accounting, RefusesNoPolicyAndNonsense) {
  EXPECT_THROW(accounting{nullptr}, usage_error);
  host_model model;
  model.computing = units::watts{-1};
  EXPECT_THROW((accounting{make_policy("blocking"), model}), usage_error);
}

TEST(Accounting, HandsEventsOn) {
  struct recorder final : power_policy {
    std::string_view name() const noexcept override { return "recorder"; }
    void begin(const power_site& site) override { workers = site.workers; }
    void end() noexcept override { ++ends; }
    idle_plan worker_idle(unsigned) noexcept override {
      ++idles;
      return {idle_policy::backoff, std::chrono::nanoseconds(7)};
    }
    void task_about_to_run(unsigned, const task_profile& task) noexcept override {
      number = task.number;
    }
    unsigned tasks_ready(unsigned, unsigned count) noexcept override { return count / 2; }
    unsigned max_awake() const noexcept override { return 3; }
    unsigned workers = 0, ends = 0, idles = 0;
    std::uint64_t number = 0;
  };
  const auto inner = std::make_shared<recorder>();
  accounting books(inner);
  no_clock_control clocks("none");
  books.begin({.workers = 4, .clocks = &clocks});
  EXPECT_EQ(books.name(), "recorder");
  EXPECT_EQ(inner->workers, 4U);
  EXPECT_EQ(books.worker_idle(1).how, idle_policy::backoff);
  books.task_about_to_run(2, {.number = 42});
  EXPECT_EQ(inner->number, 42U);
  EXPECT_EQ(books.tasks_ready(0, 8), 4U);
  EXPECT_EQ(books.max_awake(), 3U);
  books.end();
  EXPECT_EQ(inner->ends, 1U);
  EXPECT_EQ(inner->idles, 1U);
}

TEST(Accounting, FollowsRealWorkers) {
  const auto books = std::make_shared<accounting>(make_policy("blocking"));
  scheduler_options options;
  options.workers = 2;
  options.policy = books;
  runtime workers(options);
  const auto start = std::chrono::steady_clock::now();
  books->restart();
  workers.run([] {
    const phase all("all of it");
    for (int i = 0; i < 20; ++i) {
      fork_join([] { spin_for(std::chrono::milliseconds(1)); },
                [] { spin_for(std::chrono::milliseconds(1)); });
    }
  });
  const energy_account account = books->account(of_joules(3));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const double busy = line(account.tasks, "task").busy.value;
  EXPECT_GE(busy, 0.02);  // 40 ms of spinning on two workers, divided as the scheduler liked
  EXPECT_LE(busy, 2.02 * passed.count());  // two clocks, one of which was measured by the other
  EXPECT_GE(line(account.phases, "all of it").busy.value, 0.02);
  EXPECT_DOUBLE_EQ(sum(account.tasks), 3);
  EXPECT_DOUBLE_EQ(sum(account.phases), 3);
}

TEST(Accounting, CountsVirtualTimeOnASimulatedChip) {
  const auto books = std::make_shared<accounting>(make_policy("blocking"));
  scheduler_options options;
  options.workers = 4;
  options.policy = books;
  runtime workers(options, "scc");
  // 800 MHz at most: 4 ms of computing at least, of eight tasks.
  const meter_reading used = workers.run([] {
    meter m;
    const phase all("on the chip");
    task_group tasks;
    for (int i = 0; i < 8; ++i) tasks.spawn([] { charge(cycles{400'000}); });
    tasks.wait();
    return m.read();
  });
  EXPECT_EQ(used.energy.origin, energy_origin::by_backend);
  EXPECT_GT(used.energy.energy.value, 0);
  EXPECT_GT(used.wall.value, 1e-3);
  const energy_account account = books->account(used.energy);
  const double busy = line(account.tasks, "task").busy.value;
  EXPECT_GE(busy, 4e-3);
  EXPECT_LE(busy, 4.5 * used.wall.value);
  EXPECT_GE(line(account.phases, "on the chip").busy.value, 2e-3);
  EXPECT_DOUBLE_EQ(sum(account.tasks), used.energy.energy.value);
  EXPECT_DOUBLE_EQ(sum(account.phases), used.energy.energy.value);
}

TEST(Accounting, CanBeReadWhileWorkersRun) {
  const auto books = std::make_shared<accounting>(make_policy("blocking"));
  scheduler_options options;
  options.workers = 2;
  options.policy = books;
  runtime workers(options);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_DOUBLE_EQ(sum(books->account(of_joules(9)).tasks), 9);
      (void)books->activity();
    }
  });
  workers.run([] {
    for (int i = 0; i < 300; ++i) {
      const phase each("phase " + std::to_string(i % 3));
      fork_join([] { spin_for(std::chrono::microseconds(20)); },
                [] { spin_for(std::chrono::microseconds(20)); });
    }
  });
}

}  // namespace
}  // namespace creek::power
