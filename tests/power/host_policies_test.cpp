// SPDX-License-Identifier: Apache-2.0
// Policies on the host backend: each runs forks and graphs with correct results, receives its
// events, and ends what it began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/power/policies.hpp>
#include <creek/tasking.hpp>

#include "power/fake_clocks.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace creek;
using ::testing::HasSubstr;

constexpr int scale = support::under_sanitizer ? 1 : 4;

std::uint64_t fib(unsigned n) {
  if (n < 2) return n;
  std::uint64_t left = 0, right = 0;
  fork_join([&] { left = fib(n - 1); }, [&] { right = fib(n - 2); });
  return left + right;
}

/// Adds tasks for `size` x `size` blocks, each the sum of those above and to the left.
template <class Add>
void add_triangle_sums(std::size_t size, Add add) {
  for (std::size_t i = 1; i < size; ++i) {
    for (std::size_t j = 1; j < size; ++j) add(i, j);
  }
}

struct sums {
  explicit sums(std::size_t n) : size(n), values(n * n, 1) {}
  std::uint64_t& at(std::size_t i, std::size_t j) { return values[i * size + j]; }
  void enqueue(linalg::task_graph& graph) {
    add_triangle_sums(size, [&](std::size_t i, std::size_t j) {
      graph.add({.name = "sum", .flops = 1.0 + static_cast<double>(j)},
                {linalg::in(&at(i - 1, j)), linalg::in(&at(i, j - 1)), linalg::out(&at(i, j))},
                [this, i, j] { at(i, j) = at(i - 1, j) + at(i, j - 1); });
    });
  }
  void expect_right() {
    sums expected(size);
    add_triangle_sums(size, [&](std::size_t i, std::size_t j) {
      expected.at(i, j) = expected.at(i - 1, j) + expected.at(i, j - 1);
    });
    EXPECT_EQ(values, expected.values);
  }
  std::size_t size;
  std::vector<std::uint64_t> values;
};

work_graph plan_of_sums(std::size_t size) {
  sums dry(size);
  linalg::task_graph graph({.dry_run = true});
  dry.enqueue(graph);
  graph.wait();
  return graph.plan();
}

constexpr std::size_t grid = 20;

std::shared_ptr<power_policy> policy_for_all(std::string_view name) {
  power::policy_options options;
  options.watts = 35;  // two or three workers of the default model
  options.plan = plan_of_sums(grid);
  return power::make_policy(name, options);
}

using policy_case = std::tuple<std::string_view, unsigned, bool>;
class every_policy : public ::testing::TestWithParam<policy_case> {
 protected:
  void SetUp() override {
    const auto [name, workers, controlled] = GetParam();
    options.workers = workers;
    options.policy = policy_for_all(name);
    if (controlled) {
      options.clocks = std::make_shared<support::fake_clocks>(workers, support::three_clocks());
    }
  }
  scheduler_options options;
};

TEST_P(every_policy, runs_forks) {
  runtime rt{host(options)};
  for (int round = 0; round < 3 * scale; ++round) {
    std::uint64_t result = 0;
    rt.run([&] { result = fib(16); });
    EXPECT_EQ(result, 987u);
  }
}

TEST_P(every_policy, runs_spawned_tasks_and_futures) {
  runtime rt{host(options)};
  std::atomic<int> ran{0};
  for (int round = 0; round < 3 * scale; ++round) {
    rt.run([&] {
      for (int i = 0; i < 200; ++i) spawn([&] { ++ran; });
      taskwait();
      auto later = async([] { return 7; });
      EXPECT_EQ(later.get(), 7);
    });
  }
  EXPECT_EQ(ran, 600 * scale);
}

TEST_P(every_policy, runs_graphs) {
  runtime rt{host(options)};
  for (int round = 0; round < 3 * scale; ++round) {
    sums values(grid);
    rt.run([&] {
      linalg::task_graph graph({.window = 64});
      values.enqueue(graph);
      graph.wait();
    });
    values.expect_right();
  }
}

TEST_P(every_policy, runs_graphs_whose_bodies_fork) {
  runtime rt{host(options)};
  std::atomic<std::uint64_t> sum{0};
  rt.run([&] {
    linalg::task_graph graph;
    int block = 0;
    for (int i = 0; i < 30; ++i) {
      const int* own = &block + i;
      graph.add({}, {i % 3 == 0 ? linalg::inout(&block) : linalg::inout(own)},
                [&] { sum += fib(10); });
    }
    graph.wait();
  });
  EXPECT_EQ(sum, 30u * 55u);
}

