// SPDX-License-Identifier: Apache-2.0
// The simulated memory: costs of accesses, stale and delayed data, and the ends of waits.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/lookup_table.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

machine_options fast() {
  return {.description = chip::scc_800()};
}

/// Runs `f` on core 0 alone.
template <class F>
run_report alone(F f, const machine_options& options = fast()) {
  return run_cores(options, [&](memory& m) {
    if (m.self() == core_id{0}) f(m);
  });
}

/// Runs `f` on cores 0 and `other` by their own functions.
template <class F, class G>
run_report both(int other, F f, G g, const machine_options& options = fast()) {
  return run_cores(options, [&](memory& m) {
    if (m.self() == core_id{0}) f(m);
    if (m.self() == core_id{other}) g(m);
  });
}

double cycles_of(virtual_time span) {
  return static_cast<double>(span.femtoseconds) / 1'250'000;  // 800 MHz
}

/// Returns the mean core cycles of `operation` over many repetitions.
template <class Operation>
double mean_cost(memory& m, Operation operation, int repeat = 16) {
  operation();
  const virtual_time begin = m.now();
  for (int i = 0; i < repeat; ++i) operation();
  return cycles_of(m.now() - begin) / repeat;
}

void expect_near_paper(double measured, double paper) {
  EXPECT_NEAR(measured, paper, 0.03 * paper);
}

// [Rotta 2012], Table I, 800/1600: the nearest MPB (own tile), the farthest (core 47 from core 0).
TEST(primitive_costs, are_those_of_the_table) {
  alone([](memory& m) {
    const auto word_at = [&](int core) { return m.at(core_id{core}, 0).as<word>(); };
    expect_near_paper(mean_cost(m, [&] { (void)m.load(word_at(1)); }), 54);
    expect_near_paper(mean_cost(m, [&] { (void)m.load(word_at(47)); }), 87);
    expect_near_paper(mean_cost(m, [&] { m.store(word_at(1), 1); }), 51);
    expect_near_paper(mean_cost(m, [&] { m.store(word_at(47), 1); }), 84);
    std::array<std::byte, 32> line{};
    const auto read_line = [&](int core) {
      m.invalidate();
      m.read(line.data(), m.at(core_id{core}, 64), 4);
    };
    expect_near_paper(mean_cost(m, [&] { read_line(1); }), 60 + 1);
    expect_near_paper(mean_cost(m, [&] { read_line(47); }), 90 + 1);
    const auto write_line = [&](int core) { m.write(m.at(core_id{core}, 64), line.data(), 32); };
    expect_near_paper(mean_cost(m, [&] { write_line(1); }), 78);
    expect_near_paper(mean_cost(m, [&] { write_line(47); }), 108);
    const double counter = mean_cost(m, [&] { (void)m.fetch_increment(counter_id{3}); });
    EXPECT_GE(counter, 240);
    EXPECT_LE(counter, 270);
  });
}

TEST(primitive_costs, a_write_lets_its_core_go_on_before_it_is_acknowledged) {
  alone([](memory& m) {
    const virtual_time begin = m.now();
    m.store(m.at(core_id{47}, 0).as<word>(), 1);
    EXPECT_DOUBLE_EQ(cycles_of(m.now() - begin), 5);
    m.store(m.at(core_id{47}, 0).as<word>(), 2);  // one outstanding request per core
    EXPECT_GT(cycles_of(m.now() - begin), 80);
  });
}

TEST(primitive_costs, a_line_written_around_the_caches_is_eight_words) {
  alone([](memory& m) {
    const std::array<std::byte, 32> line{};
    for (const int core : {0, 47}) {
      const auto to = m.at(core_id{core}, 64);
      const double words = mean_cost(m, [&] {
        for (std::ptrdiff_t i = 0; i < 8; ++i) m.store((to + 4 * i).as<word>(), 0);
      });
      const double around = mean_cost(m, [&] { m.write_around(to, line.data(), line.size()); });
      EXPECT_NEAR(around, words, 1);
    }
  });
}

TEST(primitive_costs, follow_their_clocks) {
  chip slow = chip::scc_800();
  slow.clocks.core = period_of(units::megahertz(400));
  alone(
      [](memory& m) {
        // 54 core cycles at half the speed and no distance: twice the time.
        EXPECT_DOUBLE_EQ(mean_cost(m, [&] { (void)m.load(m.at(core_id{1}, 0).as<word>()); }),
                         2 * 54);
        // Eight hops of mesh cycles are as fast as before.
        EXPECT_DOUBLE_EQ(mean_cost(m, [&] { (void)m.load(m.at(core_id{47}, 0).as<word>()); }),
                         2 * 54 + 32);
      },
      {.description = slow});
}

