// SPDX-License-Identifier: Apache-2.0
// Which source a meter chooses, and the sources that are not files: perf, the model, simulations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/power/meter.hpp>

#include "power/fake_chip.hpp"
#include "power/machine_tree.hpp"

namespace creek::power {
namespace {

using creek::testing::fake_chip;
using creek::testing::machine_tree;
using ::testing::HasSubstr;

/// Sets an environment variable for the duration of a test.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~variable() { unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

TEST(MeterSource, HasNamesAndRefusesOthers) {
  for (const char* name : {"auto", "rapl", "perf", "nvml", "model", "none"}) {
    EXPECT_EQ(to_string(parse_meter_source(name)), name);
  }
  try {
    (void)parse_meter_source("watts");
    FAIL();
  } catch (const usage_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("valid: auto, rapl, perf, nvml, model, none"));
  }
}

TEST(MeterOptions, ComeFromTheEnvironment) {
  machine_tree tree;
  make_amd_desktop(tree);
  const variable where("CREEK_SYSFS", tree.root().string());
  {
    const variable source("CREEK_METER", "perf");
    const meter_options options = meter_options::from_environment();
    EXPECT_EQ(options.source, meter_source::perf);
    EXPECT_EQ(options.sysfs, tree.root().string());
  }
  meter m;
  tree.count("intel-rapl:0", 1001);
  EXPECT_EQ(m.read().energy.source, "rapl");
  const variable source("CREEK_METER", "mains");
  EXPECT_THROW(meter{}, usage_error);
}

TEST(MeterOptions, RefuseATreeThatIsNotThere) {
  const variable where("CREEK_SYSFS", "/nowhere/at/all");
  EXPECT_THROW(meter{}, usage_error);
}

TEST(Meter, TakesNoModelUnlessAsked) {
  machine_tree tree;
  make_virtual_machine(tree);
  EXPECT_FALSE(meter(tree.options()).read().energy.available());
  const energy_figure none = meter(tree.options(meter_source::none)).read().energy;
  EXPECT_FALSE(none.available());
  EXPECT_THAT(none.reason, HasSubstr("not asked for"));
  const energy_figure modelled = meter(tree.options(meter_source::model)).read().energy;
  EXPECT_EQ(modelled.origin, energy_origin::modelled);
  EXPECT_EQ(modelled.source, "model");
  EXPECT_GT(modelled.energy.value, 0);
}

TEST(Meter, ReadsPerfEventsWhereThereIsNoPowercap) {
  machine_tree tree;
  make_perf_events(tree);
  const auto before = std::chrono::steady_clock::now();
  meter m(tree.options());
  spin_for(std::chrono::milliseconds(5));
  const meter_reading reading = m.read();
  const std::chrono::duration<double> at_most = std::chrono::steady_clock::now() - before;
  if (!reading.energy.available()) {
    EXPECT_THAT(reading.energy.reason, HasSubstr("perf_event_open"));
    GTEST_SKIP() << reading.energy.reason;
  }
  EXPECT_EQ(reading.energy.source, "perf");
  EXPECT_EQ(reading.energy.origin, energy_origin::measured);
  ASSERT_EQ(reading.domains.size(), 2U);
  EXPECT_GT(reading.energy.energy.value, 0);
  EXPECT_LE(reading.energy.energy.value, 1.1 * at_most.count() + 1e-3);  // one watt
  for (const domain_figure& each : reading.domains) {
    EXPECT_EQ(each.counted, each.name == "package-0") << each.name;
  }
}

TEST(Meter, RefusesPerfEventsThatAreBadlyDescribed) {
  const std::string pmu = "bus/event_source/devices/power/";
  const std::pair<std::string, std::string> broken[] = {
      {"type", "power\n"},
      {"cpumask", "first\n"},
      {"cpumask", "\n"},
      {"events/energy-pkg", "umask=0x02\n"},
      {"events/energy-pkg.scale", "0\n"},
      {"events/energy-pkg.unit", "Calories\n"},
  };
  for (const auto& [file, text] : broken) {
    machine_tree tree;
    make_perf_events(tree);
    tree.write(pmu + file, text);
    const energy_figure figure = meter(tree.options(meter_source::perf)).read().energy;
    EXPECT_FALSE(figure.available()) << file << " " << text;
    EXPECT_FALSE(figure.reason.empty());
    EXPECT_TRUE(std::isnan(figure.energy.value));
  }
}

TEST(Meter, SaysWhatCanBeReadAndWhyNot) {
  machine_tree tree;
  make_intel_server(tree);
  const auto found = look_for_meters(tree.options());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[2].source, meter_source::nvml);
  EXPECT_FALSE(found[2].detail.empty());
  EXPECT_EQ(found[0].source, meter_source::rapl);
  EXPECT_TRUE(found[0].usable);
  EXPECT_EQ(found[0].detail, "package-0, package-1, package-0/dram, package-1/dram");
  EXPECT_EQ(found[1].source, meter_source::perf);
  EXPECT_FALSE(found[1].usable);
  EXPECT_THAT(found[1].detail, HasSubstr("devices/power is not there"));
}