TEST_P(every_policy, takes_tasks_from_threads_outside) {
  runtime rt{host(options)};
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 5 * scale; ++round) {
        std::uint64_t result = 0;
        rt.run([&] { result = fib(8); });
        if (result == 21) ++right;
      }
    });
  }
  for (auto& each : callers) each.join();
  EXPECT_EQ(right, 20 * scale);
}

INSTANTIATE_TEST_SUITE_P(on_host, every_policy,
                         ::testing::Combine(::testing::ValuesIn(power::policy_names().begin(),
                                                                power::policy_names().end()),
                                            ::testing::Values(1u, 2u, 4u, 8u), ::testing::Bool()),
                         [](const auto& chosen) {
                           return std::string(std::get<0>(chosen.param)) + "_" +
                                  std::to_string(std::get<1>(chosen.param)) +
                                  (std::get<2>(chosen.param) ? "_clocks" : "_no_clocks");
                         });

// --- A user's policy -----------------------------------------------------------------------------

/// Records all events, and keeps workers above a number asleep.
class noting final : public power_policy {
 public:
  explicit noting(unsigned most_at_once) : most(most_at_once) {}
  std::string_view name() const noexcept override { return "noting"; }
  void begin(const power_site& site) override {
    ++begun;
    workers = site.workers;
    no_clocks_because = site.clocks->why_not();
    if (refuse) throw usage_error("noting: told to refuse");
  }
  void end() noexcept override { ++ended; }
  idle_plan worker_idle(unsigned worker) noexcept override {
    EXPECT_LT(worker, workers);
    ++idle;
    return plan;
  }
  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override {
    EXPECT_LT(worker, workers);
    if (task.graph == nullptr) {
      ++(task.name != nullptr && std::string_view(task.name) == "messages" ? messages : tasks);
      return;
    }
    ++graph_tasks;
    numbers += task.number;
    flops += static_cast<std::uint64_t>(task.flops);
    if (std::string_view(task.name) == "sum") ++sums_named;
  }
  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override {
    EXPECT_LT(worker, workers);
    EXPECT_GE(count, 1u);
    ready += count;
    return wakes ? count : 0;
  }
  unsigned max_awake() const noexcept override { return most; }

  bool refuse = false, wakes = true;
  idle_plan plan{};
  unsigned workers = 0;
  std::string no_clocks_because;
  std::atomic<int> begun{0}, ended{0}, idle{0}, tasks{0}, messages{0};
  std::atomic<int> graph_tasks{0}, sums_named{0};
  std::atomic<std::uint64_t> numbers{0}, flops{0}, ready{0};
  std::atomic<unsigned> most;
};

scheduler_options with(std::shared_ptr<power_policy> policy, unsigned workers) {
  scheduler_options options;
  options.workers = workers;
  options.policy = std::move(policy);
  return options;
}

TEST(host_policy, is_begun_and_ended_once) {
  const auto policy = std::make_shared<noting>(~0U);
  {
    runtime rt{host(with(policy, 3))};
    EXPECT_EQ(policy->begun, 1);
    EXPECT_EQ(policy->workers, 3u);
    EXPECT_FALSE(policy->no_clocks_because.empty());
    rt.run([] { EXPECT_EQ(fib(10), 55u); });
    EXPECT_EQ(policy->ended, 0);
  }
  EXPECT_EQ(policy->begun, 1);
  EXPECT_EQ(policy->ended, 1);
  EXPECT_GE(policy->tasks, 1);
  EXPECT_GE(policy->idle, 1);
}

TEST(host_policy, that_refuses_leaves_nothing_behind) {
  const auto policy = std::make_shared<noting>(~0U);
  policy->refuse = true;
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  EXPECT_THROW(runtime{host(with(policy, 3))}, usage_error);
  EXPECT_EQ(policy->ended, 0);
  EXPECT_LE(threads(), before);  // those that ended before may have been counted once more
  policy->refuse = false;
  runtime rt{host(with(policy, 3))};
  rt.run([] { EXPECT_EQ(fib(10), 55u); });
}

TEST(host_policy, is_told_of_each_task_of_a_graph) {
  const auto policy = std::make_shared<noting>(~0U);
  runtime rt{host(with(policy, 4))};
  sums values(grid);
  rt.run([&] {
    linalg::task_graph graph;
    values.enqueue(graph);
    graph.wait();
  });
  constexpr std::uint64_t tasks = (grid - 1) * (grid - 1);
  EXPECT_EQ(policy->graph_tasks, static_cast<int>(tasks));
  EXPECT_EQ(policy->sums_named, static_cast<int>(tasks));
  EXPECT_EQ(policy->numbers, tasks * (tasks - 1) / 2);
  EXPECT_EQ(policy->flops, (grid - 1) * (grid * (grid + 1) / 2 - 1));
  EXPECT_GE(policy->ready, tasks);
}

