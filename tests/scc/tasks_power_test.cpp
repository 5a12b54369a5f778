// SPDX-License-Identifier: Apache-2.0
// Workers on the simulated chip that halt and are woken, and power policies there.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/core/energy.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/power/policies.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>

namespace {

using namespace creek;
using scc_backend::simulated_now;
using scc_backend::task_report;

constexpr scheduler_kind schedulers[] = {scheduler_kind::stealing_random,
                                         scheduler_kind::stealing_latency, scheduler_kind::sharing};

scc waiting(idle_policy how, unsigned workers, task_report* report = nullptr) {
  scc made{workers};
  made.options.idle = how;
  made.report = report;
  return made;
}

/// Measures one task of 10 ms, while all other workers have no work.
struct lonely_task {
  explicit lonely_task(idle_policy how) {
    runtime rt{waiting(how, 48, &report)};
    // Readings order the cores: the other cores' actions until then are known.
    rt.run([&] {
      const metered_energy before = backend_meter::current()->read();
      charge(cycles{5'330'000});
      const metered_energy after = backend_meter::current()->read();
      used = {after.energy - before.energy, after.time - before.time};
    });
  }
  task_report report;
  metered_energy used;
};

TEST(SccHalting, SavesTheSwitchingPowerOfThoseThatWait) {
  const lonely_task polls(idle_policy::poll), halts(idle_policy::block);
  const scc_backend::chip on = scc_backend::chip::scc_533();
  const auto level = static_cast<std::size_t>(on.power.lowest_safe_level(on.clocks.core));
  const units::watts one = switching_power(on, scc_backend::activity::waiting,
                                           on.power.levels[level].voltage, on.clocks.core);
  const double saved = (polls.used.energy - halts.used.energy).value;
  EXPECT_NEAR(saved, 47 * one.value * 10e-3, 0.02 * 47 * one.value * 10e-3);
  EXPECT_EQ(polls.report.counters[counter::parks], 0U);
  EXPECT_EQ(halts.report.counters[counter::parks], 47U);
  EXPECT_NEAR(halts.used.time.value, polls.used.time.value, 1e-9);
}

TEST(SccHalting, OneIsWokenForEachTaskNotAll) {
  task_report report;
  std::set<int> ran_on;
  {
    runtime rt{waiting(idle_policy::block, 48, &report)};
    rt.run([&] {
      charge(cycles{1'000'000});  // all others halt
      for (int i = 0; i < 3; ++i) {
        spawn([&] {
          ran_on.insert(this_worker());
          charge(cycles{1'000'000});
        });
      }
      charge(cycles{1'500'000});
      taskwait();
    });
  }
  EXPECT_EQ(ran_on.size(), 3U);
  EXPECT_EQ(ran_on.count(0), 0U);
  EXPECT_EQ(report.counters[counter::parks], 47U + 3U);
}

/// Returns the time from creating a task to its start on a worker that was halted.
double wake_up(cycles kernel_crossing) {
  scc on = waiting(idle_policy::block, 2);
  on.kernel_crossing = kernel_crossing;
  runtime rt{on};
  return rt.run([] {
    charge(cycles{1'000'000});
    const virtual_time made = *simulated_now();
    virtual_time began;
    spawn([&] { began = *simulated_now(); });
    charge(cycles{100'000});
    taskwait();
    return (began - made).in_seconds().value * 533.3e6;
  });
}

TEST(SccHalting, AWokenWorkerPaysForTheInterrupt) {
  const double bare = wake_up(cycles{0});
  EXPECT_GT(bare, 600);
  EXPECT_LT(bare, 6000);
  EXPECT_NEAR(wake_up(cycles{2000}) - bare, 2000, 150);
  EXPECT_THROW(wake_up(cycles{-1}), usage_error);
  EXPECT_THROW(wake_up(cycles{std::numeric_limits<std::int64_t>::max()}), usage_error);
}

long tree(int n) {
  if (n < 2) {
    charge(cycles{n * 20'000 + 500});
    return n;
  }
  long a = 0, b = 0;
  spawn([&] { a = tree(n - 1); });
  spawn([&] { b = tree(n - 2); });
  charge(cycles{30'000});
  taskwait();
  return a + b;
}

TEST(SccHalting, LosesNoWakeUp) {
  for (const scheduler_kind how : schedulers) {
    for (const unsigned workers : {2U, 3U, 17U, 48U}) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        scc on = waiting(idle_policy::block, workers);
        on.options.scheduler = how;
        on.options.seed = seed;
        runtime rt{on};
        for (int round = 0; round < 3; ++round) {
          EXPECT_EQ(rt.run([] {
            auto late = async([] {
              charge(cycles{400'000});  // its waiter's core halts
              return 1L;
            });
            const long sum = tree(7);
            return sum + late.get();
          }),
                    14);
        }
      }
    }
  }
}

// --- Policies -----------------------------------------------------------------------------------

/// Records its calls.
class listener : public power_policy {
 public:
  std::string_view name() const noexcept override { return "listener"; }
  void begin(const power_site& site) override {
    site_ = site;
    clocks = {site.clocks->clocks().begin(), site.clocks->clocks().end()};
  }
  idle_plan worker_idle(unsigned worker) noexcept override {
    ++idle;
    if (lowers) site_.clocks->wish(worker, 0);
    return {idle_policy::block};
  }
  void task_about_to_run(unsigned worker, const task_profile&) noexcept override {
    ++tasks;
    if (lowers) site_.clocks->wish(worker, clocks.size() - 1);
    if (lowers) slowest = std::min(slowest, site_.clocks->clock(worker).value);
  }
  unsigned tasks_ready(unsigned, unsigned count) noexcept override {
    ready += count;
    return count;
  }

  bool lowers = false;
  std::vector<units::hertz> clocks;
  unsigned idle = 0, tasks = 0, ready = 0;
  double slowest = 1e12;

 protected:
  power_site site_;
};

TEST(SccPolicies, AreToldOfTheThreeEvents) {
  const auto told = std::make_shared<listener>();
  scc on{8};
  on.options.policy = told;
  {
    runtime rt{on};
    rt.run([] {
      charge(cycles{500'000});
      for (int i = 0; i < 5; ++i) spawn([] { charge(cycles{200'000}); });
      taskwait();
    });
  }
  ASSERT_EQ(told->clocks.size(), 14U);  // dividers 16 to 3
  EXPECT_NEAR(told->clocks.front().value, 100e6, 1);
  EXPECT_NEAR(told->clocks.back().value, 1600e6 / 3, 1);
  EXPECT_GE(told->idle, 7U);
  EXPECT_GE(told->tasks, 6U);
  EXPECT_EQ(told->ready, 5U);
}

TEST(SccPolicies, AClockIsThatOfTheHighestWishOfATile) {
  const auto told = std::make_shared<listener>();
  told->lowers = true;
  task_report slow, fast;
  for (task_report* report : {&fast, &slow}) {
    scc on{48};
    on.report = report;
    if (report == &slow) on.options.policy = told;
    runtime rt{on};
    rt.run([] {
      for (int i = 0; i < 20; ++i) {
        spawn([] { charge(cycles{400'000}); });
      }
      charge(cycles{2'000'000});
      taskwait();
    });
  }
  EXPECT_NEAR(told->slowest, 1600e6 / 3, 1);  // every task began at the highest clock
  EXPECT_LT(slow.ended.in_seconds().value, 1.1 * fast.ended.in_seconds().value);
}

/// A called function is work, too.
TEST(SccPolicies, ACallRunsAtTheHighestClock) {
  const auto told = std::make_shared<listener>();
  told->lowers = true;
  scc on{48};
  on.options.policy = told;
  runtime rt{on};
  const double seconds = rt.run([] {
    charge(cycles{2'000'000});  // all others halt at the lowest clock
    return call_on(core_id{40}, [] {
      const virtual_time began = *simulated_now();
      charge(cycles{1'000'000});
      return (*simulated_now() - began).in_seconds().value;
    });
  });
  EXPECT_NEAR(seconds, 3e6 / 1600e6, 1e-5);
}

TEST(SccPolicies, EnergyIsThatOfTheReport) {
  task_report report;
  metered_energy before{}, after{};
  {
    scc on{12};
    on.report = &report;
    on.options.policy = power::make_policy("frequency");
    runtime rt{on};
    rt.run([&] {
      before = backend_meter::current()->read();
      for (int i = 0; i < 40; ++i) spawn([] { charge(cycles{100'000}); });
      taskwait();
      after = backend_meter::current()->read();
    });
  }
  EXPECT_GT(after.energy, before.energy);
  EXPECT_LE(after.energy, report.energy);
  // Only the end of the run follows the last reading.
  EXPECT_NEAR(after.energy.value, report.energy.value, 0.05 * report.energy.value);
  EXPECT_EQ(backend_meter::current(), nullptr);
}

TEST(SccPolicies, RunAlikeTwice) {
  for (const std::string name :
       {"polling", "blocking", "frequency", "race_to_idle", "energy_delay"}) {
    SCOPED_TRACE(name);
    task_report reports[2];
    for (task_report& report : reports) {
      scc on{24};
      on.report = &report;
      on.options.policy = power::make_policy(name);
      runtime rt{on};
      EXPECT_EQ(rt.run([] { return tree(9); }), 34);
    }
    EXPECT_EQ(reports[0].schedule, reports[1].schedule);
    EXPECT_EQ(reports[0].ended, reports[1].ended);
    EXPECT_EQ(reports[0].energy.value, reports[1].energy.value);
  }
}

/// Keeps at most two workers awake.
class two_awake final : public listener {
 public:
  unsigned max_awake() const noexcept override { return 2; }
};

/// Searches for a time too long to be added to another one.
class searching_for_ever final : public listener {
 public:
  idle_plan worker_idle(unsigned) noexcept override {
    return {idle_policy::block, std::chrono::nanoseconds::max()};
  }
};

TEST(SccPolicies, TakeASearchWithoutEndForALongOne) {
  scc on{8};
  on.options.policy = std::make_shared<searching_for_ever>();
  task_report report;
  on.report = &report;
  runtime rt{on};
  rt.run([] {
    charge(cycles{500'000});
    for (int i = 0; i < 8; ++i) spawn([] { charge(cycles{50'000}); });
    taskwait();
  });
  EXPECT_EQ(report.counters[counter::parks], 0U);
}

TEST(SccPolicies, KeepTheRestAsleep) {
  scc on{48};
  on.options.policy = std::make_shared<two_awake>();
  struct change {
    virtual_time at;
    int by;
  };
  std::vector<change> changes;
  runtime rt{on};
  rt.run([&] {
    charge(cycles{500'000});  // all others have halted
    for (int i = 0; i < 200; ++i) {
      spawn([&] {
        const virtual_time began = *simulated_now();
        charge(cycles{50'000});
        changes.push_back({began, 1});
        changes.push_back({*simulated_now(), -1});
      });
    }
    taskwait();
  });
  ASSERT_EQ(changes.size(), 400U);
  std::sort(changes.begin(), changes.end(),
            [](const change& a, const change& b) { return a.at < b.at; });
  int running = 0, most = 0;
  for (const change& each : changes) most = std::max(most, running += each.by);
  EXPECT_EQ(most, 2);
}

TEST(SccPolicies, AClockThatStaysLowHasItsVoltageLowered) {
  power::policy_options options;
  options.watts = 40;
  scc on{48};
  on.options.policy = power::make_policy("power_cap", options);
  metered_energy before{}, after{};
  runtime rt{on};
  rt.run([&] {
    const auto work = [] {
      for (int i = 0; i < 48 * 8; ++i) spawn([] { charge(cycles{1'000'000}); });
      taskwait();
    };
    work();  // the voltage follows after some milliseconds
    before = backend_meter::current()->read();
    work();
    after = backend_meter::current()->read();
  });
  EXPECT_LE((after.energy - before.energy) / (after.time - before.time), units::watts{40});
}

}  // namespace
