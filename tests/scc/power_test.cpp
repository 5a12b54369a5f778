// SPDX-License-Identifier: Apache-2.0
// Clocks, voltages and energy of the simulated chip: refused and queued requests, and sums.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/power.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/scc/time_accounting.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

template <class F>
run_report alone(F f, const machine_options& options = {}) {
  return run_cores(options, [&](memory& m) {
    if (m.self() == core_id{0}) f(m);
  });
}

double milliseconds(virtual_time span) {
  return static_cast<double>(span.femtoseconds) * 1e-12;
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

void expect_sums(const run_report& report) {
  const usage_report& usage = report.usage;
  units::joules cores, islands, accounts;
  for (const core_usage& core : usage.cores) {
    cores += core.energy;
    EXPECT_EQ(core.busy + core.waiting + core.halted + core.finished, report.length());
    virtual_time at_points;
    for (const residency& point : core.points) {
      for (const virtual_time span : point.spent) {
        EXPECT_GE(span, virtual_time{});
        at_points += span;
      }
    }
    EXPECT_EQ(at_points, report.length());
  }
  for (const units::joules island : usage.islands) islands += island;
  for (const account_usage& account : usage.accounts) accounts += account.energy;
  EXPECT_NEAR(islands / cores, 1, 1e-12);
  EXPECT_NEAR(accounts / cores, 1, 1e-9);
  EXPECT_NEAR((cores + usage.uncore) / usage.total, 1, 1e-12);
}

TEST(clocks, follow_their_divider) {
  alone([](memory& m) {
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.8) << "the lowest that allows 533 MHz";
    const virtual_time before = m.now();
    dvfs_control(m).set_frequency_divider(16);
    const double change = (m.now() - before) / (cycles{1} * chip::scc_533().clocks.core);
    EXPECT_GE(change, 20);
    EXPECT_LE(change, 20 + 60) << "and an access to the tile's register";
    EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 100e6);
    const virtual_time begin = m.now();
    m.charge(cycles{1000});
    EXPECT_EQ((m.now() - begin).femtoseconds, 10'000'000'000);
  });
}

TEST(clocks, are_those_of_a_tile) {
  run_cores({}, [](memory& m) {
    if (m.self() == core_id{0}) {
      dvfs_control(m).set_frequency_divider(8);
      m.store(m.at(core_id{1}, 0).as<word>(), 1);
      m.store(m.at(core_id{2}, 0).as<word>(), 1);
    } else if (m.self().value <= 2) {
      m.wait_until(m.at(m.self(), 0).as<word>(), [](word seen) { return seen == 1; });
      EXPECT_NEAR(dvfs_control(m).clock().frequency().value, m.self().value == 1 ? 200e6 : 533.33e6,
                  1e4);
    }
  });
}

TEST(clocks, of_an_island_change_together) {
  alone([](memory& m) {
    dvfs_control(m).set_island_divider(8);
    for (const int tile : {0, 1, 2, 6, 7, 8, 12, 23}) {
      const bool here = tile == 0 || tile == 1 || tile == 6 || tile == 7;
      EXPECT_NEAR(dvfs_control(m).clock_of_tile(tile).frequency().value, here ? 200e6 : 533.33e6,
                  1e4)
          << tile;
    }
    EXPECT_EQ(
        refusal([&] { dvfs_control(m).set_island_divider(2); }),
        "unsafe: divider 2 makes 800 MHz, voltage island 0 is at 0.8 V, which allows 598 MHz");
    EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 200e6) << "nothing changed";
  });
}

TEST(clocks, unsafe_ones_are_refused_with_the_reason) {
  alone([](memory& m) {
    EXPECT_EQ(refusal([&] { dvfs_control(m).set_frequency_divider(1); }),
              "frequency divider 1 is outside 2..16");
    EXPECT_EQ(refusal([&] { (void)dvfs_control(m).request_power(17); }),
              "frequency divider 17 is outside 2..16");
    EXPECT_EQ(refusal([&] { (void)dvfs_control(m).is_safe(0); }),
              "frequency divider 0 is outside 2..16");
    EXPECT_FALSE(dvfs_control(m).is_safe(2));
    EXPECT_EQ(
        refusal([&] { dvfs_control(m).set_frequency_divider(2); }),
        "unsafe: divider 2 makes 800 MHz, voltage island 0 is at 0.8 V, which allows 598 MHz");
    EXPECT_NEAR(dvfs_control(m).clock().frequency().value, 533.33e6, 1e4) << "nothing changed";
    const power_request down = dvfs_control(m).request_power(16);
    EXPECT_EQ(refusal([&] { dvfs_control(m).set_frequency_divider(3); }),
              "unsafe: divider 3 makes 533 MHz, voltage island 0 is on its way to 0.7 V, which "
              "allows 460 MHz");
    dvfs_control(m).wait_power(down);
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.7);
  });
  chip tame = chip::scc_533();
  tame.power.levels.resize(3);
  alone(
      [](memory& m) {
        EXPECT_EQ(refusal([&] { (void)dvfs_control(m).request_power(2); }),
                  "frequency divider 2: no voltage allows 800 MHz, the highest is for 644 MHz");
      },
      {.description = tame});
}

