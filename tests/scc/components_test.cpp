// SPDX-License-Identifier: Apache-2.0
// The parts of the simulated chip, each with what it needs and no more.
#include <gtest/gtest.h>

#include <vector>

#include <creek/core/error.hpp>

#include "chip/interrupt_controller.hpp"
#include "chip/mesh_network.hpp"
#include "chip/sync_registers.hpp"
#include "chip/traffic_counters.hpp"
#include "memory/line_watchers.hpp"
#include "memory/lookup_tables.hpp"
#include "power/power_control.hpp"

namespace {

using namespace creek;
using namespace creek::scc_backend;

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

/// The arguments of every part.
struct fixture {
  chip description = chip::scc_533();
  engine simulation{description.cores(), stack_bytes};
  tile_clocks clocks{description, simulation};
  time_limits limits{simulation, {}};
  chip_memory bytes{description};
  mesh_network network{description, simulation, clocks, bytes};

  /// Runs `body` on one core; the others end at once.
  template <class Body>
  void run_on(int core, Body body) {
    simulation.run([&](core_id self) {
      if (self.value == core) body();
    });
  }
};

TEST(tile_clocks, cores_of_a_tile_have_one_clock) {
  fixture on;
  const clock_period slow = on.description.power.divided(8);
  on.clocks.set(1, slow);
  EXPECT_EQ(on.clocks.of(core_id{2}), slow);
  EXPECT_EQ(on.clocks.of(core_id{3}), slow);
  EXPECT_EQ(on.clocks.of(core_id{1}), on.description.clocks.core);
  EXPECT_EQ(on.clocks.of(core_id{4}), on.description.clocks.core);
}

TEST(time_limits, only_polling_for_too_long_throws) {
  fixture on;
  const virtual_time limit{1'000'000};
  on.run_on(0, [&] {
    time_limits limits(on.simulation, limit);
    on.simulation.advance(limit);
    EXPECT_NO_THROW(limits.throw_if_stuck());
    on.simulation.advance({1});
    EXPECT_THROW(limits.throw_if_stuck(), error);
    limits.note_progress();
    EXPECT_NO_THROW(limits.throw_if_stuck());
  });
}

TEST(chip_memory, offsets_are_mpb_then_off_chip) {
  fixture on;
  const std::size_t mpb = on.description.mpb_bytes;
  EXPECT_EQ(on.bytes.offset_of(on.bytes.mpb(core_id{3}) + 5), 3 * mpb + 5);
  EXPECT_EQ(on.bytes.owner(3 * mpb + 5), core_id{3});
  const std::size_t first_off_chip = 48 * mpb;
  EXPECT_EQ(on.bytes.offset_of(on.bytes.off_chip_bytes()), first_off_chip);
  EXPECT_TRUE(on.bytes.is_mpb(first_off_chip - 1));
  EXPECT_FALSE(on.bytes.is_mpb(first_off_chip));
  EXPECT_THROW((void)on.bytes.offset_of(&on), usage_error);
  EXPECT_THROW((void)on.bytes.offset_of(on.bytes.at(on.bytes.size() - 1), 2), usage_error);
}

TEST(mesh_network, costs_core_cycles_and_hops) {
  fixture on;
  on.run_on(0, [&] {
    const chip_costs& costs = on.description.costs;
    const passage near = on.network.to_tile(core_id{1}, costs.uc_read);
    EXPECT_EQ(near.answered - near.start,
              (costs.uc_read + costs.mpb_access) * on.description.clocks.core);
    const passage far = on.network.to_tile(core_id{47}, costs.uc_read);
    EXPECT_EQ(far.start, near.answered) << "one request per core at a time";
    EXPECT_EQ(far.answered - far.start,
              near.answered - near.start + 8 * (costs.hop_round_trip * on.description.clocks.mesh));
    EXPECT_EQ(on.network.acknowledged(), far.answered);
  });
}

TEST(mesh_network, a_port_serves_requests_in_turn) {
  fixture on;
  std::vector<passage> ways;
  on.simulation.run([&](core_id self) {
    if (self.value < 2) ways.push_back(on.network.to_tile(core_id{0}, cycles{0}));
  });
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[0].arrival, ways[1].arrival);
  EXPECT_EQ(ways[1].served - ways[0].served,
            on.description.costs.mpb_service * on.description.clocks.core);
}

TEST(traffic_counters, requests_count_for_the_sender_and_bytes_for_the_owner) {
  fixture on;
  traffic_counters traffic(on.description, on.simulation, on.clocks, on.bytes);
  traffic.count_flows(24);
  on.run_on(4, [&] {
    traffic.read(0, 32);
    traffic.written(0, 4);
    traffic.written(48 * on.description.mpb_bytes, 4);  // off-chip
  });
  std::vector<core_usage> cores(48);
  traffic.report(cores);
  EXPECT_EQ(cores[4].mpb_reads, 1U);
  EXPECT_EQ(cores[4].mpb_writes, 1U);
  EXPECT_EQ(cores[0].bytes_out, 32U);
  EXPECT_EQ(cores[0].bytes_in, 4U);
  EXPECT_EQ(traffic.flows()->between(0, 2), 32U);
  EXPECT_EQ(traffic.flows()->between(2, 0), 4U);
}

