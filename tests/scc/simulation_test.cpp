// SPDX-License-Identifier: Apache-2.0
// The parts of the simulation, each by itself: the queue of ready cores, the report of what cores
// wait for, the failure that ends a run; and the engine that they make.
#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <creek/core/error.hpp>

#include "simulation/engine.hpp"

namespace {

using namespace creek;
using namespace creek::scc_backend;

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

TEST(event_queue, events_leave_by_time_then_core) {
  event_queue queue(6);
  for (const core_event event : {core_event{{5}, 0}, {{3}, 4}, {{3}, 1}, {{9}, 2}, {{4}, 3}}) {
    queue.push(event);
  }
  queue.erase(3);
  EXPECT_EQ(queue.exchange({{7}, 5}), (core_event{{3}, 1}));
  std::vector<int> cores;
  while (!queue.empty()) cores.push_back(queue.pop().core);
  EXPECT_EQ(cores, (std::vector{4, 0, 5, 2}));
}

TEST(simulated_cores, the_report_has_a_line_per_core_that_has_not_ended) {
  simulated_cores cores(4);
  cores[0].ended = true;
  cores[1].parked = true;
  cores[1].waits_for = "a flag of core";
  cores[1].waits_at = 3;
  cores.begin_at(core_id{1}, {2'000'000});
  cores[2].waits_for = "register";
  cores.describe_by([](core_id core) { return core.value == 3 ? std::string("in a call") : ""; });
  EXPECT_EQ(cores.report("deadlock"),
            "simulated chip: deadlock\n"
            "  core 1 waits for a flag of core 3 since 2 ns\n"
            "  core 2 polls, last for register 0 at 0 ns\n"
            "  core 3, in a call, polls at 0 ns");
}

TEST(simulated_cores, all_have_ended_when_the_last_has) {
  simulated_cores cores(2);
  cores[0].ended = true;
  EXPECT_FALSE(cores.have_all_ended());
  cores[1].ended = true;
  EXPECT_TRUE(cores.have_all_ended());
}

TEST(run_failure, the_first_failure_is_thrown_and_every_one_is_observed) {
  run_failure failure;
  int observed = 0;
  failure.when_failing([&](const std::exception_ptr&) { ++observed; });
  EXPECT_NO_THROW(failure.throw_if_aborted());
  EXPECT_NO_THROW(failure.rethrow());
  failure.record(std::make_exception_ptr(std::runtime_error("first")));
  failure.record(std::make_exception_ptr(std::logic_error("second")));
  EXPECT_EQ(observed, 2);
  EXPECT_THROW(failure.throw_if_aborted(), error);
  EXPECT_THROW(failure.rethrow(), std::runtime_error);
  EXPECT_NO_THROW(failure.rethrow());
  EXPECT_TRUE(failure.aborted());
}

TEST(engine, cores_act_in_the_order_of_time_then_number) {
  engine simulation(3, stack_bytes);
  simulation.cores().begin_at(core_id{0}, {10});
  std::vector<int> actions;
  simulation.run([&](core_id self) {
    for (int i = 0; i < 2; ++i) {
      simulation.order_at(simulation.now());
      actions.push_back(self.value);
      simulation.advance({10});
    }
  });
  EXPECT_EQ(actions, (std::vector{1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(simulation.cores().ended_at(core_id{0}), virtual_time{30});
}

TEST(engine, a_parked_core_goes_on_when_it_is_woken_or_its_time_comes) {
  engine simulation(2, stack_bytes);
  std::vector<virtual_time> times;
  simulation.run([&](core_id self) {
    if (self.value == 1) {
      simulation.order_at({30});
      return simulation.wake(core_id{0}, {40});
    }
    EXPECT_FALSE(simulation.park_until("a time", 0, {20}));
    times.push_back(simulation.now());
    EXPECT_TRUE(simulation.park_until("core", 1, {90}));
    times.push_back(simulation.now());
  });
  EXPECT_EQ(times, (std::vector<virtual_time>{{20}, {40}}));
}

TEST(engine, a_deadlock_names_what_is_awaited_and_unwinds_every_core) {
  engine simulation(2, stack_bytes);
  int unwound = 0;
  try {
    simulation.run([&](core_id self) {
      try {
        simulation.park("a word of core", 1 - self.index());
      } catch (const error&) {
        ++unwound;
        throw;
      }
    });
    FAIL() << "two cores waited for each other";
  } catch (const error& deadlock) {
    EXPECT_EQ(deadlock.code(), std::error_code(EDEADLK, std::generic_category()));
    EXPECT_NE(std::string(deadlock.what()).find("core 0 waits for a word of core 1 since 0 ns"),
              std::string::npos);
  }
  EXPECT_EQ(unwound, 2);
}

}  // namespace
