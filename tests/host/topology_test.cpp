// SPDX-License-Identifier: Apache-2.0
// Discovery through hwloc: synthetic machines, a recorded one, this one, and bad input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/topology.hpp>

namespace creek::host_backend {
namespace {

// Sets a variable while the object exists.
class environment {
 public:
  environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~environment() { unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
};

const std::string recorded = CREEK_TEST_DATA "/two_packages.xml";

TEST(host_topology, synthetic_two_packages) {
  const topology machine = topology_from_synthetic("pack:2 numa:1 l3:1 core:4 pu:2");
  EXPECT_EQ(machine.packages(), 2);
  EXPECT_EQ(machine.cores(), 8);
  EXPECT_EQ(machine.units().size(), 16U);
  EXPECT_EQ(machine.numa_nodes().size(), 2U);
  EXPECT_EQ(machine.caches().size(), 2U);
  EXPECT_EQ(machine.distance(0, 1), topology::same_core);
  EXPECT_EQ(machine.distance(0, 2), topology::shares_l3);
  EXPECT_GE(machine.distance(0, 8), topology::other_node);
  EXPECT_EQ(machine.units()[15].package, 1);
  EXPECT_EQ(machine.units()[15].numa_node, 1);
  EXPECT_EQ(machine.source(), "synthetic");
}

TEST(host_topology, cores_behind_one_l2_are_neighbours) {
  const topology machine = topology_from_synthetic("pack:1 l3:1 l2:2 core:2 pu:1");
  EXPECT_EQ(machine.distance(0, 1), topology::shares_l2);
  EXPECT_EQ(machine.distance(0, 2), topology::shares_l3);
}

TEST(host_topology, units_without_cores_are_cores) {
  const topology machine = topology_from_synthetic("pu:3");
  EXPECT_EQ(machine.cores(), 3);
  EXPECT_EQ(machine.packages(), 1);
  EXPECT_EQ(machine.distance(0, 1), topology::same_node);
}

TEST(host_topology, recorded_machine_with_latencies) {
  const topology machine = topology_from_xml(recorded);
  EXPECT_EQ(machine.packages(), 2);
  EXPECT_EQ(machine.cores(), 8);
  ASSERT_EQ(machine.numa_nodes().size(), 4U);
  EXPECT_EQ(machine.numa_nodes()[0].bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(machine.numa_latency(0, 1), 12U);
  EXPECT_EQ(machine.numa_latency(0, 3), 21U);
  EXPECT_EQ(machine.distance(0, 1), topology::same_core);
  EXPECT_EQ(machine.distance(0, 2), topology::shares_l3);
  EXPECT_EQ(machine.distance(0, 4), topology::other_node);      // its package's other node
  EXPECT_EQ(machine.distance(0, 8), topology::other_node + 1);  // the other package
  int data_caches = 0;
  for (const cache& c : machine.caches()) data_caches += c.kind == cache_kind::data;
  EXPECT_EQ(data_caches, 8);
}

TEST(host_topology, hwlocs_variables_replace_the_machine) {
  {
    const environment xml("HWLOC_XMLFILE", recorded);
    EXPECT_EQ(discover_topology().packages(), 2);
  }
  const environment synthetic("HWLOC_SYNTHETIC", "pack:1 core:6 pu:1");
  EXPECT_EQ(discover_topology().cores(), 6);
}

TEST(host_topology, this_machine_has_the_units_of_our_mask) {
  const topology machine = discover_topology();
  for (const int os_index : affinity_mask()) EXPECT_GE(machine.find_os_index(os_index), 0);
  EXPECT_EQ(machine.distance(0, 0), 0);
}

TEST(host_topology, refuses_what_is_no_topology) {
  EXPECT_THROW(topology_from_synthetic("spoon:2"), usage_error);
  try {
    topology_from_xml("/nonexistent/machine.xml");
    FAIL() << "the file does not exist";
  } catch (const error& why) {
    EXPECT_EQ(why.code().value(), ENOENT);
  }
  std::string broken = testing::TempDir() + "creek_topology_XXXXXX";
  const int fd = mkstemp(broken.data());
  ASSERT_GE(fd, 0);
  close(fd);
  std::ofstream(broken) << "<topology version=\"2.0\"><object type=\"Machine\"";
  EXPECT_THROW(topology_from_xml(broken), usage_error);
  unlink(broken.c_str());
}

}  // namespace
}  // namespace creek::host_backend
