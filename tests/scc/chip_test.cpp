// SPDX-License-Identifier: Apache-2.0
// Where cores sit, how far they are apart, and which descriptions are refused.
#include <gtest/gtest.h>

#include <string>

#include <creek/core/error.hpp>
#include <creek/scc/chip.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

TEST(chip, has_the_layout_of_the_scc) {
  const chip scc = chip::scc_533();
  EXPECT_EQ(scc.cores(), 48);
  EXPECT_EQ(chip::hops(scc.place(core_id{0}), scc.place(core_id{1})), 0) << "two on a tile";
  EXPECT_EQ(chip::hops(scc.place(core_id{0}), scc.place(core_id{2})), 1);
  EXPECT_EQ(chip::hops(scc.place(core_id{0}), scc.place(core_id{12})), 1) << "the next row";
  EXPECT_EQ(chip::hops(scc.place(core_id{0}), scc.place(core_id{47})), 8) << "corner to corner";
}

TEST(chip, presets_have_their_clocks) {
  EXPECT_NEAR(chip::scc_533().clocks.core.frequency().value, 533.3e6, 1e5);
  EXPECT_NEAR(chip::named("scc-800").clocks.mesh.frequency().value, 1600e6, 1e3);
  EXPECT_THROW((void)chip::named("scc-900"), usage_error);
}

TEST(chip, grows_to_the_cores_asked_for) {
  for (const int cores : {1, 48, 49, 100, 1024, 4096}) {
    const chip made = chip::with_cores(cores);
    EXPECT_GE(made.cores(), cores);
    EXPECT_NO_THROW(made.validate());
  }
}

std::string refusal(void (*change)(chip&)) {
  chip changed = chip::scc_533();
  change(changed);
  try {
    changed.validate();
  } catch (const usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(chip, refuses_what_no_chip_can_have) {
  EXPECT_EQ(refusal([](chip& c) { c.rows = 0; }), "chip 'scc-533': rows must be positive, not 0");
  EXPECT_EQ(refusal([](chip& c) { c.mpb_bytes = 100; }),
            "chip 'scc-533': mpb_bytes must be whole lines of 32");
  EXPECT_EQ(refusal([](chip& c) { c.costs.uc_read = cycles{-1}; }),
            "chip 'scc-533': cost uc_read is negative: -1");
  EXPECT_EQ(refusal([](chip& c) {
              c.counters_at = {6, 0};
            }),
            "chip 'scc-533': counters_at lies outside the mesh");
  EXPECT_EQ(refusal([](chip& c) { c.columns = 1 << 16; }), "chip 'scc-533': more than 65536 cores");
}

}  // namespace
