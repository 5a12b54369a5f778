// SPDX-License-Identifier: Apache-2.0
// Meters on a stub of NVML; ctest puts it where the loader looks first.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <creek/power/meter.hpp>

namespace creek::power {
namespace {

using ::testing::HasSubstr;

template <class Function>
Function* stub(const char* name) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

class Nvml : public ::testing::Test {
 protected:
  void SetUp() override {
    if (set == nullptr) GTEST_SKIP() << "not the stub: run it by ctest";
    fail(0);
    set(0, 5'000'000);
    set(1, 7'000'000);
    options.source = meter_source::nvml;
  }

  void (*set)(unsigned, unsigned long long) = stub<void(unsigned, unsigned long long)>("stub_set");
  void (*fail)(int) = stub<void(int)>("stub_fail");
  int (*sessions)() = stub<int()>("stub_sessions");
  meter_options options;
};

TEST_F(Nvml, AddsGpus) {
  {
    meter m(options);
    set(0, 5'001'500);
    set(1, 7'000'250);
    const meter_reading reading = m.read();
    EXPECT_EQ(reading.energy.origin, energy_origin::measured);
    EXPECT_EQ(reading.energy.source, "nvml");
    EXPECT_NEAR(reading.energy.energy.value, 1.75, 1e-9);
    ASSERT_EQ(reading.domains.size(), 2U);
    EXPECT_EQ(reading.domains[1].name, "gpu-1");
    EXPECT_EQ(sessions(), 1);
  }
  EXPECT_EQ(sessions(), 0);
}

TEST_F(Nvml, RefusesACounterThatGoesBackwards) {
  meter m(options);
  set(1, 6'999'999);
  EXPECT_THAT(m.read().energy.reason, HasSubstr("gpu-1 went backwards"));
}

TEST_F(Nvml, SaysThatAGpuHasNoCounter) {
  fail(3);
  const energy_figure figure = meter(options).read().energy;
  EXPECT_FALSE(figure.available());
  EXPECT_EQ(figure.reason, "NVML: nvmlDeviceGetTotalEnergyConsumption: Not Supported");
  EXPECT_EQ(sessions(), 0);
}

TEST_F(Nvml, SaysThatItFailedInTheMiddle) {
  meter m(options);
  fail(999);
  EXPECT_THAT(m.read().energy.reason, HasSubstr("Unknown Error"));
}

}  // namespace
}  // namespace creek::power
