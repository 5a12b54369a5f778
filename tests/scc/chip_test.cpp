// SPDX-License-Identifier: Apache-2.0
// Positions of cores, their distances, and descriptions that are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/chip_file.hpp>
#include <creek/scc/cost_table.hpp>

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
            "chip 'scc-533': counters_at is outside the mesh");
  EXPECT_EQ(refusal([](chip& c) { c.columns = 1 << 16; }), "chip 'scc-533': more than 65536 cores");
  EXPECT_EQ(refusal([](chip& c) { c.costs.poll = cycles{0}; }),
            "chip 'scc-533': cost poll must be at least 1: a loop that takes no time never ends");
  EXPECT_EQ(refusal([](chip& c) { c.power.island_columns = 2147483647; }),
            "chip 'scc-533': island_columns must be at most 65536, not 2147483647");
  EXPECT_EQ(refusal([](chip& c) { c.power.island_rows = 65537; }),
            "chip 'scc-533': island_rows must be at most 65536, not 65537");
  EXPECT_EQ(refusal([](chip& c) { c.ranks_per_controller = 200'000'000; }),
            "chip 'scc-533': ranks_per_controller must be at most 65536, not 200000000");
}

TEST(chip, refuses_times_that_do_not_add_up) {
  EXPECT_EQ(refusal([](chip& c) { c.costs.mpb_access = cycles{std::int64_t{1} << 40}; }),
            "chip 'scc-533': cost mpb_access takes longer than a second: 1099511627776 cycles");
  EXPECT_EQ(refusal([](chip& c) { c.costs.hop_round_trip = cycles{90'000'000}; }),
            "chip 'scc-533': cost hop_round_trip takes longer than a second: 90000000 cycles")
      << "ten hops";
  EXPECT_EQ(refusal([](chip& c) { c.start_skew = cycles{1'000'000'000}; }),
            "chip 'scc-533': start_skew takes longer than a second: 1000000000 cycles");
  EXPECT_EQ(refusal([](chip& c) { c.power.voltage_change = {2'000'000'000'000'000}; }),
            "chip 'scc-533': voltage_change must take no more than a second");
  EXPECT_EQ(refusal([](chip& c) { c.power.reference = units::megahertz(1e300); }),
            "chip 'scc-533': reference_mhz must be 0.001 to 1000000 MHz");
  EXPECT_EQ(refusal([](chip& c) { c.power.highest_divider = 2147483647; }),
            "chip 'scc-533': reference_mhz by highest_divider must be 0.001 to 1000000 MHz");
}

TEST(chip, refuses_a_clock_that_no_voltage_allows) {
  EXPECT_EQ(refusal([](chip& c) { c.clocks.core = period_of(units::megahertz(2000)); }),
            "chip 'scc-533': no voltage allows a core clock of 2000 MHz, the highest is for 1198 "
            "MHz");
}

TEST(chip, assigns_quadrants_to_controllers) {
  const chip scc = chip::scc_533();
  std::vector<int> served(4);
  for (int i = 0; i < 48; ++i) ++served[static_cast<std::size_t>(scc.controller_of(core_id{i}))];
  EXPECT_EQ(served, std::vector<int>(4, 12));
  EXPECT_EQ(scc.controller_of(core_id{0}), 0);
  EXPECT_EQ(scc.controller_of(core_id{47}), 3);
}

TEST(chip_file, comes_back_as_it_was) {
  chip slow = chip::scc_533();
  slow.clocks.core = period_of(units::megahertz(80));  // no divider of the chip
  for (const chip& one : {chip::scc_533(), chip::scc_800(), chip::with_cores(1000), slow}) {
    const std::string text = to_json(one);
    EXPECT_EQ(to_json(parse_chip(text, "text")), text);
  }
}

TEST(chip_file, changes_what_it_names_and_nothing_else) {
  const chip made = parse_chip(R"({"base": "scc-800", "name": "wide", "cores": 32,
      "mesh": {"columns": 8, "rows": 4, "cores_per_tile": 1}, "clocks": {"core_divider": 4},
      "costs": {"mpb_access": 30, "hop_round_trip": 4}, "shared_bytes": 16777216})",
                               "wide.json");
  EXPECT_EQ(made.cores(), 32);
  EXPECT_EQ(made.clocks.core, period_of(units::megahertz(400)));
  EXPECT_EQ(made.clocks.mesh, chip::scc_800().clocks.mesh);
  EXPECT_EQ(made.costs.mpb_access, cycles{30});
  EXPECT_EQ(made.costs.uc_read, chip::scc_800().costs.uc_read);
  EXPECT_EQ(made.controllers_at[1].x, 7) << "at the edge of the new mesh";
}

std::string parse_failure(const std::string& text) {
  try {
    (void)parse_chip(text, "f.json");
  } catch (const usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(chip_file, says_which_key_is_wrong_and_why) {
  EXPECT_EQ(parse_failure(R"({"colour": 3})"), "f.json: colour is not known");
  EXPECT_EQ(parse_failure(R"({"costs": {"uc_raed": 3}})"), "f.json: costs.uc_raed is not known");
  EXPECT_EQ(parse_failure(R"({"costs": {"uc_read": -1}})"),
            "f.json: costs.uc_read must not be negative, but is -1");
  EXPECT_EQ(parse_failure(R"({"costs": {"uc_read": "9"}})"),
            "f.json: costs.uc_read must be a whole number, not \"9\"");
  EXPECT_EQ(parse_failure(R"({"costs": {"uc_read": 1e3}})"),
            "f.json: costs.uc_read must be a whole number, not 1000.0");
  EXPECT_EQ(parse_failure(R"({"costs": {"uc_read": 18446744073709551615}})"),
            "f.json: costs.uc_read is too large: 18446744073709551615");
  EXPECT_EQ(parse_failure(R"({"clocks": {"core_divider": 17}})"),
            "f.json: clocks.core_divider must be 2 to 16, not 17");
  EXPECT_EQ(parse_failure(R"({"clocks": {"core_divider": 1}})"),
            "f.json: clocks.core_divider must be 2 to 16, not 1");
  EXPECT_EQ(parse_failure(R"({"cores": 48, "mesh": {"columns": 2, "rows": 2}})"),
            "f.json: cores is 48, but a mesh of 2 x 2 tiles of 2 holds 8");
  EXPECT_EQ(parse_failure(R"({"mesh": {"rows": 0}})"),
            "f.json: chip 'f.json': rows must be positive, not 0");
  EXPECT_EQ(parse_failure(R"({"mesh": 3})"), "f.json: mesh must be an object, not 3");
  EXPECT_EQ(parse_failure(R"({"controllers_at": [[0, 0], [9, 0]]})"),
            "f.json: chip 'f.json': controllers_at is outside the mesh");
  EXPECT_EQ(parse_failure(R"({"counters_at": [1]})"),
            "f.json: counters_at must be [column, row], not [1]");
  EXPECT_EQ(parse_failure(R"({"shared_bytes": 100})"),
            "f.json: chip 'f.json': shared_bytes must be whole blocks of 16 MB (16777216 bytes)");
  EXPECT_EQ(parse_failure(R"({"base": "scc-1"})"),
            "f.json: base is an unknown chip 'scc-1'; valid: scc-533, scc-800");
  EXPECT_EQ(parse_failure("[]"), "f.json: the description must be an object, not []");
  EXPECT_EQ(parse_failure("{"), "f.json: not JSON, byte 2");
  EXPECT_NE(parse_failure(R"({"costs": {"mpb_access": 1e999}})").find("f.json: "),
            std::string::npos);
  EXPECT_EQ(parse_failure(R"({"power": {"reference_mhz": 1e300}})"),
            "f.json: power.reference_mhz must be 0.001 to 1000000 MHz, not 1e+300");
  EXPECT_THROW((void)read_chip("/nonexistent/chip.json"), usage_error);
}

TEST(chip_file, is_small_and_ends) {
  const auto refusal = [](const std::string& name) -> std::string {
    try {
      (void)read_chip(name);
    } catch (const usage_error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: larger than 16 MiB: not the description of a chip");
  EXPECT_EQ(refusal("/"), "/: Is a directory");
}

TEST(cost_table, has_every_cost_once) {
  chip_costs costs;
  for (const cost_entry& entry : cost_table()) (costs.*entry.cost).count = -7;
  for (const cost_entry& entry : cost_table()) {
    EXPECT_EQ((costs.*entry.cost).count, -7);
    costs.*entry.cost = cycles{0};
  }
}

}  // namespace
