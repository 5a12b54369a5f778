// SPDX-License-Identifier: Apache-2.0
// Idle workers: k ready tasks bring k workers together, whichever thread makes them and how; one
// task does not wake all workers; idle workers use no CPU time. A meeting ends only when all
// its tasks run at once on different workers, so a missing wake-up shows as a timeout.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

using namespace std::chrono_literals;

constexpr unsigned workers = 4;

/// Holds the worker of every task that arrives until all are there.
class meeting {
 public:
  explicit meeting(unsigned expected) : expected_(expected) {}
  void attend() {
    present_.fetch_add(1);
    while (present_.load() < expected_) std::this_thread::yield();
  }

 private:
  unsigned expected_;
  std::atomic<unsigned> present_{0};
};

struct setup {
  const char* name;
  idle_policy idle;
  scheduler_kind scheduler = scheduler_kind::stealing_random;
  deque_kind deque = deque_kind::host;
};

scheduler_options options_of(const setup& chosen) {
  scheduler_options options;
  options.workers = workers;
  options.idle = chosen.idle;
  options.scheduler = chosen.scheduler;
  options.deque = chosen.deque;
  return options;
}

class meetings : public ::testing::TestWithParam<setup> {
 protected:
  runtime rt{host(options_of(GetParam()))};
  static constexpr int rounds = under_sanitizer ? 20 : 100;
};

TEST_P(meetings, of_spawned_tasks) {
  for (int round = 0; round < rounds; ++round) {
    meeting all(workers);
    rt.run([&] {
      for (unsigned i = 0; i < workers; ++i) spawn([&] { all.attend(); });
      taskwait();
    });
  }
}

TEST_P(meetings, with_an_owner_that_computes_on) {
  for (int round = 0; round < rounds; ++round) {
    meeting all(workers);
    rt.run([&] {
      for (unsigned i = 1; i < workers; ++i) spawn([&] { all.attend(); });
      all.attend();  // the deque is not touched from here on
      taskwait();
    });
  }
}

void fork_tree(meeting& all, unsigned leaves) {
  if (leaves == 1) return all.attend();
  fork_join([&] { fork_tree(all, leaves / 2); }, [&] { fork_tree(all, leaves - leaves / 2); });
}

TEST_P(meetings, of_the_leaves_of_a_fork_tree) {
  for (int round = 0; round < rounds; ++round) {
    meeting all(workers);
    rt.run([&] { fork_tree(all, workers); });
  }
}

TEST_P(meetings, of_tasks_from_foreign_threads) {
  for (int round = 0; round < rounds; ++round) {
    meeting all(workers);
    std::vector<future<void>> done;
    for (unsigned i = 0; i < workers; ++i) done.push_back(rt.async([&] { all.attend(); }));
    for (auto& each : done) each.get();
  }
}

TEST_P(meetings, of_strands_that_one_promise_resumes) {
  for (int round = 0; round < rounds; ++round) {
    meeting all(workers);
    std::vector<promise<void>> starts(workers);
    std::vector<future<void>> done;
    for (auto& start : starts) {
      done.push_back(rt.async([&all, start = start.get_future()]() mutable {
        start.get();
        all.attend();
      }));
    }
    for (auto& start : starts) start.set_value();
    for (auto& each : done) each.get();
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, meetings,
    ::testing::Values(
        setup{"block", idle_policy::block}, setup{"backoff", idle_policy::backoff},
        setup{"poll", idle_policy::poll},
        setup{"last_victim", idle_policy::block, scheduler_kind::stealing_last_victim},
        setup{"latency", idle_policy::block, scheduler_kind::stealing_latency},
        setup{"sharing", idle_policy::block, scheduler_kind::sharing},
        setup{"mpb", idle_policy::block, scheduler_kind::stealing_random, deque_kind::mpb}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

/// Returns the CPU seconds of `rt` in the half second that begins 10 ms after its last task.
double idle_cost(runtime& rt) {
  rt.run([] {
    for (int i = 0; i < 1000; ++i) spawn([] {});
    taskwait();
  });
  std::this_thread::sleep_for(10ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(500ms);
  return cpu_seconds() - before;
}

TEST(idle_workers, that_block_cost_nothing) {
  runtime rt{host(options_of({"", idle_policy::block}))};
  // Under a sanitizer the sanitizer's own threads count too.
  EXPECT_LT(idle_cost(rt), under_sanitizer ? 0.1 : 0.005);
}

TEST(idle_workers, that_serve_only_cost_nothing) {
  scheduler_options options = options_of({"", idle_policy::block});
  options.serve_only = {core_id{1}, core_id{3}};
  runtime rt{host(options)};
  rt.run([] { call_on(core_id{3}, [] {}); });
  EXPECT_LT(idle_cost(rt), under_sanitizer ? 0.1 : 0.005);
}

TEST(idle_workers, whose_calls_are_watched_cost_nothing) {
  scheduler_options options = options_of({"", idle_policy::block});
  options.stall_limit = 1ms;
  runtime rt{host(options)};
  rt.run([] { call_on(core_id{3}, [] {}); });
  EXPECT_LT(idle_cost(rt), under_sanitizer ? 0.1 : 0.005);
}

TEST(idle_workers, that_poll_cost_what_they_were_asked_to) {
  runtime rt{host(options_of({"", idle_policy::poll}))};
  // If the machine pauses for a moment, the result does not concern the workers: try again.
  double most = 0;
  for (int tries = 0; tries < 5 && most <= 0.02; ++tries) most = std::max(most, idle_cost(rt));
  EXPECT_GT(most, 0.02) << "else the two tests beside this one measure nothing";
}

TEST(idle_workers, that_spin_look_for_work_before_they_sleep) {
  scheduler_options options = options_of({"", idle_policy::block});
  options.workers = 2;
  options.spin_wait = 60s;
  runtime rt{host(options)};
  double most = 0;
  for (int tries = 0; tries < 5 && most <= 0.02; ++tries) most = std::max(most, idle_cost(rt));
  // Workers that share a processor do not keep it from each other.
  if (host_backend::read_cpu_limit().workers < 2) {
    EXPECT_LT(most, 0.1);
  } else {
    EXPECT_GT(most, 0.02);
  }
  // Its end does not wait for them.
}

TEST(idle_workers, that_back_off_cost_little) {
  runtime rt{host(options_of({"", idle_policy::backoff}))};
  EXPECT_LT(idle_cost(rt), under_sanitizer ? 0.6 : 0.25);
}

TEST(idle_workers, are_woken_one_a_task) {
  scheduler_options options = options_of({"", idle_policy::block});
  options.workers = 8;
  runtime rt{host(options)};
  constexpr std::uint64_t tasks = 500;
  const auto before = rt.counters();
  for (std::uint64_t i = 0; i < tasks; ++i) rt.run([] {});
  const auto after = rt.counters();
  // The worker of the task, and rarely one that a searcher wakes before it leaves.
  EXPECT_LE(after[counter::wakes] - before[counter::wakes], 2 * tasks + options.workers);
}

TEST(idle_workers, sleep_through_work_that_has_its_worker) {
  runtime rt{host(options_of({"", idle_policy::block}))};
  const auto wakes = [&] { return rt.counters()[counter::wakes]; };
  rt.run([&] {
    const auto before = wakes();
    for (int i = 0; i < 10000; ++i) fork_join([] {}, [] {});
    // Forks that their creator takes back at once wake a worker now and then, not all each time.
    EXPECT_LE(wakes() - before, 10000U);
  });
}

}  // namespace
}  // namespace creek::support