TEST(voltages, rise_before_the_clock_and_fall_after_it) {
  alone([](memory& m) {
    const virtual_time begin = m.now();
    const power_request up = dvfs_control(m).request_power(2);
    EXPECT_LT(milliseconds(m.now() - begin), 0.01) << "returns at once";
    EXPECT_NEAR(dvfs_control(m).clock().frequency().value, 533.33e6, 1e4);
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.8);
    dvfs_control(m).wait_power(up);
    EXPECT_NEAR(milliseconds(m.now() - begin), 1, 0.01);
    EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 800e6);
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 1.1);
    const power_request down = dvfs_control(m).request_power(8);
    EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 200e6) << "at once";
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 1.1);
    dvfs_control(m).wait_power(down);
    EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.7);
    EXPECT_NEAR(milliseconds(m.now() - begin), 2, 0.01);
    dvfs_control(m).wait_power(down);  // again: nothing to wait for
  });
}

TEST(voltages, of_a_whole_island_change) {
  run_cores({}, [](memory& m) {
    const auto flag = m.at(m.self(), 0).as<word>();
    if (m.self() == core_id{0}) {
      dvfs_control(m).wait_power(dvfs_control(m).request_power(2));
      for (int i = 1; i < m.cores(); ++i) m.store(m.at(core_id{i}, 0).as<word>(), 1);
    } else {
      m.wait_until(flag, [](word seen) { return seen == 1; });
      const bool same = dvfs_control(m).power_domain() == 0;
      EXPECT_EQ(same, m.self().value < 4 || (m.self().value >= 12 && m.self().value < 16));
      EXPECT_NEAR(dvfs_control(m).clock().frequency().value, same ? 800e6 : 533.33e6, 1e4);
      EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, same ? 1.1 : 0.8);
    }
  });
}

TEST(voltages, change_one_after_the_other) {
  // The first core of each island makes a request; the chip serves the requests in order.
  std::vector<double> ended(6);
  const auto report = run_cores({}, [&](memory& m) {
    const int island = dvfs_control(m).power_domain();
    const int masters[] = {0, 4, 8, 24, 28, 32};
    if (m.self().value != masters[island]) return;
    m.charge(cycles{1000 * (6 - island)});
    dvfs_control(m).wait_power(dvfs_control(m).request_power(2));
    ended.at(static_cast<std::size_t>(island)) = milliseconds(m.now());
  });
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(ended[static_cast<std::size_t>(i)], 6 - i, 0.02) << i;
  expect_sums(report);
}

