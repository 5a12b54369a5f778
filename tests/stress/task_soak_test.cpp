// SPDX-License-Identifier: Apache-2.0
// Random programs of tasks on many runtimes, of 1 to 64 workers, while threads are stopped anywhere
// and moved between processors: each program means what it means sequentially, and all end.
// CREEK_TEST_TASKS sets the number of tasks, CREEK_TEST_SEED replays the programs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <creek/tasking.hpp>

#include "conformance/random_program.hpp"
#include "disturbance.hpp"
#include "support/few_cases.hpp"
#include "support/seed.hpp"

namespace creek::support {
namespace {

scheduler_options random_options(std::mt19937_64& random) {
  constexpr std::array workers{1U, 2U, 3U, 4U, 8U, 16U, 64U};
  scheduler_options chosen;
  chosen.workers = workers[random() % workers.size()];
  chosen.idle = random() % 2 == 0 ? idle_policy::block : idle_policy::backoff;
  chosen.deque_capacity = random() % 2 == 0 ? 8 : 2048;
  chosen.stack_size = std::size_t{128} << 10;
  return chosen;
}

/// Runs random programs from `threads` threads at once; returns the number of their tasks.
std::uint64_t run_programs(runtime& rt, std::uint64_t seed, unsigned threads) {
  std::atomic<std::uint64_t> tasks{0};
  const auto run_some = [&](std::uint64_t own_seed) {
    std::mt19937_64 random(own_seed);
    for (int i = 0; i < 20; ++i) {
      const auto program = conformance::make_program(random, 2 + static_cast<int>(random() % 5));
      conformance::outcome made;
      std::atomic<std::uint64_t> side{0};
      made.value = rt.run([&] { return conformance::run_as_task(program, side); });
      made.side = side;
      ASSERT_TRUE(made == conformance::run_sequentially(program)) << program;
      tasks += program.size();
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    }
  };
  {
    std::vector<std::jthread> all;
    for (unsigned i = 1; i < threads; ++i) all.emplace_back(run_some, seed + i);
    run_some(seed);
  }
  return tasks;
}

TEST(task_soak, random_programs_mean_the_same_under_disturbance) {
  const std::uint64_t seed = chosen_seed();
  std::cout << "replay with CREEK_TEST_SEED=" << seed << std::endl;
  const stops_and_goes stopper(seed);
  const disturbance disturber(seed);
  const std::uint64_t wanted = number_from("CREEK_TEST_TASKS", few_cases ? 20'000 : 200'000);
  std::mt19937_64 random(seed);
  std::uint64_t tasks = 0, runtimes = 0;
  while (tasks < wanted && !::testing::Test::HasFailure()) {
    runtime rt(random_options(random));
    tasks += run_programs(rt, random(), 1 + static_cast<unsigned>(random() % 3));
    ++runtimes;
  }
  std::cout << tasks << " tasks on " << runtimes << " runtimes" << std::endl;
}

}  // namespace
}  // namespace creek::support
