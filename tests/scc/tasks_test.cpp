// SPDX-License-Identifier: Apache-2.0
// Tests of the task runtime on the simulated chip that are not meaningful on every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace creek;
using scc_backend::simulated_now;
using scc_backend::task_report;

constexpr scheduler_kind all_schedulers[] = {
    scheduler_kind::stealing_random, scheduler_kind::stealing_last_victim,
    scheduler_kind::stealing_latency, scheduler_kind::sharing};

scc chosen(unsigned workers, scheduler_kind how = scheduler_kind::stealing_random,
           std::uint64_t seed = 1) {
  scc made{workers};
  made.options.scheduler = how;
  made.options.seed = seed;
  return made;
}

long tree(int n) {
  if (n < 2) {
    charge(cycles{5000});
    return n;
  }
  long a = 0, b = 0;
  spawn([&] { a = tree(n - 1); });
  spawn([&] { b = tree(n - 2); });
  taskwait();
  return a + b;
}

/// Trees, futures, forks and a loop: the result and its cost.
std::pair<long, task_report> some_of_everything(scc on, const std::string& trace = {}) {
  task_report report;
  on.report = &report;
  long result = 0;
  {
    runtime rt{on};
    if (!trace.empty()) rt.trace_to(trace);
    for (int round = 0; round < 2; ++round) {
      result += rt.run([] {
        auto later = async([] { return tree(6); });
        auto [left, right] = fork_join([] { return tree(7); }, [] { return tree(5); });
        const long sum = parallel_reduce(
            0L, 200L, 0L,
            [](long i) {
              charge(cycles{300});
              return i;
            },
            std::plus{});
        return left + right + sum + later.get();
      });
    }
  }
  return {result, report};
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// --- Determinism --------------------------------------------------------------------------------

TEST(SccTasks, ASeedGivesOneSchedule) {
  for (const scheduler_kind how : all_schedulers) {
    SCOPED_TRACE(to_string(how));
    const creek::support::temporary_folder folder;
    const std::string file = folder / "trace_";
    const auto [first, a] = some_of_everything(chosen(12, how, 7), file + "a.json");
    const auto [second, b] = some_of_everything(chosen(12, how, 7), file + "b.json");
    EXPECT_EQ(first, second);
    EXPECT_EQ(a.schedule, b.schedule);
    EXPECT_EQ(a.counters, b.counters);
    EXPECT_EQ(a.ended, b.ended);
    EXPECT_EQ(a.lock_waits, b.lock_waits);
    EXPECT_EQ(text_of(file + "a.json"), text_of(file + "b.json"));
    EXPECT_GT(text_of(file + "a.json").size(), 1000U);
  }
}

TEST(SccTasks, AnotherSeedGivesAnotherScheduleAndTheSameResults) {
  const long expected = 2 * (13 + 5 + 8 + 199 * 100);
  for (const scheduler_kind how : all_schedulers) {
    SCOPED_TRACE(to_string(how));
    std::set<std::uint64_t> schedules;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto [result, report] = some_of_everything(chosen(12, how, seed));
      EXPECT_EQ(result, expected);
      schedules.insert(report.schedule);
    }
    EXPECT_EQ(schedules.size(), 3U);
  }
}

// --- The checker --------------------------------------------------------------------------------

TEST(SccTasks, TheRuntimeRunsCleanUnderTheChecker) {
  for (const scheduler_kind how : all_schedulers) {
    SCOPED_TRACE(to_string(how));
    scc on = chosen(12, how);
    const auto [plain, without] = some_of_everything(on);
    std::vector<scc_backend::fault> faults;
    on.machine.check = true;
    on.machine.on_faults = [&](const auto& found) { faults = found; };
    const auto [checked, with] = some_of_everything(on);
    EXPECT_EQ(plain, checked);
    EXPECT_EQ(without.schedule, with.schedule);
    EXPECT_TRUE(faults.empty());
    std::ostringstream text;
    scc_backend::print(text, faults);
    EXPECT_EQ(text.str(), "");
  }
}

