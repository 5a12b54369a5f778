// SPDX-License-Identifier: Apache-2.0
// A policy that chooses clocks, on host workers, acting through the files of recorded machines.
#include <creek/power/linux_clocks.hpp>
#include <creek/power/policies.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <creek/tasking/runtime.hpp>

#include "power/recorded_machine.hpp"

namespace creek::power {
namespace {

TEST(policies_on_linux_clocks, run_tasks_at_the_highest_clock_and_leave_things_as_found) {
  const recorded_machine machine("amd_acpi_cpufreq");
  scheduler_options options;
  options.workers = 2;
  options.policy = make_policy("frequency");
  options.clocks = linux_clocks({.workers = 2, .cpus = {0, 2}});
  ASSERT_EQ(options.clocks->why_not(), "");
  {
    runtime rt(options);
    for (int i = 0; i < 20; ++i) {
      // The other worker may be the one that writes, a moment after the task has begun.
      rt.run([&] {
        while (machine.read(2, "scaling_setspeed") != "2300000") std::this_thread::yield();
      });
    }
    while (machine.read(2, "scaling_setspeed") != "1400000") std::this_thread::yield();
  }
  EXPECT_EQ(options.clocks->failed(), "");
  options = {};
  EXPECT_EQ(machine.settings(0), "ondemand 1400000 2300000");
  EXPECT_EQ(machine.settings(2), "ondemand 1400000 2300000");
}

TEST(policies_on_linux_clocks, leave_nothing_to_the_next_runtime_of_a_control) {
  const recorded_machine machine("amd_acpi_cpufreq");
  scheduler_options options;
  options.workers = 2;
  options.clocks = linux_clocks({.workers = 2, .cpus = {0, 2}});
  for (int round = 0; round < 3; ++round) {
    options.policy = make_policy("race_to_idle");  // every worker wishes the highest to the end
    {
      runtime rt(options);
      rt.run([&] {
        while (machine.read(2, "scaling_setspeed") != "2300000") std::this_thread::yield();
      });
    }
    EXPECT_EQ(machine.settings(0), "ondemand 1400000 2300000");
    EXPECT_EQ(machine.settings(2), "ondemand 1400000 2300000");
    EXPECT_EQ(options.clocks->clock(0), units::hertz{});
    options.clocks->wish(1, 0);  // worker 0's request does not delay it
    EXPECT_EQ(machine.read(2, "scaling_setspeed"), "1400000");
    options.clocks->forget_wishes();
    EXPECT_EQ(machine.settings(2), "ondemand 1400000 2300000");
  }
  EXPECT_EQ(options.clocks->failed(), "");
}

TEST(policies_on_linux_clocks, run_without_control_and_say_so_once) {
  const recorded_machine machine("virtual_machine");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    scheduler_options options;
    options.workers = 2;
    options.policy = make_policy("frequency");
    options.clocks = linux_clocks();
    EXPECT_EQ(runtime(options).run([] { return 42; }), 42);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::StartsWith("creek: policy 'frequency' runs without control of clocks: "
                                        "no policies in "));
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

}  // namespace
}  // namespace creek::power
