// SPDX-License-Identifier: Apache-2.0
// The topology model: distances from shared units, orders for workers, and its checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include <creek/core/error.hpp>
#include <creek/core/topology.hpp>

namespace creek {
namespace {

using testing::ElementsAre;

// Two packages of one node, each with an L3 over two cores of two units; operating systems often
// number the second units of all cores after the first ones, as here.
topology_description two_packages() {
  topology_description d;
  for (int smt = 0; smt < 2; ++smt) {
    for (int core = 0; core < 4; ++core) {
      d.units.push_back({smt * 4 + core, core, core / 2, core / 2});
    }
  }
  for (int core = 0; core < 4; ++core) {
    d.caches.push_back({2, cache_kind::unified, 1 << 20, 64, {core, core + 4}});
  }
  d.caches.push_back({3, cache_kind::unified, 32 << 20, 64, {0, 1, 4, 5}});
  d.caches.push_back({3, cache_kind::unified, 32 << 20, 64, {2, 3, 6, 7}});
  d.numa_nodes = {{0, 1 << 30}, {1, 1 << 30}};
  d.source = "test";
  return d;
}

TEST(topology, counts) {
  const topology machine(two_packages());
  EXPECT_EQ(machine.units().size(), 8U);
  EXPECT_EQ(machine.cores(), 4);
  EXPECT_EQ(machine.packages(), 2);
}

TEST(topology, distance_grows_with_what_is_not_shared) {
  const topology machine(two_packages());
  EXPECT_EQ(machine.distance(0, 0), topology::same_unit);
  EXPECT_EQ(machine.distance(0, 4), topology::same_core);
  EXPECT_EQ(machine.distance(0, 1), topology::shares_l3);
  EXPECT_EQ(machine.distance(0, 2), topology::other_node + 1);  // another package, no latencies
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) EXPECT_EQ(machine.distance(a, b), machine.distance(b, a));
  }
}

TEST(topology, cores_that_share_l2_are_nearer_than_those_that_share_l3) {
  topology_description d = two_packages();
  d.caches.push_back({2, cache_kind::unified, 1 << 20, 64, {0, 1}});
  EXPECT_EQ(topology(std::move(d)).distance(0, 1), topology::shares_l2);
}

TEST(topology, numa_latencies_rank_the_other_nodes) {
  topology_description d;
  for (int i = 0; i < 4; ++i) d.units.push_back({i, i, i / 2, i});
  d.numa_nodes.resize(4);
  d.numa_latencies = {10, 12, 21, 31,  //
                      12, 10, 31, 21,  //
                      21, 31, 10, 12,  //
                      31, 21, 12, 10};
  const topology machine(std::move(d));
  EXPECT_EQ(machine.distance(0, 1), 5);
  EXPECT_EQ(machine.distance(0, 2), 6);
  EXPECT_EQ(machine.distance(0, 3), 7);
  EXPECT_EQ(machine.numa_latency(0, 3), 31U);
  EXPECT_THAT(machine.others_by_distance(3), ElementsAre(2, 1, 0));
}

TEST(topology, others_by_distance_puts_the_sibling_first) {
  const topology machine(two_packages());
  EXPECT_THAT(machine.others_by_distance(1), ElementsAre(5, 0, 4, 2, 3, 6, 7));
}

TEST(topology, cores_first_uses_siblings_last) {
  topology_description d;
  for (int i = 0; i < 4; ++i) d.units.push_back({i, i / 2, 0, 0});
  d.numa_nodes.resize(1);
  EXPECT_THAT(topology(std::move(d)).cores_first(), ElementsAre(0, 2, 1, 3));
}

TEST(topology, restriction_keeps_what_the_units_share) {
  const topology part = topology(two_packages()).restricted_to(std::array{6, 2, 3, 99});
  ASSERT_EQ(part.units().size(), 3U);  // 2, 3, 6 of the operating system
  EXPECT_EQ(part.packages(), 1);
  EXPECT_EQ(part.cores(), 2);
  EXPECT_EQ(part.units()[2].os_index, 6);
  EXPECT_EQ(part.distance(0, 2), topology::same_core);
  EXPECT_EQ(part.distance(0, 1), topology::shares_l3);
  EXPECT_EQ(part.find_os_index(6), 2);
  EXPECT_EQ(part.find_os_index(0), -1);
  EXPECT_THROW((void)part.restricted_to(std::array{0}), usage_error);
}

TEST(topology, flat_units_are_alike) {
  const topology machine = topology::flat(3);
  EXPECT_EQ(machine.cores(), 3);
  EXPECT_EQ(machine.distance(0, 2), topology::same_node);
  EXPECT_THROW(topology::flat(0), usage_error);
}

TEST(topology, refuses_references_to_nothing) {
  topology_description bad_node = two_packages();
  bad_node.units[0].numa_node = 2;
  EXPECT_THROW(topology{bad_node}, usage_error);
  topology_description bad_cache = two_packages();
  bad_cache.caches[0].units.push_back(8);
  EXPECT_THROW(topology{bad_cache}, usage_error);
  topology_description bad_latencies = two_packages();
  bad_latencies.numa_latencies = {10, 20};
  EXPECT_THROW(topology{bad_latencies}, usage_error);
}

TEST(topology, json_has_the_distances) {
  const auto document = nlohmann::json::parse(to_json(topology(two_packages())));
  EXPECT_EQ(document["packages"], 2);
  EXPECT_EQ(document["distances"][0][4], 1);
  EXPECT_EQ(document["caches"][4]["level"], 3);
  EXPECT_EQ(document["units"][5]["core"], 1);
  // The text equals that of nlohmann-json, to the byte.
  const std::string text = to_json(topology(two_packages()));
  EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(), text);
}

}  // namespace
}  // namespace creek
