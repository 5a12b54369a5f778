// SPDX-License-Identifier: Apache-2.0
// The parts of the coherence checker, each by itself.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "checker/fault_log.hpp"
#include "checker/sync_order.hpp"

namespace {

using namespace creek;
using namespace creek::scc_backend;

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

/// Two cores that act in turns: core 0 at time 0, core 1 at time 10, core 0 at time 20, ...
struct fixture {
  chip description = chip::scc_533();
  engine simulation{2, stack_bytes};
  program_points points{2, simulation};
  address_map map{description};
  shadow_memory shadow{2 * description.mpb_bytes / line_size};
  allocated_blocks blocks{map, 2, points, shadow};

  template <class First, class Second>
  void run(First first, Second second) {
    simulation.cores().begin_at(core_id{1}, {10});
    simulation.run([&](core_id self) { self.value == 0 ? first() : second(); });
  }
  template <class Body>
  void run_first(Body body) {
    run(body, [] {});
  }
};

/// Returns whether the running core knows what core 0 did in its first epoch.
bool knows_core_0(program_points& points) {
  return points.clock().knows(0, 1);
}

TEST(address_map, a_view_has_one_share_and_then_off_chip_memory) {
  const chip description = chip::scc_533();
  const address_map map(description);
  const std::size_t share = description.mpb_bytes;
  const std::size_t off_chip = 48 * share;
  EXPECT_TRUE(map.is_on_chip(off_chip - 1));
  EXPECT_FALSE(map.is_on_chip(off_chip));
  EXPECT_EQ(map.owner(3 * share + 5), core_id{3});
  EXPECT_EQ(map.offset(3 * share + 5), 5U);
  EXPECT_EQ(map.offset(off_chip + 7), 7U);
  EXPECT_EQ(map.in_view(3 * share + 5), 5U);
  EXPECT_EQ(map.in_view(off_chip + 7), share + 7);
  EXPECT_EQ(map.from_view(core_id{3}, 5), 3 * share + 5);
  EXPECT_EQ(map.from_view(core_id{3}, share + 7), off_chip + 7);
}

TEST(sync_order, a_core_that_wins_a_register_learns_who_cleared_it) {
  fixture on;
  sync_order order(2, on.points);
  on.run([&] { order.cleared_register(core_id{1}); },
         [&] {
           order.tried_register(core_id{0}, true);
           EXPECT_FALSE(knows_core_0(on.points));
           order.tried_register(core_id{1}, true);
           EXPECT_TRUE(knows_core_0(on.points));
         });
}

TEST(sync_order, a_core_that_finds_a_register_taken_learns_who_took_it) {
  fixture on;
  sync_order order(2, on.points);
  on.run([&] { order.tried_register(core_id{1}, true); },
         [&] {
           order.tried_register(core_id{1}, false);
           EXPECT_TRUE(knows_core_0(on.points));
         });
}

TEST(sync_order, increments_of_a_counter_are_ordered) {
  fixture on;
  sync_order order(2, on.points);
  on.run([&] { order.incremented(counter_id{3}); },
         [&] {
           order.incremented(counter_id{2});
           EXPECT_FALSE(knows_core_0(on.points));
           order.incremented(counter_id{3});
           EXPECT_TRUE(knows_core_0(on.points));
         });
}

TEST(sync_order, an_interrupt_announces_to_the_core_that_takes_its_pin) {
  fixture on;
  sync_order order(2, on.points);
  on.run([&] { order.raised(core_id{1}, 0); },
         [&] {
           order.took(1);
           EXPECT_FALSE(knows_core_0(on.points));
           order.took(0);
           EXPECT_TRUE(knows_core_0(on.points));
         });
}

TEST(allocated_blocks, a_block_is_found_and_described_until_another_takes_its_place) {
  fixture on;
  on.run_first([&] {
    allocation_observer& observer = *on.blocks.observer(core_id{0});
    observer.allocated(64, 40, "ring");
    observer.allocated(128, 32, "");
    EXPECT_EQ(on.blocks.find(core_id{0}, 32), nullptr);
    EXPECT_EQ(on.blocks.find(core_id{0}, 100)->name, "ring");
    EXPECT_EQ(on.blocks.find(core_id{1}, 100), nullptr) << "core 1 has not allocated it";
    EXPECT_EQ(on.blocks.describe(100, core_id{1}), "ring + 36") << "as its owner sees it";
    EXPECT_EQ(on.blocks.describe(130, core_id{0}), "block + 2");
    observer.released(64, 40);
    EXPECT_FALSE(on.blocks.find(core_id{0}, 64)->live);
  });
}

TEST(allocated_blocks, a_block_is_lost_if_others_of_its_name_are_freed) {
  fixture on;
  on.run_first([&] {
    allocation_observer& observer = *on.blocks.observer(core_id{0});
    observer.allocated(0, 32, "flag");
    observer.allocated(32, 32, "flag");
    observer.allocated(64, 32, "table");
    EXPECT_TRUE(on.blocks.lost(core_id{0}).empty());
    observer.released(0, 32);
    const auto lost = on.blocks.lost(core_id{0});
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0]->offset, 32U);
  });
}

TEST(allocated_blocks, freeing_forgets_the_writes_that_the_core_knows_of) {
  fixture on;
  on.run_first([&] {
    const access_record own = on.points.access(1, {}, false);
    access_record others = own;
    others.core = 1;
    others.bytes = 2;
    on.shadow.line(0).writes = {own, others};
    allocation_observer& observer = *on.blocks.observer(core_id{0});
    observer.allocated(0, 32, "flag");
    observer.released(0, 32);
    ASSERT_EQ(on.shadow.line(0).writes.size(), 1U);
    EXPECT_EQ(on.shadow.line(0).writes[0].core, 1);
  });
}

TEST(fault_log, faults_between_the_same_places_count_as_one) {
  fixture on;
  fault_log log(on.map, on.points, on.blocks);
  on.run_first([&] {
    const access_record read = on.points.access(0xF0, {5}, false);
    log.add(fault_kind::never_written, 2, 0xF0, {read, "read"});
    log.add(fault_kind::never_written, 3, 0x01, {read, "read"});
    log.add(fault_kind::unordered_read, 2, 0xF0, {read, "read"}, {read, "wrote"});
  });
  const std::vector<fault> faults = log.faults();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].count, 2U);
  EXPECT_EQ(faults[0].owner, core_id{0});
  EXPECT_EQ(faults[0].offset, 2 * line_size + 4);
  EXPECT_EQ(faults[0].bytes, 4U);
  EXPECT_FALSE(faults[0].other);
  ASSERT_TRUE(faults[1].other);
  EXPECT_EQ(faults[1].other->what, "wrote");
}

TEST(fault_log, an_aborted_run_adds_no_faults) {
  fixture on;
  fault_log log(on.map, on.points, on.blocks);
  on.simulation.failure().record(std::make_exception_ptr(std::runtime_error("failed")));
  log.add(fault_kind::never_written, 2, 1, {on.points.access(1, {}, false), "read"});
  EXPECT_TRUE(log.faults().empty());
}

}  // namespace