TEST(line_watchers, a_store_wakes_at_the_next_look_that_sees_it) {
  fixture on;
  line_watchers watchers(on.description, on.simulation, on.bytes, on.limits);
  virtual_time woken;
  on.simulation.run([&](core_id self) {
    if (self.value == 0) {
      watchers.polls({{100}, {50}, {10}});
      watchers.watch(64);
      on.simulation.park("a store", 64);
      woken = on.simulation.now();
    } else if (self.value == 1) {
      on.simulation.order_at({175});
      watchers.stored(68, {175});  // looks read at 110, 160, 210
    }
  });
  EXPECT_EQ(woken, virtual_time{200});
  EXPECT_EQ(watchers.stores_to(core_id{0}), 1U);
}

TEST(line_watchers, a_forgotten_core_is_not_woken) {
  fixture on;
  line_watchers watchers(on.description, on.simulation, on.bytes, on.limits);
  on.run_on(0, [&] {
    watchers.watch(64);
    watchers.forget(core_id{0});
    watchers.forget(core_id{0});
    watchers.stored(64, {});
    watchers.watch(0);
    watchers.forget(core_id{0});
  });
  EXPECT_EQ(watchers.stores_to(core_id{0}), 1U);
}

TEST(sync_registers, one_core_wins_a_register_until_it_is_cleared) {
  fixture on;
  sync_registers registers(on.description, on.simulation, on.clocks, on.limits, on.network,
                           nullptr);
  on.run_on(7, [&] {
    EXPECT_TRUE(registers.test_and_set(core_id{5}));
    EXPECT_FALSE(registers.test_and_set(core_id{5}));
    EXPECT_TRUE(registers.test_and_set(core_id{6}));
    registers.clear(core_id{5});
    EXPECT_TRUE(registers.test_and_set(core_id{5}));
    EXPECT_THROW((void)registers.test_and_set(core_id{48}), usage_error);
    registers.set_counter(counter_id{95}, 7);
    EXPECT_EQ(registers.fetch_increment(counter_id{95}), 7U);
    EXPECT_EQ(registers.fetch_increment(counter_id{95}), 8U);
    EXPECT_THROW((void)registers.fetch_increment(counter_id{96}), usage_error);
  });
}

TEST(lookup_tables, an_entry_maps_memory_of_the_chip) {
  fixture on;
  lookup_tables tables(on.description, on.simulation, on.clocks, on.limits, on.bytes, on.network);
  on.run_on(2, [&] {
    const auto address = static_cast<std::uint32_t>(0x7E * lut_block_bytes);
    EXPECT_THROW((void)tables.mapped(address), usage_error);
    tables.set_entry(core_id{2}, 0x7E, {lut_entry::target::mpb, 1, 0});
    EXPECT_EQ(tables.entry(core_id{2}, 0x7E).destination, 1);
    EXPECT_EQ(tables.mapped(address + 3), on.bytes.mpb(core_id{2}) + 3);
    EXPECT_THROW(tables.set_entry(core_id{2}, 0x7E, {lut_entry::target::mpb, 24, 0}), usage_error);
    EXPECT_THROW((void)tables.entry(core_id{2}, 256), usage_error);
  });
}

TEST(power_control, a_divider_changes_the_clock_of_the_cores_tile) {
  fixture on;
  line_watchers watchers(on.description, on.simulation, on.bytes, on.limits);
  activity_log log(on.description, on.simulation);
  power_control power(on.description, on.simulation, on.clocks, on.limits, on.network, watchers,
                      log);
  on.run_on(2, [&] {
    power.set_frequency_divider(8);
    EXPECT_EQ(power.read_clock(1), on.description.power.divided(8));
    EXPECT_EQ(power.read_clock(0), on.description.clocks.core);
    EXPECT_THROW((void)power.read_clock(24), usage_error);
    EXPECT_THROW(power.wait({}), usage_error);
  });
}

TEST(interrupt_controller, a_halted_core_takes_a_raised_pin_once) {
  fixture on;
  compute_time computing(on.description, on.simulation, on.clocks, on.limits);
  memory_system memory(on.description, on.simulation, on.clocks, on.limits, computing, false);
  activity_log log(on.description, on.simulation);
  interrupt_controller interrupts(on.description, on.simulation, on.clocks, on.limits, computing,
                                  memory, log);
  on.simulation.run([&](core_id self) {
    if (self.value == 0) interrupts.halt();
    if (self.value == 1) interrupts.raise(core_id{0}, 1);
  });
  EXPECT_EQ(interrupts.taken(core_id{0}), 1U);
  EXPECT_EQ(interrupts.taken(core_id{1}), 0U);
  EXPECT_GT(on.simulation.cores().ended_at(core_id{0}), virtual_time{});
}

}  // namespace