TEST(Meter, SaysWhatNvmlLacks) {
  const energy_figure figure =
      meter(meter_options{.source = meter_source::nvml, .model = {}}).read().energy;
  if (figure.available()) GTEST_SKIP() << "there is a GPU";
  EXPECT_FALSE(figure.reason.empty());
}

TEST(HostModel, HasKnownAnswers) {
  host_model model;
  model.nominal = units::hertz{2e9};
  model.computing = units::watts{8};
  model.polling = units::watts{4};
  model.asleep = units::watts{0.5};
  model.shared = units::watts{10};
  model.leakage = 0.25;
  model.lowest_voltage = 0.5;
  EXPECT_DOUBLE_EQ(model.core_computing({}).value, 8);
  EXPECT_DOUBLE_EQ(model.core_computing(units::hertz{2e9}).value, 8);
  // Half the clock and three quarters of the voltage.
  EXPECT_DOUBLE_EQ(model.core_computing(units::hertz{1e9}).value, 8 * (0.25 + 0.75 * 0.5 * 0.5625));
  EXPECT_DOUBLE_EQ(model.core_polling(units::hertz{2e9}).value, 4);
  // Two cores for 10 s: 6 s of computing, 4 of polling, 10 asleep.
  const core_activity what{.wall = units::seconds{10},
                           .computing = units::seconds{6},
                           .polling = units::seconds{4},
                           .cores = 2,
                           .clock = {}};
  EXPECT_DOUBLE_EQ(model.energy(what).value, 100 + 48 + 16 + 5);
}

TEST(HostModel, RefusesWhatMakesNoSense) {
  const auto with = [](auto change) {
    meter_options options;
    options.source = meter_source::model;
    change(options.model);
    return options;
  };
  EXPECT_THROW(meter{with([](host_model& m) { m.computing = units::watts{-1}; })}, usage_error);
  EXPECT_THROW(meter{with([](host_model& m) { m.asleep = units::watts{NAN}; })}, usage_error);
  EXPECT_THROW(meter{with([](host_model& m) { m.nominal = {}; })}, usage_error);
  EXPECT_THROW(meter{with([](host_model& m) { m.leakage = 1.5; })}, usage_error);
}

TEST(Meter, FeedsTheModelWithCpuTime) {
  meter_options options;
  options.source = meter_source::model;
  options.cores = 1;
  options.model.shared = options.model.asleep = {};
  options.model.computing = units::watts{5};
  meter m(options);
  spin_for(std::chrono::milliseconds(20));
  const meter_reading reading = m.read();
  EXPECT_NEAR(reading.energy.energy.value, 5 * reading.cpu.value, 1e-9);
  EXPECT_GT(reading.cpu.value, 0);
}

TEST(Meter, TakesTheSimulationThatItsThreadDrives) {
  machine_tree tree;
  make_intel_server(tree);
  std::optional<fake_chip> chip(std::in_place);
  chip->at = {units::joules{10}, units::seconds{1}};
  meter m(tree.options());
  chip->at = {units::joules{35}, units::seconds{1.5}};
  const meter_reading reading = m.read();
  EXPECT_EQ(reading.energy.origin, energy_origin::by_backend);
  EXPECT_EQ(reading.energy.source, "simulation");
  EXPECT_DOUBLE_EQ(reading.energy.energy.value, 25);
  EXPECT_DOUBLE_EQ(reading.wall.value, 0.5);
  EXPECT_DOUBLE_EQ(reading.mean_power().value, 50);
  chip.reset();
  EXPECT_THAT(m.read().energy.reason, HasSubstr("outside of it"));
}

TEST(Meter, AddsSimulationsThatEndedMeanwhile) {
  machine_tree tree;
  make_virtual_machine(tree);
  metered_runs::add({units::joules{7}, units::seconds{1}});
  meter m(tree.options());
  metered_runs::add({units::joules{2}, units::seconds{0.25}});
  metered_runs::add({units::joules{3}, units::seconds{0.5}});
  const meter_reading reading = m.read();
  EXPECT_EQ(reading.energy.origin, energy_origin::by_backend);
  EXPECT_DOUBLE_EQ(reading.energy.energy.value, 5);
  EXPECT_DOUBLE_EQ(reading.wall.value, 0.75);
  m.restart();
  EXPECT_FALSE(m.read().energy.available());
}

TEST(Meter, SaysThatItWasMadeOutsideOfTheSimulation) {
  machine_tree tree;
  make_intel_server(tree);
  meter m(tree.options());
  tree.count("intel-rapl:0", 1001);
  const fake_chip chip;
  EXPECT_THAT(m.read().energy.reason, HasSubstr("outside of the simulation"));
}

}  // namespace
}  // namespace creek::power