TEST(voltages, of_two_requests_of_an_island_the_later_stands) {
  run_cores({}, [](memory& m) {
    if (m.self() == core_id{0}) {
      const power_request up = dvfs_control(m).request_power(2);
      m.charge(cycles{100'000});
      dvfs_control(m).wait_power(up);
      EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 200e6)
          << "not raised: core 1 said otherwise";
    } else if (m.self() == core_id{1}) {
      m.charge(cycles{10'000});
      const power_request down = dvfs_control(m).request_power(8);
      EXPECT_DOUBLE_EQ(dvfs_control(m).clock().frequency().value, 200e6);
      dvfs_control(m).wait_power(down);
      EXPECT_NEAR(milliseconds(m.now()), 2, 0.1) << "queued behind the raise";
      EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.7);
    }
  });
}

TEST(voltages, wait_needs_a_request_of_the_island) {
  std::optional<power_request> of_core_0;
  run_cores({}, [&](memory& m) {
    if (m.self() == core_id{0}) {
      EXPECT_EQ(refusal([&] { dvfs_control(m).wait_power({}); }),
                "wait_power: there is no such request");
      of_core_0 = dvfs_control(m).request_power(2);
      m.store(m.at(core_id{47}, 0).as<word>(), 1);
    } else if (m.self() == core_id{47}) {
      m.wait_until(m.at(m.self(), 0).as<word>(), [](word seen) { return seen == 1; });
      EXPECT_EQ(refusal([&] { dvfs_control(m).wait_power(*of_core_0); }),
                "wait_power: the request is of voltage island 0, the core is on 5");
    }
  });
}

// A core polls while its tile's other core changes the clock: its wait ends at the poll at
// which polling at the new clock would have seen the store, give or take the poll under way then.
TEST(waiting, follows_a_change_of_the_clock) {
  const auto seen_at = [](bool parks) {
    virtual_time seen;
    run_cores({}, [&](memory& m) {
      const auto flag = m.at(core_id{0}, 0).as<word>();
      if (m.self() == core_id{0}) {
        if (parks) {
          m.wait_until(flag, [](word w) { return w == 1; });
        } else {
          while (m.load(flag) != 1) m.charge(chip::scc_533().costs.poll);
        }
        seen = m.now();
      } else if (m.self() == core_id{1}) {
        m.charge(cycles{5'000});
        dvfs_control(m).set_frequency_divider(16);
      } else if (m.self() == core_id{40}) {
        m.charge(cycles{20'000});
        m.store(flag, 1);
      }
    });
    return seen;
  };
  const virtual_time look = cycles{70} * chip::scc_533().power.divided(16);
  const virtual_time parked = seen_at(true), polled = seen_at(false);
  EXPECT_LT(parked - polled, look);
  EXPECT_LT(polled - parked, look);
}

TEST(energy, is_that_of_the_model) {
  const chip scc = chip::scc_533();
  const auto report = run_cores({}, [](memory& m) { m.charge(cycles{1'000'000}); });
  const units::seconds length = report.length().in_seconds();
  const units::watts core =
      switching_power(scc, activity::busy, units::volts{0.8}, scc.clocks.core) +
      leakage_power(scc, units::volts{0.8});
  EXPECT_NEAR(report.usage.cores[7].energy / (core * length), 1, 1e-12);
  EXPECT_NEAR(report.usage.total / ((48.0 * core + uncore_power(scc)) * length), 1, 1e-12);
  expect_sums(report);
}

TEST(energy, of_waiting_is_full_and_of_what_has_ended_only_leakage) {
  const auto report = run_cores({}, [](memory& m) {
    if (m.self() == core_id{0}) {
      m.charge(cycles{1'000'000});
      m.store(m.at(core_id{1}, 0).as<word>(), 1);
    } else if (m.self() == core_id{1}) {
      m.wait_until(m.at(core_id{1}, 0).as<word>(), [](word w) { return w == 1; });
    }
  });
  const auto& cores = report.usage.cores;
  EXPECT_NEAR(cores[0].energy / cores[1].energy, 1, 1e-3);
  EXPECT_GT(cores[1].waiting, 100 * cores[1].busy);
  EXPECT_EQ(cores[2].finished, report.length());
  const double leaks = leakage_power(chip::scc_533(), units::volts{0.8}) *
                       report.length().in_seconds() / cores[2].energy;
  EXPECT_NEAR(leaks, 1, 1e-12);
  expect_sums(report);
}

TEST(energy, follows_clocks_that_change_under_a_core_that_has_run_ahead) {
  // Core 1 computes in one stretch while core 0 changes the clock of both, and later their voltage.
  const auto report = run_cores({}, [](memory& m) {
    if (m.self() == core_id{1}) {
      const energy_scope mine(m, {3});
      m.charge(cycles{2'000'000});
    } else if (m.self() == core_id{0}) {
      m.charge(cycles{100'000});
      dvfs_control(m).wait_power(dvfs_control(m).request_power(16));
    }
  });
  expect_sums(report);
  const core_usage& ahead = report.usage.cores[1];
  ASSERT_EQ(ahead.points.size(), 3U) << "533 MHz at 0.8 V, 100 MHz at 0.8 V, 100 MHz at 0.7 V";
  EXPECT_EQ(ahead.busy, report.length());
}

TEST(energy, of_accounts_adds_up_to_that_of_the_cores) {
  const auto report = run_cores({}, [](memory& m) {
    const energy_scope outer(m, {1});
    m.charge(cycles{1000});
    {
      const energy_scope inner(m, {2 + static_cast<std::uint32_t>(m.self().value % 3)});
      m.charge(cycles{3000});
      if (m.self().value % 8 == 0) dvfs_control(m).set_frequency_divider(5);
      m.charge(cycles{3000});
    }
    m.charge(cycles{500});
  });
  expect_sums(report);
  ASSERT_EQ(report.usage.accounts.size(), 5U);
  const cycles stretch{48 * 1500};
  EXPECT_GE(report.usage.accounts[1].busy, stretch * chip::scc_533().clocks.core);
  for (int i = 1; i < 5; ++i) EXPECT_GT(report.usage.accounts[std::size_t(i)].energy.value, 0);
}

TEST(usage, counts_traffic_where_it_goes) {
  const auto report = alone([](memory& m) {
    std::array<std::byte, 64> block{};
    m.write(m.at(core_id{5}, 0), block.data(), 64);
    m.write(m.at(core_id{5}, 64), block.data(), 5);
    m.flush();
    m.read(block.data(), m.at(core_id{6}, 0), 4);
    (void)m.load(m.at(core_id{6}, 128).as<word>());
  });
  const auto& cores = report.usage.cores;
  EXPECT_EQ(cores[0].mpb_writes, 3U);
  EXPECT_EQ(cores[0].mpb_reads, 2U);
  EXPECT_EQ(cores[5].bytes_in, 69U);
  EXPECT_EQ(cores[6].bytes_out, 36U) << "a line and a word";
}

TEST(voltage, is_that_of_the_time_when_it_is_asked_for) {
  run_cores({}, [](memory& m) {
    if (m.self() == core_id{0}) {
      m.charge(cycles{2'000'000});
      EXPECT_DOUBLE_EQ(dvfs_control(m).voltage().value, 0.7)
          << "another core has asked for it long ago";
      EXPECT_FALSE(dvfs_control(m).is_safe(3));
    } else if (m.self() == core_id{1}) {
      dvfs_control(m).wait_power(dvfs_control(m).request_power(8));
    }
  });
}

}  // namespace