TEST(host_policy, that_wakes_nobody_leaves_nothing_lying) {
  for (const idle_policy how : {idle_policy::block, idle_policy::poll, idle_policy::backoff}) {
    const auto policy = std::make_shared<noting>(1);
    policy->wakes = false;
    policy->plan = {how, std::chrono::nanoseconds{0}};
    runtime rt{host(with(policy, 4))};
    for (int round = 0; round < 20 * scale; ++round) {
      std::uint64_t result = 0;
      sums values(grid);
      rt.run([&] {
        fork_join([&] { result = fib(10); },
                  [&] {
                    linalg::task_graph graph({.window = 16});
                    values.enqueue(graph);
                    graph.wait();
                  });
      });
      EXPECT_EQ(result, 55u);
      values.expect_right();
    }
  }
}

/// Counts how many tasks run at once; a task waits a moment for others to join it.
class crowd {
 public:
  void attend() {
    const int now = ++present_;
    int most = most_.load();
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    --present_;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> present_{0}, most_{0};
};

TEST(host_policy, bounds_how_many_work_at_once) {
  for (const unsigned most : {1u, 2u, 3u}) {
    const auto policy = std::make_shared<noting>(most);
    runtime rt{host(with(policy, 8))};
    crowd forked, of_graph;
    rt.run([&] {
      for (int i = 0; i < 100; ++i) spawn([&] { forked.attend(); });
      taskwait();
      linalg::task_graph graph;
      for (int i = 0; i < 100; ++i) graph.add({}, {}, [&] { of_graph.attend(); });
      graph.wait();
    });
    EXPECT_LE(forked.most(), static_cast<int>(most));
    EXPECT_LE(of_graph.most(), static_cast<int>(most));
  }
}

TEST(host_policy, may_want_fewer_awake_while_others_nap) {
  const auto policy = std::make_shared<noting>(~0U);
  policy->plan = {idle_policy::backoff, std::chrono::nanoseconds{0}};
  runtime rt{host(with(policy, 4))};
  crowd forked;
  rt.run([&] {
    policy->most = 1;
    while (rt.counters()[counter::parks] < 3) std::this_thread::yield();  // all others sleep
    for (int i = 0; i < 100; ++i) spawn([&] { forked.attend(); });
    taskwait();
  });
  EXPECT_EQ(forked.most(), 1);
}

/// The caller stays in its task, so both workers are awake though the policy allows one.
TEST(host_policy, that_wants_one_awake_has_others_answer_calls) {
  runtime rt{host(with(std::make_shared<noting>(1), 2))};
  rt.run([] {
    const core_id other{1 - this_worker()};
    std::atomic<bool> waits{false}, answered{false};
    promise<void> go;
    auto went = go.get_future();
    post_on(other, [&] {
      waits = true;
      went.get();  // continues as a strand that stays on its worker
      answered = true;
    });
    while (!waits) std::this_thread::yield();
    go.set_value();
    while (!answered) std::this_thread::yield();
  });
}

/// A called function is work: a policy that lowers the clocks of waiting workers must know it.
TEST(host_policy, is_told_of_calls) {
  const auto policy = std::make_shared<noting>(~0U);
  runtime rt{host(with(policy, 2))};
  rt.run([&] {
    std::atomic<int> told{-1};
    post_on(core_id{1 - this_worker()}, [&] { told = policy->messages.load(); });
    while (told < 0) std::this_thread::yield();
    EXPECT_GE(told, 1);
  });
}

TEST(host_policy, decides_instead_of_the_idle_option) {
  const auto policy = std::make_shared<noting>(~0U);
  policy->plan = {idle_policy::poll};
  auto options = with(policy, 2);
  options.idle = idle_policy::block;
  runtime rt{host(options)};
  rt.run([] { EXPECT_EQ(fib(10), 55u); });
  const int asked = policy->idle;
  while (policy->idle < asked + 10) std::this_thread::yield();  // a polling worker asks again
  EXPECT_EQ(rt.counters()[counter::parks], 0u);
}

TEST(tbb_policy, is_refused) {
  const std::vector<std::string> built = backends();
  if (std::find(built.begin(), built.end(), "tbb") == built.end()) GTEST_SKIP() << "without oneTBB";
  std::string why;
  try {
    runtime rt(with(std::make_shared<noting>(~0U), 2), "tbb");
  } catch (const usage_error& failure) {
    why = failure.what();
  }
  EXPECT_THAT(why, HasSubstr("run policy 'noting' on the host or scc backend"));
}

}  // namespace