// --- Virtual time -------------------------------------------------------------------------------

TEST(SccTasks, EnergyOfTasksIsApartFromThatOfTheRuntime) {
  constexpr cycles length{50'000};
  constexpr int tasks = 40;
  const creek::support::temporary_folder folder;
  const std::string picture = folder / "heatmap.svg";
  task_report report;
  scc on = chosen(8);
  on.report = &report;
  on.machine.heatmap_file = picture;
  {
    runtime rt{on};
    rt.run([=] {
      for (int i = 0; i < tasks; ++i) spawn([=] { charge(length); });
      taskwait();
    });
  }
  const virtual_time stated = tasks * (length * scc_backend::chip::scc_533().clocks.core);
  EXPECT_GE(report.tasks.busy, stated);
  EXPECT_LT(report.tasks.busy, 2 * stated);
  EXPECT_GT(report.tasks.energy, units::joules{0});
  EXPECT_LT(report.tasks.energy, report.energy);
  std::ifstream drawn(picture);
  std::string first;
  std::getline(drawn, first);
  EXPECT_THAT(first, testing::StartsWith("<svg"));
}

TEST(SccTasks, MoreCoresTakeLessVirtualTime) {
  for (const scheduler_kind how : all_schedulers) {
    SCOPED_TRACE(to_string(how));
    double before = 0;
    for (const unsigned cores : {1U, 4U, 16U}) {
      runtime rt{chosen(cores, how)};
      const double took = rt.run([] {
        const virtual_time began = *simulated_now();
        for (int i = 0; i < 64; ++i) spawn([] { charge(cycles{533 * 500}); });
        taskwait();
        return (*simulated_now() - began).in_seconds().value;
      });
      if (cores == 1) {
        // The work alone takes 64 * 500 us; a task costs some microseconds more.
        EXPECT_GT(took, 64 * 499e-6);
        EXPECT_LT(took, 64 * 515e-6);
      } else {
        EXPECT_LT(took, before / 2);
      }
      before = took;
    }
  }
}

TEST(SccTasks, TimeGoesOnFromRunToRunAndRestsBetween) {
  runtime rt{chosen(4)};
  const auto work = [] {
    const virtual_time began = *simulated_now();
    charge(cycles{1000});
    return std::pair{began, *simulated_now()};
  };
  const auto [first_began, first_ended] = rt.run(work);
  std::this_thread::yield();
  const auto [second_began, second_ended] = rt.run(work);
  EXPECT_GT(second_began, first_ended);
  EXPECT_LT((second_began - first_ended).in_seconds().value, 100e-6);
  EXPECT_FALSE(simulated_now().has_value());
}

TEST(SccTasks, WhatATaskSeesIsInItsPast) {
  runtime rt{chosen(8)};
  rt.run([] {
    for (int round = 0; round < 20; ++round) {
      auto made = async([round] {
        charge(cycles{round * 1000});
        return *simulated_now();
      });
      for (int i = 0; i < 5; ++i) spawn([] { charge(cycles{700}); });
      const virtual_time stored = made.get();
      EXPECT_LE(stored, *simulated_now());
      taskwait();
    }
  });
}

// --- Scarce memory ------------------------------------------------------------------------------

TEST(SccTasks, RunOnlyInlineWithoutMemoryForCountersAndResults) {
  // Room for the deque only.
  scc tight = chosen(4);
  tight.machine.description.mpb_bytes = 32 + 64 + 10 * 160;
  const auto [result, report] = some_of_everything(tight);
  EXPECT_EQ(result, 2 * (13 + 5 + 8 + 199 * 100));
  EXPECT_GT(report.memory_full, 0U);
  EXPECT_EQ(report.counters[counter::steals_won], 0U);
  // A little room: some tasks are counted, all results are right, and all memory is returned.
  tight.machine.description.mpb_bytes += 3 * 32;
  const auto [again, more] = some_of_everything(tight);
  EXPECT_EQ(again, result);
  EXPECT_GT(more.counters[counter::steals_won], 0U);
  EXPECT_GT(more.memory_full, 0U);
}

TEST(SccTasks, MemoryOfResultsComesBack) {
  scc on = chosen(2);
  task_report report;
  on.report = &report;
  future<int> outlives;
  {
    runtime rt{on};
    rt.run([&] {
      for (int i = 0; i < 2000; ++i) EXPECT_EQ(async([i] { return i; }).get(), i);
      outlives = async([] { return 5; });
    });
  }
  EXPECT_EQ(report.memory_full, 0U);
  EXPECT_EQ(outlives.get(), 5);
}

TEST(SccTasks, TenTasksFillADeque) {
  scc on = chosen(1);
  task_report report;
  on.report = &report;
  {
    runtime rt{on};
    EXPECT_EQ(rt.options().deque_capacity, 10U);
    rt.run([] {
      for (int i = 0; i < 25; ++i) spawn([] {});
      taskwait();
    });
  }
  EXPECT_EQ(report.counters[counter::inline_runs], 15U);
  EXPECT_EQ(report.counters[counter::spawns], 10U);
}

// --- Errors -------------------------------------------------------------------------------------

TEST(SccTasks, BadOptionsAreRefusedWithTheReason) {
  const auto refusal = [](const scc& on) -> std::string {
    try {
      runtime rt{on};
    } catch (const usage_error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(scc{49}), "scc backend: chip 'scc-533' has 48 cores, not 49");
  scc on{2};
  on.options.deque_capacity = 60;
  EXPECT_EQ(refusal(on),
            "scc backend: a deque of 60 tasks takes 9696 bytes of message-passing memory; a core "
            "of chip 'scc-533' has 8192");
  on = scc{2};
  on.options.pin = true;
  EXPECT_EQ(refusal(on), "scc backend: workers are simulated cores; leave pin off");
  on = scc{2};
  on.options.deque_capacity = 1;
  EXPECT_EQ(refusal(on), "scc backend: deque_capacity must be at least 2");
  on = scc{2};
  on.machine.seed = 3;
  EXPECT_EQ(refusal(on), "scc backend: the seed is options.seed; leave machine.seed zero");
  on = scc{2};
  on.machine.description.columns = 0;
  EXPECT_THAT(refusal(on), testing::HasSubstr("columns must be positive"));
}

TEST(SccTasks, FillAReportAnew) {
  task_report report;
  report.lock_waits = 1'000'000'000;
  report.tasks.energy = units::joules{7};
  scc on{2};
  on.report = &report;
  { runtime rt{on}; }
  EXPECT_LT(report.lock_waits, 1'000'000'000U);
  EXPECT_EQ(report.tasks.energy.value, 0);
}

// --- Processes ----------------------------------------------------------------------------------

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(SccTasks, AChildOfForkIsToldThatTheDriverIsNotThere) {
  if (creek::support::under_tsan)
    GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked process";
  runtime rt{chosen(4)};
  rt.run([] {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      rt.run([] {});
      _exit(1);
    } catch (const usage_error&) {
      // A new runtime works.
      _exit(runtime{chosen(4)}.run([] { return 7; }));
    }
  }
  EXPECT_EQ(exit_code_of(child), 7);
  EXPECT_EQ(rt.run([] { return 3; }), 3);
}

TEST(SccTasks, ATaskMayForkAProcessThatExits) {
  runtime rt{chosen(4)};
  const int code = rt.run([] {
    const pid_t child = fork();
    if (child == 0) _exit(this_worker() == -1 && !simulated_now() ? 5 : 6);
    for (int i = 0; i < 10; ++i) spawn([] { charge(cycles{100}); });
    taskwait();
    return exit_code_of(child);
  });
  EXPECT_EQ(code, 5);
}

}  // namespace
