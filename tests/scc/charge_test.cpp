// SPDX-License-Identifier: Apache-2.0
// creek::charge() on simulated cores.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/core/measuring/thread_cpu_time.hpp>
#include <creek/scc.hpp>
#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/interrupts.hpp>
#include <creek/scc/shared_memory.hpp>
#include <creek/scc/time_accounting.hpp>
#include <creek/scc/work_costs.hpp>
#include <creek/tasking.hpp>

namespace {

using namespace creek;
using scc_backend::chip;
using scc_backend::cost_of;

TEST(Charge, AdvancesTheCoreThatRuns) {
  const auto report = scc_backend::run_cores({}, [](scc_backend::memory& memory) {
    const virtual_time before = memory.now();
    charge(cycles{100 * (memory.self().value + 1)});
    EXPECT_EQ(memory.now() - before,
              cycles{100 * (memory.self().value + 1)} * chip::scc_533().clocks.core);
    (void)memory.load(memory.at(core_id{0}, 0).as<word>());  // others run meanwhile
    const virtual_time later = memory.now();
    charge(work::comparison, 7);
    EXPECT_EQ(memory.now() - later, cost_of(work::comparison, 7) * chip::scc_533().clocks.core);
  });
  EXPECT_GT(report.ended[47], report.ended[0]);
}

TEST(Charge, GoesToTheInnermostSimulation) {
  scc_backend::run_cores({.description = chip::scc_800()}, [](scc_backend::memory& memory) {
    if (memory.self().value != 3) return;
    const auto inner = simulate(1, [](scc_communicator&) { charge(cycles{1'000'000}); });
    EXPECT_GE(inner.length(), cycles{1'000'000} * chip::scc_533().clocks.core);
    EXPECT_EQ(memory.now(), virtual_time{});
    charge(cycles{5});
    EXPECT_EQ(memory.now(), cycles{5} * chip::scc_800().clocks.core);
  });
}

TEST(Charge, IsNothingElsewhere) {
  simulate(2, [](scc_communicator& c) { c.barrier(); });
  charge(cycles{1});
  EXPECT_EQ(execution_observer::current(), nullptr);
}

// --- Measured instead --------------------------------------------------------------------------

constexpr double cycles_a_second = 1e9;
constexpr double burned = 2e-3;
constexpr cycles at_least{static_cast<std::int64_t>(0.9 * burned * cycles_a_second)};
constexpr cycles far_more{std::int64_t{1'000'000'000'000}};

scc_backend::machine_options measured() {
  scc_backend::machine_options options;
  options.cycles_a_host_second = cycles_a_second;
  return options;
}

void burn() {
  for (const double begun = thread_cpu_seconds(); thread_cpu_seconds() - begun < burned;) {
  }
}

TEST(MeasuredComputing, TakesTheTimeThatItTakesHere) {
  const clock_period clock = chip::scc_533().clocks.core;
  const auto report = scc_backend::run_cores(measured(), [&](scc_backend::memory& memory) {
    if (memory.self().value > 3) return;
    if (memory.self().value == 3) burn();
    const virtual_time before = memory.now();
    EXPECT_EQ(before >= at_least * clock, memory.self().value == 3);
    // Other cores use time while this one waits; that does not count as its time.
    if (memory.self().value > 0) {
      memory.wait_until(memory.at(memory.self(), 0).as<word>(),
                        [](word seen) { return seen == 1; });
      burn();
    } else {
      for (int i = 1; i < 4; ++i) memory.signal(memory.at(core_id{i}, 0).as<word>(), 1);
    }
  });
  for (int i = 1; i < 4; ++i) {
    const virtual_time ended = report.ended[static_cast<std::size_t>(i)];
    EXPECT_GE(ended, (i == 3 ? 2 : 1) * at_least * clock);
  }
  EXPECT_LT(report.ended[0], at_least * clock);
}

TEST(MeasuredComputing, NeedNotBeStated) {
  const auto report = scc_backend::run_cores(measured(), [](scc_backend::memory& memory) {
    charge(far_more);
    memory.charge(far_more);
  });
  EXPECT_LT(report.length(), far_more * chip::scc_533().clocks.core);
}

TEST(MeasuredComputing, CanBeInterruptedByLayersThatStateTheirTime) {
  scc_backend::run_cores(measured(), [](scc_backend::memory& memory) {
    const clock_period clock = scc_backend::dvfs_control(memory).clock();
    scc_backend::time_accounting(memory).stop_computing();
    const virtual_time before = memory.now();
    if (memory.self().value == 0) burn();
    charge(cycles{7});
    memory.charge(cycles{5});
    EXPECT_EQ(memory.now() - before, cycles{12} * clock);
    scc_backend::time_accounting(memory).start_computing();
    if (memory.self().value == 0) burn();
    scc_backend::time_accounting(memory).stop_computing();
    EXPECT_EQ(memory.now() - before >= at_least * clock, memory.self().value == 0);
  });
}

TEST(MeasuredComputing, IsThatOfTasksToo) {
  scc_backend::task_report report;
  scc on(4);
  on.machine = measured();
  on.report = &report;
  constexpr int tasks = 16;
  {
    runtime workers{on};
    workers.run([] {
      promise<int> later;
      auto awaited = later.get_future();
      for (int i = 0; i < tasks; ++i) {
        spawn([i, &awaited, &later] {
          charge(far_more);
          burn();
          if (i == 3) later.set_value(1);
          // Suspended, while others use time.
          EXPECT_EQ(i == 0 ? awaited.get() : 1, 1);
        });
      }
      taskwait();
    });
  }
  const clock_period clock = chip::scc_533().clocks.core;
  EXPECT_GE(report.tasks.busy, tasks * at_least * clock);
  EXPECT_LT(report.tasks.busy, far_more * clock);
  EXPECT_GE(report.ended, tasks / 4 * at_least * clock);
}

TEST(MeasuredComputing, OfAnotherCoreIsNotThatOfOneThatReads) {
  const auto report = scc_backend::run_cores(measured(), [](scc_backend::memory& memory) {
    if (memory.self().value == 47) burn();
    if (memory.self().value > 0 && memory.self().value < 47) return;
    std::array<std::byte, 256> data{};
    memory.cached_read(data.data(), scc_backend::shared_memory(memory).at(0), data.size(), 4096);
    memory.read(data.data(), scc_backend::shared_memory(memory).at(0), data.size());
  });
  EXPECT_LT(report.ended[0], at_least * chip::scc_533().clocks.core);
}

TEST(MeasuredComputing, IsThatOfInterruptHandlersToo) {
  const auto report = scc_backend::run_cores(measured(), [](scc_backend::memory& memory) {
    if (memory.self().value > 1) return;
    if (memory.self().value == 0) {
      scc_backend::interrupt_pins(memory).raise(core_id{1}, 0);
    } else {
      scc_backend::interrupt_pins(memory).set_handler([](int) { burn(); });
      scc_backend::interrupt_pins(memory).halt();
    }
  });
  EXPECT_GE(report.ended[1], at_least * chip::scc_533().clocks.core);
}

TEST(MeasuredComputing, IsThatOfForks) {
  scc_backend::task_report report;
  scc on(2);
  on.machine = measured();
  on.report = &report;
  runtime{on}.run([] {
    const auto before = scc_backend::simulated_now();
    burn();
    EXPECT_GE(*scc_backend::simulated_now() - *before, at_least * chip::scc_533().clocks.core);
    for (int i = 0; i < 4; ++i) fork_join([] { burn(); }, [] { burn(); });  // stolen or not
  });
  EXPECT_GE(report.tasks.busy, 9 * at_least * chip::scc_533().clocks.core);
}

/// Waits in vain are found; loops over loads look like programs that compute between them.
TEST(MeasuredComputing, LetsWaitsInVainBeFound) {
  const auto wait = [](scc_backend::memory& memory) {
    if (memory.self().value > 1) return;
    burn();
    memory.wait_until(memory.at(memory.self(), 0).as<word>(), [](word seen) { return seen != 0; });
  };
  EXPECT_THROW(scc_backend::run_cores(measured(), wait), error);
}

TEST(MeasuredComputing, NeedsAFactor) {
  scc_backend::machine_options options;
  for (const double none : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    options.cycles_a_host_second = none;
    EXPECT_THROW(scc_backend::run_cores(options, [](scc_backend::memory&) {}), usage_error);
  }
  scc on(4);
  on.machine = options;
  EXPECT_THROW(runtime{on}, usage_error);
}

}  // namespace
