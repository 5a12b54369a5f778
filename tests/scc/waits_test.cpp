// SPDX-License-Identifier: Apache-2.0
// Cores that halt while they wait: the cost of a wake-up and who pays it, none is lost, and a
// deadlock is still found.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;
using namespace std::chrono_literals;

/// Blocks after a search, and counts its calls.
class halting final : public power_policy {
 public:
  explicit halting(std::chrono::nanoseconds search) : search_{search} {}
  std::string_view name() const noexcept override { return "halting"; }
  void begin(const power_site& site) override { workers = site.workers; }
  void end() noexcept override { ++ends; }
  idle_plan worker_idle(unsigned) noexcept override {
    ++idles;
    return {idle_policy::block, search_};
  }
  void task_about_to_run(unsigned, const task_profile&) noexcept override { ++tasks; }

  unsigned workers = 0;
  int idles = 0, tasks = 0, ends = 0;

 private:
  std::chrono::nanoseconds search_;
};

machine_options halting_after(std::chrono::nanoseconds search, cycles crossing = {}) {
  machine_options on;
  on.waits = {std::make_shared<halting>(search), crossing};
  return on;
}

/// Core 1 waits for a word of its own that core 0 signals after `later` cycles.
run_report wait_for(cycles later, const machine_options& on, virtual_time* signal_took = nullptr) {
  return run_cores(on, [&](memory& m) {
    const auto flag = m.at(core_id{1}, 64).as<word>();
    if (m.self().value == 0) {
      m.charge(later);
      const virtual_time before = m.now();
      m.signal(flag, 7);
      if (signal_took != nullptr) *signal_took = m.now() - before;
    } else if (m.self().value == 1) {
      EXPECT_EQ(m.wait_until(flag, [](word w) { return w == 7; }), 7U);
    }
  });
}

const core_usage& waiter(const run_report& run) {
  return run.usage.cores[1];
}