TEST(contention, an_MPB_serves_about_fifteen_readers_at_full_speed) {
  const auto mean_of = [](int readers) {
    const run_report report = run_cores(fast(), [&](memory& m) {
      if (m.self().value >= readers) return;
      for (int i = 0; i < 200; ++i) (void)m.load(m.at(core_id{0}, 0).as<word>());
    });
    return cycles_of(report.length()) / 200;
  };
  const double alone = mean_of(1);
  EXPECT_LT(mean_of(8), 1.5 * alone);
  EXPECT_NEAR(mean_of(40) / mean_of(20), 2, 0.2) << "saturated: twice the readers, twice the time";
}

TEST(staleness, a_line_that_was_read_is_read_again_until_it_is_invalidated) {
  both(
      5,
      [](memory& m) {
        int value = 0;
        const auto block = m.at(core_id{0}, 64);
        m.read(&value, block, sizeof value);
        EXPECT_EQ(value, 0);
        m.wait_until(m.at(core_id{0}, 0).as<word>(), [](word seen) { return seen == 1; });
        m.read(&value, block, sizeof value);
        EXPECT_EQ(value, 0) << "stale, as on the chip";
        m.invalidate();
        m.read(&value, block, sizeof value);
        EXPECT_EQ(value, 42);
      },
      [](memory& m) {
        m.charge(cycles{1000});
        const int value = 42;
        m.write(m.at(core_id{0}, 64), &value, sizeof value);
        m.flush();
        m.store(m.at(core_id{0}, 0).as<word>(), 1);
      });
}

TEST(write_combining, holds_a_partial_line_back) {
  both(
      5,
      [](memory& m) {
        int value = 0;
        const auto flag = m.at(core_id{0}, 0).as<word>();
        for (word round = 1; round <= 2; ++round) {
          m.wait_until(flag, [=](word seen) { return seen == round; });
          m.invalidate();
          m.read(&value, m.at(core_id{0}, 64), sizeof value);
          EXPECT_EQ(value, round == 1 ? 0 : 42);
        }
      },
      [](memory& m) {
        const int value = 42;
        const auto flag = m.at(core_id{0}, 0).as<word>();
        m.write(m.at(core_id{0}, 64), &value, sizeof value);
        m.store(flag, 1);  // a fault: nothing was flushed
        m.charge(cycles{2000});
        const int other = 7;
        m.write(m.at(core_id{5}, 96), &other, sizeof other);  // touches another line
        m.store(flag, 2);
      });
}

TEST(waiting, ends_at_the_look_that_sees_the_store) {
  for (const std::int64_t delay : {0, 1, 500, 777, 12345}) {
    virtual_time polled, waited;
    const auto sets_flag = [=](memory& m) {
      m.charge(cycles{delay});
      m.store(m.at(core_id{0}, 0).as<word>(), 1);
    };
    both(
        9,
        [&](memory& m) {
          const auto flag = m.at(core_id{0}, 0).as<word>();
          while (m.load(flag) != 1) m.charge(chip::scc_800().costs.poll);
          polled = m.now();
        },
        sets_flag);
    both(
        9,
        [&](memory& m) {
          m.wait_until(m.at(core_id{0}, 0).as<word>(), [](word seen) { return seen == 1; });
          waited = m.now();
        },
        sets_flag);
    EXPECT_EQ(waited, polled) << delay;
  }
}

