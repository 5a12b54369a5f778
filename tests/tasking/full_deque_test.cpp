// SPDX-License-Identifier: Apache-2.0
// More tasks than a deque has room for: all of them begin, whatever those before them wait for.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/few_cases.hpp"
#include "support/process_facts.hpp"

namespace creek::support {
namespace {

scheduler_options with(unsigned workers, std::uint32_t capacity) {
  scheduler_options options;
  options.workers = workers;
  options.deque_capacity = capacity;
  return options;
}

// A sanitizer takes milliseconds for each of so many stacks.
constexpr int many = under_sanitizer ? 300 : 3000;
constexpr std::uint32_t large = under_sanitizer ? 200 : 2048;

/// Runs `body(runtime)` with few and many workers, and with small and large deques.
template <class Body>
void on_each_deque(Body body) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    for (const std::uint32_t capacity : {2U, 16U, large}) {
      SCOPED_TRACE(std::to_string(workers) + " workers, deques of " + std::to_string(capacity));
      runtime rt{host(with(workers, capacity))};
      body(rt);
    }
  }
}

/// An event that comes after all `count` tasks have been made.
struct late_event {
  explicit late_event(int count) : signals(static_cast<std::size_t>(count)) {}
  void fulfil() {
    for (auto& each : signals) each.set_value();
  }
  std::vector<promise<void>> signals;
};

TEST(a_full_deque, keeps_no_spawned_task_from_waiting_for_its_maker) {
  on_each_deque([](runtime& rt) {
    std::atomic<int> ended{0};
    rt.run([&] {
      late_event event(many);
      for (auto& signal : event.signals) {
        spawn([&ended, waited = signal.get_future()]() mutable {
          waited.get();
          ++ended;
        });
      }
      event.fulfil();
      taskwait();
    });
    EXPECT_EQ(ended.load(), many);
  });
}

TEST(a_full_deque, keeps_no_task_of_a_group_from_waiting_for_its_maker) {
  on_each_deque([](runtime& rt) {
    std::atomic<int> ended{0};
    rt.run([&] {
      late_event event(many);
      task_group tasks;
      for (auto& signal : event.signals) {
        tasks.spawn([&ended, waited = signal.get_future()]() mutable {
          waited.get();
          ++ended;
        });
      }
      event.fulfil();
      tasks.wait();
    });
    EXPECT_EQ(ended.load(), many);
  });
}

TEST(a_full_deque, keeps_no_future_from_waiting_for_its_maker) {
  on_each_deque([](runtime& rt) {
    const int sum = rt.run([&] {
      late_event event(many);
      std::vector<future<int>> results;
      for (auto& signal : event.signals) {
        results.push_back(async([waited = signal.get_future()]() mutable {
          waited.get();
          return 1;
        }));
      }
      event.fulfil();
      int ended = 0;
      for (auto& each : results) ended += each.get();
      return ended;
    });
    EXPECT_EQ(sum, many);
  });
}

TEST(a_full_deque, keeps_no_task_from_waiting_for_a_thread_outside) {
  on_each_deque([](runtime& rt) {
    late_event event(many);
    std::atomic<int> begun{0};
    std::thread outside([&] {
      while (begun.load() != many) std::this_thread::yield();
      event.fulfil();
    });
    rt.run([&] {
      for (auto& signal : event.signals) {
        spawn([&begun, waited = signal.get_future()]() mutable {
          ++begun;
          waited.get();
        });
      }
      taskwait();
    });
    outside.join();
    EXPECT_EQ(begun.load(), many);
  });
}

TEST(a_full_deque, passes_on_what_tasks_throw) {
  on_each_deque([](runtime& rt) {
    std::atomic<int> ended{0};
    const auto body = [&] {
      for (int i = 0; i < many; ++i) {
        spawn([&ended, i] {
          ++ended;
          if (i == 7) throw std::runtime_error("seven");
        });
      }
      taskwait();
    };
    EXPECT_THROW(rt.run(body), std::runtime_error);
    EXPECT_EQ(ended.load(), many);
  });
}

TEST(a_full_deque, skips_tasks_of_a_cancelled_group) {
  on_each_deque([](runtime& rt) {
    rt.run([&] {
      task_group tasks;
      std::atomic<int> ran{0};
      tasks.cancel();
      for (int i = 0; i < many; ++i) tasks.spawn([&ran] { ++ran; });
      tasks.wait();
      EXPECT_EQ(ran.load(), 0);
    });
  });
}