TEST(waits, a_long_wait_halts_and_is_interrupted) {
  const machine_options on = halting_after(0ns);
  const run_report polled = wait_for(cycles{100'000}, {});
  const run_report halted = wait_for(cycles{100'000}, on);
  EXPECT_EQ(waiter(halted).interrupts, 1U);
  const clock_period clock = on.description.clocks.core;
  EXPECT_GT(waiter(halted).halted, cycles{95'000} * clock);
  EXPECT_LT(waiter(halted).waiting, cycles{1000} * clock);
  // The cost of entering the interrupt, of its way, and of the word that is taken back.
  const virtual_time late = halted.ended[1] - polled.ended[1];
  EXPECT_GE(late, on.description.costs.interrupt_entry * clock);
  EXPECT_LE(late, 2 * (on.description.costs.interrupt_entry * clock));
  EXPECT_LT(halted.usage.total, polled.usage.total);
}

TEST(waits, a_kernel_takes_longer) {
  const run_report bare = wait_for(cycles{100'000}, halting_after(0ns));
  const run_report kernel = wait_for(cycles{100'000}, halting_after(0ns, cycles{2000}));
  const clock_period clock = chip::scc_533().clocks.core;
  EXPECT_EQ(kernel.ended[1] - bare.ended[1], cycles{2000} * clock);
}

TEST(waits, a_kernel_takes_a_second_at_most) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t crossing : {most, most / 2, std::int64_t{1'000'000'000}, -1L}) {
    EXPECT_THROW(wait_for(cycles{100'000}, halting_after(0ns, cycles{crossing})), usage_error);
  }
  EXPECT_NO_THROW(wait_for(cycles{100'000}, halting_after(0ns, cycles{1'000'000})));
}

TEST(waits, who_signals_pays_for_the_interrupt) {
  virtual_time polled, awake, halted;
  wait_for(cycles{100'000}, {}, &polled);
  wait_for(cycles{100'000}, halting_after(1s), &awake);  // checks in vain whether it halts
  wait_for(cycles{100'000}, halting_after(0ns), &halted);
  EXPECT_GT(awake, polled);
  EXPECT_GT(halted, awake);
}

TEST(waits, a_wait_within_its_search_costs_as_polling) {
  const run_report polled = wait_for(cycles{1000}, {});
  const run_report searched = wait_for(cycles{1000}, halting_after(100us));
  EXPECT_EQ(waiter(searched).interrupts, 0U);
  EXPECT_EQ(waiter(searched).halted, virtual_time{});
  EXPECT_EQ(searched.ended[1], polled.ended[1]);
}

TEST(waits, no_wake_up_is_lost_whenever_the_signal_comes) {
  // Tries every moment between the first look and the halt, one cycle apart.
  for (int later = 0; later < 900; ++later) {
    wait_for(cycles{later}, halting_after(0ns));
  }
}

TEST(waits, a_policy_is_told_before_and_after) {
  const auto policy = std::make_shared<halting>(0ns);
  machine_options on;
  on.waits.policy = policy;
  wait_for(cycles{50'000}, on);
  EXPECT_EQ(policy->workers, 48U);
  EXPECT_EQ(policy->idles, 1 + 48);  // the wait, and the end of every core's program
  EXPECT_EQ(policy->tasks, 1);
  EXPECT_EQ(policy->ends, 1);
}

TEST(waits, what_comes_in_vain_lets_it_halt_again) {
  const auto policy = std::make_shared<halting>(0ns);
  machine_options on;
  on.waits.policy = policy;
  const run_report run = run_cores(on, [](memory& m) {
    const auto flag = m.at(core_id{1}, 64).as<word>();
    if (m.self().value == 0) {
      for (word w = 1; w <= 5; ++w) {
        m.charge(cycles{20'000});
        m.signal(flag, w);
      }
    } else if (m.self().value == 1) {
      m.wait_until(flag, [](word w) { return w == 5; });
    }
  });
  EXPECT_EQ(waiter(run).interrupts, 5U);
  EXPECT_EQ(policy->tasks, 1);
}

TEST(waits, words_of_others_are_polled_for) {
  const run_report run = run_cores(halting_after(0ns), [](memory& m) {
    const auto flag = m.at(core_id{0}, 64).as<word>();
    if (m.self().value == 0) {
      m.charge(cycles{20'000});
      m.store(flag, 1);
    } else if (m.self().value == 1) {
      m.wait_until(flag, [](word w) { return w == 1; });
    }
  });
  EXPECT_EQ(waiter(run).interrupts, 0U);
  EXPECT_EQ(waiter(run).halted, virtual_time{});
}

TEST(waits, a_word_of_others_ends_a_wait_within_one_that_halts) {
  // Core 1's wait announces that it halts. Its last look waits for a word of core 0, which sends no
  // interrupt for that, and continues when it learns that the word was seen.
  run_cores(halting_after(0ns), [](memory& m) {
    const auto outer = m.at(core_id{1}, 64).as<word>();
    const auto inner = m.at(core_id{0}, 64).as<word>();
    const auto seen = m.at(core_id{0}, 128).as<word>();
    const auto is_set = [](word w) { return w == 1; };
    if (m.self().value == 0) {
      m.charge(cycles{20'000});
      m.store(inner, 1);
      EXPECT_EQ(m.wait_until(seen, is_set), 1U);
      m.signal(outer, 1);
    } else if (m.self().value == 1) {
      int looks = 0;
      m.wait_poll([&] {
        if (++looks == 2) {
          m.wait_until(inner, is_set);
          m.signal(seen, 1);
        }
        return m.load(outer) == 1;
      });
    }
  });
}

TEST(waits, messages_get_through_on_halted_cores) {
  const run_report run = simulate(
      48,
      [](scc_communicator& c) {
        EXPECT_EQ(c.allreduce(c.rank(), std::plus{}), 47 * 48 / 2);
        std::vector<int> data(3000, c.rank() == 3 ? 9 : 0);
        c.bcast(std::span<int>{data}, 3);
        EXPECT_EQ(data, std::vector<int>(3000, 9));
        c.barrier();
        if (c.rank() == 5) c.post(11, 6);
        if (c.rank() == 6) {
          EXPECT_EQ(c.take<int>(5), 11);
        }
      },
      halting_after(0ns));
  EXPECT_GT(run.usage.cores[40].interrupts, 0U);
}

TEST(waits, a_deadlock_of_halted_cores_is_reported) {
  for (const auto search : {0ns, 5000ns}) {
    try {
      run_cores(halting_after(search), [](memory& m) {
        if (m.self().value > 1) return;
        m.wait_until(m.at(m.self(), 64).as<word>(), [](word w) { return w == 1; });
      });
      ADD_FAILURE() << "no deadlock";
    } catch (const error& found) {
      EXPECT_EQ(found.code().value(), EDEADLK);
      EXPECT_NE(std::string(found.what()).find("core 1 waits for a store"), std::string::npos)
          << found.what();
    }
  }
}

/// Polls, but asks to be called again.
class asked_again final : public power_policy {
 public:
  std::string_view name() const noexcept override { return "asked again"; }
  void begin(const power_site&) override {}
  idle_plan worker_idle(unsigned) noexcept override {
    ++asked;
    return {idle_policy::poll, 1us};
  }
  int asked = 0;
};

TEST(waits, a_policy_that_polls_for_a_while_is_asked_again) {
  const auto policy = std::make_shared<asked_again>();
  machine_options on;
  on.waits.policy = policy;
  const run_report polled = wait_for(cycles{53'300}, {});  // 100 us
  const run_report run = wait_for(cycles{53'300}, on);
  EXPECT_GT(policy->asked, 80 + 48);
  EXPECT_LT(policy->asked, 101 + 48);
  EXPECT_LT(run.ended[1] - polled.ended[1], cycles{200} * on.description.clocks.core);
}

TEST(waits, a_failure_elsewhere_ends_a_halted_wait) {
  EXPECT_THROW(run_cores(halting_after(0ns),
                         [](memory& m) {
                           if (m.self().value == 0) {
                             m.charge(cycles{100'000});
                             throw std::runtime_error("planted");
                           }
                           m.wait_until(m.at(m.self(), 64).as<word>(),
                                        [](word w) { return w == 1; });
                         }),
               std::runtime_error);
}

TEST(waits, a_negative_crossing_is_misuse) {
  EXPECT_THROW(wait_for(cycles{1}, halting_after(0ns, cycles{-1})), usage_error);
}

}  // namespace
