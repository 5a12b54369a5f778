// SPDX-License-Identifier: Apache-2.0
// Meters on the powercap files of several machines, whole and broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <creek/power/meter.hpp>

#include "power/machine_tree.hpp"

namespace creek::power {
namespace {

using creek::testing::machine_tree;
using ::testing::HasSubstr;

double domain(const meter_reading& reading, const std::string& name) {
  for (const domain_figure& each : reading.domains) {
    if (each.name == name) return each.energy.value;
  }
  return std::nan("");
}

void expect_unavailable(const energy_figure& figure, const std::string& why) {
  EXPECT_EQ(figure.origin, energy_origin::unavailable);
  EXPECT_TRUE(std::isnan(figure.energy.value));
  EXPECT_THAT(figure.reason, HasSubstr(why));
  EXPECT_EQ(figure.reason.find('\n'), std::string::npos);
}

/// A test that runs, as root, as a user whom the modes of files restrict.
class anybody {
 public:
  anybody() {
    if (geteuid() == 0) changed_ = seteuid(65534) == 0;
  }
  ~anybody() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  anybody(const anybody&) = delete;
  anybody& operator=(const anybody&) = delete;
  [[nodiscard]] bool cannot_read(const std::filesystem::path& file) const {
    return eaccess(file.c_str(), R_OK) != 0;
  }

