// SPDX-License-Identifier: Apache-2.0
// creek::charge() on simulated cores.
#include <gtest/gtest.h>

#include <creek/core/charge.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using scc_backend::chip;

TEST(Charge, AdvancesTheCoreThatRuns) {
  const auto report = scc_backend::run_cores({}, [](scc_backend::memory& memory) {
    const virtual_time before = memory.now();
    charge(cycles{100 * (memory.self().value + 1)});
    EXPECT_EQ(memory.now() - before,
              cycles{100 * (memory.self().value + 1)} * chip::scc_533().clocks.core);
    (void)memory.load(memory.at(core_id{0}, 0).as<word>());  // others run meanwhile
    const virtual_time later = memory.now();
    charge(work::comparison, 7);
    EXPECT_EQ(memory.now() - later, cost_of(work::comparison, 7) * chip::scc_533().clocks.core);
  });
  EXPECT_GT(report.ended[47], report.ended[0]);
}

TEST(Charge, GoesToTheInnermostSimulation) {
  scc_backend::run_cores({.description = chip::scc_800()}, [](scc_backend::memory& memory) {
    if (memory.self().value != 3) return;
    const auto inner = simulate(1, [](scc_communicator&) { charge(cycles{1'000'000}); });
    EXPECT_GE(inner.length(), cycles{1'000'000} * chip::scc_533().clocks.core);
    EXPECT_EQ(memory.now(), virtual_time{});
    charge(cycles{5});
    EXPECT_EQ(memory.now(), cycles{5} * chip::scc_800().clocks.core);
  });
}

TEST(Charge, IsNothingElsewhere) {
  simulate(2, [](scc_communicator& c) { c.barrier(); });
  charge(cycles{1});
  EXPECT_EQ(detail::charged_to, nullptr);
}

}  // namespace