TEST(a_full_deque, leaves_open_forks_and_tasks_of_others_where_they_are) {
  on_each_deque([](runtime& rt) {
    std::atomic<int> ended{0};
    const auto make = [&ended] {
      for (int i = 0; i < many; ++i) spawn([&ended] { ++ended; });
    };
    const auto result = rt.run([&] {
      make();
      const auto both = fork_join(
          [&] {
            make();
            return fork_join([&] { make(); }, [&] { make(); }), 1;
          },
          [&] {
            make();
            return 2;
          });
      taskwait();
      return both;
    });
    EXPECT_EQ(result, std::pair(1, 2));
    EXPECT_EQ(ended.load(), 5 * many);
  });
}

TEST(a_full_deque, of_a_task_that_runs_for_want_of_room_is_no_different) {
  on_each_deque([](runtime& rt) {
    std::atomic<int> ended{0};
    rt.run([&] {
      for (int i = 0; i < many / 50; ++i) {
        spawn([&ended] {
          task_group inner;
          for (int k = 0; k < many / 10; ++k) {
            promise<void> signal;
            inner.spawn([&ended, waited = signal.get_future()]() mutable {
              waited.get();
              ++ended;
            });
            spawn([signal = std::move(signal)]() mutable { signal.set_value(); });
          }
          inner.wait();
        });
      }
      taskwait();
    });
    EXPECT_EQ(ended.load(), many / 50 * (many / 10));
  });
}

/// Tasks that make, wait for and leave others, as a seed has it; counts those that begin and end.
struct random_tasks {
  std::atomic<std::int64_t> made{0}, ended{0};

  void run(std::uint32_t seed, int depth) {
    std::minstd_rand random(seed);
    std::vector<future<void>> results;
    const auto count = static_cast<int>(random() % (depth == 0 ? 400 : 40));
    for (int i = 0; i < count; ++i) {
      const auto next = static_cast<std::uint32_t>(random());
      const auto child = [this, next, depth] {
        if (depth < 2 && next % 5 == 0) run(next, depth + 1);
        ++ended;
      };
      switch (random() % 4) {
        case 0:
          ++made;
          results.push_back(async(child));
          break;
        case 1:
          made += 2;
          fork_join(child, child);
          break;
        case 2:
          if (!results.empty() && random() % 3 == 0) {
            results.back().get();
            results.pop_back();
          }
          [[fallthrough]];
        default:
          ++made;
          spawn(child);
      }
    }
    if (random() % 2 == 0) taskwait();
    for (auto& each : results) each.get();
  }
};

TEST(a_full_deque, of_random_tasks_loses_none) {
  const std::uint32_t seed = std::random_device()();
  std::cout << "seed " << seed << '\n';
  std::minstd_rand random(seed);
  for (int round = 0; round < (support::few_cases ? 20 : 60); ++round) {
    const auto workers = static_cast<unsigned>(1 + random() % 4);
    runtime rt{host(with(workers, static_cast<std::uint32_t>(2 + random() % 40)))};
    random_tasks tasks;
    rt.run([&] { tasks.run(static_cast<std::uint32_t>(random()), 0); });
    ASSERT_EQ(tasks.made.load(), tasks.ended.load()) << "round " << round;
  }
}

TEST(a_full_deque, needs_one_other_stack_for_tasks_that_leave_tasks_behind) {
  for (const std::uint32_t capacity : {2U, 64U}) {
    const std::size_t before = mapping_count();
    runtime rt{host(with(1, capacity))};
    std::atomic<int> ended{0};
    rt.run([&] {
      for (int i = 0; i < 20000; ++i) spawn([&ended] { spawn([&ended] { ++ended; }); });
      EXPECT_LT(mapping_count(), before + 200);
    });
    EXPECT_EQ(ended.load(), 20000);
  }
}

TEST(a_task, may_spawn_in_the_destructor_of_what_it_holds) {
  struct spawns_at_its_end {
    explicit spawns_at_its_end(std::atomic<int>& counter) : ended(&counter) {}
    spawns_at_its_end(spawns_at_its_end&& other) noexcept
        : ended(std::exchange(other.ended, nullptr)) {}
    ~spawns_at_its_end() {
      if (ended == nullptr) return;
      spawn([counter = ended] { ++*counter; });
    }
    std::atomic<int>* ended;
  };
  runtime rt{host(2)};
  std::atomic<int> ended{0};
  rt.run([&] {
    for (int i = 0; i < 200; ++i) {
      spawn([held = spawns_at_its_end(ended)] { this_worker(); });
      async([held = spawns_at_its_end(ended)] { this_worker(); }).get();
    }
  });
  while (ended.load() != 400) std::this_thread::yield();
}

TEST(a_full_deque, counts_no_spawned_task_as_run_in_its_maker) {
  runtime rt{host(with(1, 64))};
  rt.run([] {
    for (int i = 0; i < many; ++i) spawn([] {});
    taskwait();
  });
  EXPECT_EQ(rt.counters()[counter::inline_runs], 0U);
}

}  // namespace
}  // namespace creek::support