 private:
  bool changed_ = false;
};

TEST(Rapl, AddsPackagesAndTheirMemoryOnAServer) {
  machine_tree tree;
  make_intel_server(tree);
  meter m(tree.options());
  tree.count("intel-rapl:0", 1010);
  tree.count("intel-rapl:0:0", 103);
  tree.count("intel-rapl:1", 2020.5);
  tree.count("intel-rapl:1:0", 204);
  const meter_reading reading = m.read();
  EXPECT_EQ(reading.energy.origin, energy_origin::measured);
  EXPECT_EQ(reading.energy.source, "rapl");
  EXPECT_NEAR(reading.energy.energy.value, 10 + 3 + 20.5 + 4, 1e-9);
  EXPECT_NEAR(domain(reading, "package-1/dram"), 4, 1e-9);
  EXPECT_EQ(reading.domains.size(), 4U);
  EXPECT_GT(reading.wall.value, 0);
  EXPECT_NEAR(reading.mean_power().value, 37.5 / reading.wall.value, 1e-6 / reading.wall.value);
  EXPECT_NEAR(m.read_energy().energy.value, 37.5, 1e-9);
}

TEST(Rapl, CountsNothingTwiceOnALaptop) {
  machine_tree tree;
  make_laptop(tree);
  meter m(tree.options());
  tree.count("intel-rapl:0", 1010);
  tree.count("intel-rapl:0:0", 506);
  tree.count("intel-rapl:0:1", 101);
  tree.count("intel-rapl:0:2", 52);
  tree.count("intel-rapl:1", 5017);
  tree.count("intel-rapl-mmio:0", 3010);
  const meter_reading reading = m.read();
  EXPECT_NEAR(reading.energy.energy.value, 12, 1e-9);
  EXPECT_NEAR(domain(reading, "psys"), 17, 1e-9);
  EXPECT_NEAR(domain(reading, "package-0/core"), 6, 1e-9);
  double counted = 0;
  for (const domain_figure& each : reading.domains) counted += each.counted ? each.energy.value : 0;
  EXPECT_NEAR(counted, 12, 1e-9);
  EXPECT_EQ(reading.domains.size(), 5U);
}

TEST(Rapl, ReadsAmd) {
  machine_tree tree;
  make_amd_desktop(tree);
  meter m(tree.options());
  tree.count("intel-rapl:0", 1030);
  tree.count("intel-rapl:0:0", 25);
  const meter_reading reading = m.read();
  EXPECT_NEAR(reading.energy.energy.value, 30, 1e-9);
  EXPECT_NEAR(domain(reading, "package-0/core"), 5, 1e-9);
}

TEST(Rapl, SaysThatAVirtualMachineHasNone) {
  machine_tree tree;
  make_virtual_machine(tree);
  meter m(tree.options());
  const meter_reading reading = m.read();
  expect_unavailable(reading.energy, "virtual machine");
  EXPECT_THAT(reading.energy.reason, HasSubstr("CREEK_METER=model"));
  EXPECT_TRUE(std::isnan(reading.mean_power().value));
  EXPECT_TRUE(reading.domains.empty());
  EXPECT_GT(reading.cpu.value, 0);
}

TEST(Rapl, FollowsACounterAroundItsEnd) {
  machine_tree tree;
  tree.zone("intel-rapl:0", "package-0", 262140);
  meter m(tree.options());
  tree.count("intel-rapl:0", 4);
  EXPECT_NEAR(m.read().energy.energy.value, 262143.328850 - 262140 + 4, 1e-6);
  tree.count("intel-rapl:0", 10);
  EXPECT_NEAR(m.read().energy.energy.value, 262143.328850 - 262140 + 10, 1e-6);
}

TEST(Rapl, RefusesACounterThatGoesBackwards) {
  machine_tree tree;
  make_intel_server(tree);
  meter m(tree.options());
  tree.count("intel-rapl:1", 1500);
  expect_unavailable(m.read().energy, "went backwards, from 2000000000 to 1500000000 uJ");
  tree.count("intel-rapl:1", 2100);  // the count before it went backwards is unknown
  expect_unavailable(m.read().energy, "went backwards");
  m.restart();
  tree.count("intel-rapl:1", 2101);
  EXPECT_NEAR(m.read().energy.energy.value, 1, 1e-9);
}

TEST(Rapl, RefusesToGuessTheRangeOfACounter) {
  machine_tree tree;
  make_amd_desktop(tree);
  tree.remove("class/powercap/intel-rapl:0/max_energy_range_uj");
  meter m(tree.options());
  tree.count("intel-rapl:0", 999);
  expect_unavailable(m.read().energy, "names no largest value");
}

TEST(Rapl, SaysWhenACounterMayHaveWrappedUnseen) {
  machine_tree tree;
  tree.zone("intel-rapl:0", "package-0", 0.0001, "1000");  // one microsecond at one kilowatt
  meter m(tree.options());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  tree.count("intel-rapl:0", 0.0002);
  expect_unavailable(m.read().energy, "may have wrapped more than once");
}

TEST(Rapl, ASamplerSeesEveryWrap) {
  machine_tree tree;
  tree.zone("intel-rapl:0", "package-0", 10, "1500000000");  // 1.5 seconds at one kilowatt
  meter_options options = tree.options();
  meter without(options);
  options.sample_every = std::chrono::milliseconds(10);
  meter with(options);
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  tree.count("intel-rapl:0", 12);
  expect_unavailable(without.read().energy, "sample_every");
  EXPECT_NEAR(with.read().energy.energy.value, 2, 1e-9);
}

TEST(Rapl, SaysThatAFileVanished) {
  machine_tree tree;
  make_intel_server(tree);
  meter m(tree.options());
  tree.count("intel-rapl:0", 1001);
  EXPECT_TRUE(m.read().energy.available());
  tree.remove("class/powercap/intel-rapl:0");
  expect_unavailable(m.read().energy, "intel-rapl:0/energy_uj has vanished");
  m.restart();
  tree.count("intel-rapl:1", 2001);
  EXPECT_NEAR(m.read().energy.energy.value, 1, 1e-9);  // a machine with one package
}

TEST(Rapl, SaysThatAFileBecameEmptyOrHoldsSomethingElse) {
  for (const std::string text : {"", "twelve\n", "-5\n", "99999999999999999999999\n"}) {
    machine_tree tree;
    make_amd_desktop(tree);
    meter m(tree.options());
    tree.write("class/powercap/intel-rapl:0/energy_uj", text);
    expect_unavailable(m.read().energy, "cannot read");
    meter begun_later(tree.options());
    expect_unavailable(begun_later.read().energy, "cannot read");
  }
}

TEST(Rapl, IsNoTotalWithoutOneOfThePackages) {
  machine_tree tree;
  make_intel_server(tree);
  tree.remove("class/powercap/intel-rapl:1/energy_uj");
  meter m(tree.options());
  tree.count("intel-rapl:0", 1001);
  expect_unavailable(m.read().energy, "intel-rapl:1/energy_uj");
}

TEST(Rapl, IsNoTotalWithAZoneThatDoesNotSayWhatItIs) {
  machine_tree tree;
  make_intel_server(tree);
  tree.remove("class/powercap/intel-rapl:1/name");
  expect_unavailable(meter(tree.options()).read().energy, "intel-rapl:1/name");
}

TEST(Rapl, LeavesOutAPartThatCannotBeRead) {
  machine_tree tree;
  make_laptop(tree);
  tree.remove("class/powercap/intel-rapl:0:1/energy_uj");
  meter m(tree.options());
  tree.count("intel-rapl:0", 1001);
  tree.write("class/powercap/intel-rapl:1/energy_uj", "1\n");  // psys goes backwards
  const meter_reading reading = m.read();
  EXPECT_NEAR(reading.energy.energy.value, 1, 1e-9);
  EXPECT_TRUE(std::isnan(domain(reading, "package-0/uncore")));
  EXPECT_TRUE(std::isnan(domain(reading, "psys")));
}

TEST(Rapl, NamesTheFileAndTheCommandWhereAccessIsMissing) {
  machine_tree tree;
  make_amd_desktop(tree);
  const auto file = tree.root() / "class/powercap/intel-rapl:0/energy_uj";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  std::filesystem::permissions(tree.root(), std::filesystem::perms(0755));
  const anybody nobody_special;
  if (!nobody_special.cannot_read(file)) GTEST_SKIP() << "this user may read everything";
  meter m(tree.options());
  const energy_figure figure = m.read().energy;
  expect_unavailable(figure, "sudo chmod a+r");
  EXPECT_THAT(figure.reason, HasSubstr(file.string()));
}

TEST(Rapl, IsNoZeroWhereTheCountersStandStill) {
  machine_tree tree;
  make_intel_server(tree);
  meter m(tree.options());
  expect_unavailable(m.read().energy, "did not move");
  tree.count("intel-rapl:0", 1000.5);
  EXPECT_NEAR(m.read().energy.energy.value, 0.5, 1e-9);
}

}  // namespace
}  // namespace creek::power
