// SPDX-License-Identifier: Apache-2.0
// Energy of ranks on several machines: whose counters are read, and what the sum is.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "dense/ranks/energy_of_ranks.hpp"
#include "dense/ranks/rank_site.hpp"

namespace creek::tool::dense {
namespace {

rank_site site(const std::string& machine, std::vector<int> processors) {
  rank_site made{};
  machine.copy(made.machine, sizeof made.machine - 1);
  CPU_ZERO(&made.processors);
  for (const int each : processors) CPU_SET(each, &made.processors);
  return made;
}

power::meter_reading reading(double joules, energy_origin origin, const char* source) {
  power::meter_reading made;
  made.energy = {units::joules{joules}, origin, source, ""};
  made.cpu = units::seconds{0.5};
  return made;
}

power::meter_reading no_reading(const char* why) {
  power::meter_reading made;
  made.energy.reason = why;
  made.cpu = units::seconds{0.5};
  return made;
}

rank_figures rank(bool reads, std::vector<power::meter_reading> runs) {
  rank_figures made;
  made.host = "node";
  made.reads = reads;
  for (const auto& each : runs) add_reading(made, each);
  return made;
}

const power::meter_reading three = reading(3, energy_origin::measured, "rapl");

TEST(dense_ranks, the_lowest_rank_of_a_machine_is_first) {
  const std::vector<rank_site> sites{site("a", {0}), site("b", {0}), site("a", {1}),
                                     site("b", {1})};
  const std::vector<int> first{0, 1, 0, 1};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(first_rank_of_machine(sites, i), first[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(ranks_of_machine(sites, i), 2) << i;
    EXPECT_FALSE(shares_processors(sites, i)) << i;
  }
}

TEST(dense_ranks, processors_are_shared_within_a_machine_only) {
  const std::vector<rank_site> sites{site("a", {0, 1}), site("a", {1, 2}), site("a", {3}),
                                     site("b", {3})};
  const std::vector<bool> shared{true, true, false, false};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(shares_processors(sites, i), shared[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(dense_ranks, this_process_has_processors_and_a_machine) {
  const rank_site here = rank_site::here();
  EXPECT_GT(CPU_COUNT(&here.processors), 0);
  EXPECT_NE(here.machine[0], '\0');
  EXPECT_EQ(ranks_of_machine({here, rank_site::here()}, 0), 2);
}

TEST(dense_ranks, adds_the_runs_of_a_rank_and_one_figure_per_machine) {
  const total_energy total =
      total_of({rank(true, {three, three}), rank(false, {three}), rank(true, {three})});
  EXPECT_EQ(total.figure.energy.value, 9);
  EXPECT_EQ(total.figure.origin, energy_origin::measured);
  EXPECT_EQ(total.parts, 2);
  EXPECT_EQ(total.cpu_seconds, 2);
  EXPECT_EQ(to_text(total), "9 J measured (rapl), the sum of 2 machines with all processes there");
}

TEST(dense_ranks, names_all_sources_once) {
  const auto by_perf = reading(1, energy_origin::measured, "perf");
  const total_energy total =
      total_of({rank(true, {three}), rank(true, {by_perf}), rank(true, {three})});
  EXPECT_EQ(total.figure.source, "rapl, perf");
  EXPECT_EQ(total.figure.energy.value, 7);
}

TEST(dense_ranks, adds_what_a_model_says_of_each_rank) {
  const auto modelled = reading(2, energy_origin::modelled, "model");
  EXPECT_EQ(to_text(total_of({rank(true, {modelled}), rank(true, {modelled})})),
            "4 J modelled (model), the sum of 2 ranks");
  EXPECT_EQ(to_text(total_of({rank(true, {modelled})})), "2 J modelled (model), of one rank");
}

TEST(dense_ranks, has_no_sum_without_the_figure_of_one_machine) {
  const auto total = total_of({rank(true, {three}), rank(true, {no_reading("no zones")}),
                               rank(true, {no_reading("other")}), rank(true, {three})});
  EXPECT_FALSE(total.figure.available());
  EXPECT_EQ(to_text(total), "unavailable: rank 1 on node: no zones");
}

TEST(dense_ranks, has_no_figure_without_that_of_one_run) {
  const auto made = rank(true, {three, no_reading("stands still"), three});
  EXPECT_EQ(made.where_from(), energy_origin::unavailable);
  EXPECT_EQ(made.reason, "stands still");
  EXPECT_EQ(made.cpu_seconds, 1.5);
}

}  // namespace
}  // namespace creek::tool::dense