TEST(waiting, for_any_store_ends_too) {
  both(
      3,
      [](memory& m) {
        const auto a = m.at(core_id{0}, 0).as<word>(), b = m.at(core_id{0}, 512).as<word>();
        m.wait_poll([&] { return m.load(a) + m.load(b) == 3; });
        EXPECT_GT(cycles_of(m.now()), 10'000);
      },
      [](memory& m) {
        m.charge(cycles{5000});
        m.store(m.at(core_id{0}, 0).as<word>(), 1);
        m.charge(cycles{5000});
        m.store(m.at(core_id{0}, 512).as<word>(), 2);
      });
}

TEST(registers, test_and_set_excludes) {
  std::vector<int> order;
  run_cores(fast(), [&](memory& m) {
    while (!m.test_and_set(core_id{7})) m.pause(cycles{100});
    order.push_back(m.self().value);
    m.charge(cycles{1000});
    EXPECT_EQ(order.back(), m.self().value) << "nobody came in between";
    m.clear(core_id{7});
  });
  EXPECT_EQ(order.size(), 48U);
}

TEST(registers, counters_give_each_number_once) {
  std::vector<int> seen(48 * 10);
  run_cores(fast(), [&](memory& m) {
    for (int i = 0; i < 10; ++i) ++seen.at(m.fetch_increment(counter_id{0}));
  });
  EXPECT_EQ(seen, std::vector<int>(480, 1));
}

TEST(seed, draws_when_cores_begin) {
  const auto begins = [](std::uint64_t seed) {
    machine_options options = fast();
    options.seed = seed;
    std::vector<virtual_time> times(48);
    run_cores(options, [&](memory& m) { times[m.self().index()] = m.now(); });
    return times;
  };
  EXPECT_EQ(begins(0), std::vector<virtual_time>(48)) << "no seed: all at once";
  EXPECT_EQ(begins(1), begins(1));
  EXPECT_NE(begins(1), begins(2));
  for (const virtual_time time : begins(7)) EXPECT_LE(cycles_of(time), 1000);
}

TEST(seed, changes_the_schedule) {
  const auto order = [](std::uint64_t seed) {
    machine_options options = fast();
    options.seed = seed;
    std::vector<int> taken;
    run_cores(options, [&](memory& m) {
      (void)m.fetch_increment(counter_id{0});
      taken.push_back(m.self().value);
    });
    return taken;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(failures, a_deadlock_says_who_waits_for_what) {
  try {
    both(
        2,
        [](memory& m) { m.wait_until(m.at(core_id{0}, 32).as<word>(), [](word w) { return w; }); },
        [](memory& m) { m.wait_poll([] { return false; }); });
    FAIL() << "it ended";
  } catch (const error& failure) {
    EXPECT_EQ(failure.code().value(), EDEADLK);
    const std::string what = failure.what();
    EXPECT_NE(what.find("core 0 waits for a store to the word at 32 since"), what.npos) << what;
    EXPECT_NE(what.find("core 2 waits for a store to its own memory, core 2"), what.npos) << what;
    EXPECT_EQ(what.find("core 1 "), what.npos) << "it has ended: " << what;
  }
}

TEST(failures, an_exception_releases_the_others) {
  int released = 0;
  const auto run = [&] {
    run_cores(fast(), [&](memory& m) {
      if (m.self() == core_id{4}) {
        m.charge(cycles{100});
        throw std::runtime_error("core 4 fails");
      }
      try {
        m.wait_until(m.at(m.self(), 0).as<word>(), [](word w) { return w != 0; });
      } catch (const error& failure) {
        EXPECT_EQ(failure.code().value(), ECANCELED);
        ++released;
        throw;
      }
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(released, 47);
}

TEST(failures, stacks_that_hold_nothing_are_refused) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 40}) {
    EXPECT_THROW(run_cores({.stack_bytes = bytes}, [](memory&) {}), usage_error) << bytes;
  }
}

TEST(failures, misuse_is_refused) {
  std::optional<memory> of_core_0;
  both(
      1,
      [&](memory& m) {
        EXPECT_THROW((void)m.load(mpm_ptr<word>{}), usage_error);
        word mine = 0;
        EXPECT_THROW((void)m.load(mpm_ptr<word>{&mine}), usage_error);
        for (const core_id none : {core_id{100'000}, core_id{48}, core_id{-1}}) {
          EXPECT_THROW((void)m.test_and_set(none), usage_error);
          EXPECT_THROW(m.clear(none), usage_error);
          EXPECT_THROW((void)lookup_table(m).entry(none, 0), usage_error);
          EXPECT_THROW(lookup_table(m).set_entry(none, 0, {}), usage_error);
        }
        for (const counter_id none : {counter_id{m.counters()}, counter_id{-1}}) {
          EXPECT_THROW((void)m.fetch_increment(none), usage_error);
          EXPECT_THROW(m.set_counter(none, 0), usage_error);
        }
        EXPECT_THROW((void)dvfs_control(m).clock_of_tile(24), usage_error);
        of_core_0 = m;
        m.store(m.at(core_id{1}, 0).as<word>(), 1);
      },
      [&](memory& m) {
        m.wait_until(m.at(core_id{1}, 0).as<word>(), [](word seen) { return seen == 1; });
        EXPECT_THROW((void)of_core_0->now(), usage_error) << "outside its core";
      });
}

}  // namespace
