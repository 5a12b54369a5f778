// SPDX-License-Identifier: Apache-2.0
// Clock control on the layouts of several machines: the values that it reads there, and its writes.
#include <creek/power/linux_clocks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "power/recorded_machine.hpp"

namespace creek::power {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> megahertz_of(const clock_control& control) {
  std::vector<double> found;
  for (const units::hertz each : control.clocks()) found.push_back(each.value / 1e6);
  return found;
}

std::vector<int> domains_of(const clock_control& control, unsigned workers) {
  std::vector<int> found;
  for (unsigned worker = 0; worker < workers; ++worker) found.push_back(control.domain(worker));
  return found;
}

std::shared_ptr<clock_control> pinned_to(std::vector<int> cpus) {
  auto control = linux_clocks({.pinned = true, .cpus = std::move(cpus)});
  EXPECT_EQ(control->why_not(), "");
  return control;
}

TEST(linux_clocks, offers_even_steps_of_whole_100_MHz_where_there_is_no_table) {
  const recorded_machine machine("intel_pstate_active");
  EXPECT_THAT(megahertz_of(*pinned_to({0})),
              ElementsAre(400, 900, 1500, 2000, 2600, 3100, 3700, 4200));
  EXPECT_THAT(megahertz_of(*linux_clocks({.cpus = {0}, .steps = 2})), ElementsAre(400, 4200));
}

TEST(linux_clocks, offers_the_drivers_table_lowest_first) {
  const recorded_machine machine("amd_acpi_cpufreq");
  EXPECT_THAT(megahertz_of(*pinned_to({0, 2})), ElementsAre(1400, 1700, 2000, 2300));
}

TEST(linux_clocks, offers_clocks_that_boost_where_that_is_switched_on) {
  const recorded_machine machine("amd_acpi_cpufreq");
  machine.write(0, "scaling_boost_frequencies", "3000000 ");
  EXPECT_THAT(megahertz_of(*pinned_to({0, 2})), ElementsAre(1400, 1700, 2000, 2300));
  machine.write(0, "cpuinfo_max_freq", "3000000");
  EXPECT_THAT(megahertz_of(*pinned_to({0, 2})), ElementsAre(1400, 1700, 2000, 2300, 3000));
}

TEST(linux_clocks, offers_the_tables_of_unequal_cores_together) {
  const recorded_machine machine("arm_big_little");
  EXPECT_THAT(megahertz_of(*pinned_to({0, 4})),
              ElementsAre(408, 600, 816, 1008, 1200, 1416, 1608, 1800));
  EXPECT_THAT(megahertz_of(*pinned_to({0})), ElementsAre(408, 600, 816, 1008, 1200, 1416));
}

TEST(linux_clocks, gives_threads_of_a_core_one_domain) {
  const recorded_machine machine("intel_pstate_active");
  EXPECT_EQ(domains_of(*pinned_to({0, 1, 2, 3, 4, 5, 6, 7}), 8),
            (std::vector{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(linux_clocks, gives_cores_of_a_policy_one_domain) {
  const recorded_machine machine("arm_big_little");
  EXPECT_EQ(domains_of(*pinned_to({0, 1, 2, 3, 4, 5}), 6), (std::vector{0, 0, 0, 0, 1, 1}));
}

TEST(linux_clocks, gives_cores_that_the_hardware_couples_one_domain) {
  const recorded_machine machine("intel_pstate_passive");
  machine.write(1, "freqdomain_cpus", "1 3");
  EXPECT_EQ(domains_of(*pinned_to({0, 1, 2, 3}), 4), (std::vector{0, 1, 2, 1}));
}

TEST(linux_clocks, gives_workers_that_may_move_one_domain) {
  const recorded_machine machine("intel_pstate_passive");
  EXPECT_EQ(domains_of(*linux_clocks({.cpus = {0, 1, 2}}), 3), (std::vector{0, 0, 0}));
}

TEST(linux_clocks, counts_cpus_around_for_more_workers) {
  const recorded_machine machine("intel_pstate_passive");
  const auto control = linux_clocks({.workers = 5, .pinned = true, .cpus = {1, 3}});
  EXPECT_EQ(domains_of(*control, 5), (std::vector{0, 1, 0, 1, 0}));
}

TEST(linux_clocks, changes_nothing_before_the_first_wish) {
  const recorded_machine machine("intel_pstate_passive");
  const auto control = pinned_to({0, 1});
  EXPECT_EQ(machine.settings(0), "schedutil 1000000 3700000");
  EXPECT_EQ(control->clock(0), units::hertz{}) << "nobody knows what the governor does";
}

TEST(linux_clocks, sets_both_limits_where_there_is_no_userspace) {
  for (const char* name : {"intel_pstate_active", "amd_pstate_epp"}) {
    const recorded_machine machine(name);
    const auto control = pinned_to({0, 1});
    const std::string top = machine.read(0, "cpuinfo_max_freq");
    for (const std::size_t step : {2, 7, 5, 0, 1, 99}) {
      control->wish(0, step);
      const std::size_t index = std::min<std::size_t>(step, 7);
      const auto clock = static_cast<long>(control->clocks()[index].value / 1e3);
      const std::string both = std::to_string(clock);
      EXPECT_EQ(machine.settings(0), "powersave " + both + " " + both) << name;
      EXPECT_EQ(control->clock(0), control->clocks()[index]);
    }
    EXPECT_EQ(machine.settings(1), "powersave 400000 " + top) << "nobody wished there";
    EXPECT_EQ(control->failed(), "");
  }
}

TEST(linux_clocks, sets_the_speed_where_there_is_userspace) {
  const recorded_machine machine("amd_acpi_cpufreq");
  const auto control = pinned_to({0, 2});
  control->wish(1, 2);
  EXPECT_EQ(machine.settings(2), "userspace 1400000 2300000");
  EXPECT_EQ(machine.read(2, "scaling_setspeed"), "2000000");
  EXPECT_EQ(machine.settings(0), "ondemand 1400000 2300000");
  EXPECT_EQ(control->clock(1), units::megahertz(2000));
  EXPECT_EQ(control->failed(), "");
}

TEST(linux_clocks, widens_limits_that_leave_out_a_clock) {
  const recorded_machine machine("amd_acpi_cpufreq");
  machine.write(0, "scaling_min_freq", "1700000");
  machine.write(0, "scaling_max_freq", "2000000");
  {
    const auto control = pinned_to({0});
    control->wish(0, 0);
    EXPECT_EQ(machine.settings(0), "userspace 1400000 2300000");
    EXPECT_EQ(machine.read(0, "scaling_setspeed"), "1400000");
  }
  EXPECT_EQ(machine.settings(0), "ondemand 1700000 2000000");
}

TEST(linux_clocks, does_with_limits_where_the_governor_cannot_be_written) {
  const recorded_machine machine("intel_pstate_passive");
  machine.make_folder(0, "scaling_setspeed");
  const auto control = pinned_to({0});
  control->wish(0, 0);
  EXPECT_EQ(machine.settings(0), "schedutil 1000000 1000000");
}

TEST(linux_clocks, gives_small_cores_their_highest_for_a_wish_beyond) {
  const recorded_machine machine("arm_big_little");
  const auto control = pinned_to({0, 4});
  control->wish(0, 99);
  control->wish(1, 99);
  EXPECT_EQ(machine.read(0, "scaling_setspeed"), "1416000");
  EXPECT_EQ(machine.read(4, "scaling_setspeed"), "1800000");
  EXPECT_EQ(control->clock(0), units::megahertz(1416));
  EXPECT_EQ(control->clock(1), units::megahertz(1800));
}

TEST(linux_clocks, does_not_claim_one_clock_for_unequal_cores) {
  const recorded_machine machine("arm_big_little");
  const auto control = linux_clocks({.cpus = {0, 4}});
  control->wish(0, 0);
  control->wish(1, 0);
  EXPECT_EQ(control->clock(0), units::megahertz(408));
  control->wish(1, 99);
  EXPECT_EQ(control->clock(0), units::hertz{});
  EXPECT_EQ(machine.read(0, "scaling_setspeed"), "1416000");
}

TEST(linux_clocks, runs_a_domain_at_its_workers_highest_wish) {
  const recorded_machine machine("amd_acpi_cpufreq");
  const auto control = pinned_to({0, 1});
  const auto speed = [&] { return machine.read(0, "scaling_setspeed"); };
  control->wish(0, 0);
  EXPECT_EQ(speed(), "1400000") << "the other does not wish yet";
  control->wish(1, 1);
  EXPECT_EQ(speed(), "1700000");
  control->wish(0, 2);
  EXPECT_EQ(speed(), "2000000");
  control->wish(1, 0);
  EXPECT_EQ(speed(), "2000000");
  control->wish(0, 0);
  EXPECT_EQ(speed(), "1400000");
}

TEST(linux_clocks, repeats_no_write) {
  const recorded_machine machine("amd_acpi_cpufreq");
  const auto control = pinned_to({0, 1});
  control->wish(0, 3);
  machine.write(0, "scaling_setspeed", "untouched");
  control->wish(0, 3);
  control->wish(1, 1);
  control->wish(1, 3);
  EXPECT_EQ(machine.read(0, "scaling_setspeed"), "untouched");
}

TEST(linux_clocks, finds_the_folders_of_older_kernels) {
  const recorded_machine machine("arm_big_little");
  const std::string cpus = "devices/system/cpu/";
  for (const int policy : {0, 4}) {
    const auto target = machine.path(cpus + "cpu" + std::to_string(policy) + "/cpufreq");
    std::filesystem::rename(machine.path(cpus + "cpufreq/policy" + std::to_string(policy)), target);
  }
  std::filesystem::create_directory_symlink("../cpu0/cpufreq", machine.path(cpus + "cpu1/cpufreq"));
  const auto control = pinned_to({0, 1, 4});
  EXPECT_EQ(domains_of(*control, 3), (std::vector{0, 0, 1}));
  EXPECT_EQ(linux_clock_policies().size(), 2u);
  control->wish(2, 0);
  EXPECT_EQ(machine.read(cpus + "cpu4/cpufreq/scaling_setspeed"), "408000");
}

TEST(linux_clocks, tells_what_a_machine_has) {
  const recorded_machine machine("amd_acpi_cpufreq");
  const auto policies = linux_clock_policies();
  ASSERT_EQ(policies.size(), 2u);
  EXPECT_EQ(policies[1].cpus, (std::vector{2, 3}));
  EXPECT_EQ(policies[1].driver, "acpi-cpufreq");
  EXPECT_EQ(policies[1].governor, "ondemand");
  EXPECT_EQ(policies[1].lowest, units::megahertz(1400));
  EXPECT_EQ(policies[1].highest, units::megahertz(2300));
  EXPECT_EQ(policies[1].table, 4u);
  EXPECT_TRUE(policies[1].userspace);
  EXPECT_EQ(policies[1].why_not, "");
}

/// In whatever order workers make requests, afterwards the settings are those of the highest
/// request in each domain.
TEST(linux_clocks, settles_at_the_highest_of_wishes_made_at_once) {
  const recorded_machine machine("arm_big_little");
  const auto control = pinned_to({0, 1, 2, 3, 4, 5});
  constexpr unsigned workers = 6;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::size_t> last(workers);
    {
      std::vector<std::jthread> threads;
      for (unsigned worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
          std::minstd_rand random(static_cast<unsigned>(round) * workers + worker + 1);
          for (int i = 0; i < 100; ++i) {
            last[worker] = random() % 8;
            control->wish(worker, last[worker]);
          }
        });
      }
    }
    const std::size_t little = std::max({last[0], last[1], last[2], last[3]});
    const std::size_t big = std::max(last[4], last[5]);
    const auto expected = std::min(control->clocks()[little], units::megahertz(1416));
    EXPECT_EQ(control->clock(0), expected);
    EXPECT_EQ(control->clock(4), control->clocks()[big]);
    EXPECT_EQ(machine.read(4, "scaling_setspeed"),
              std::to_string(static_cast<long>(control->clock(4).value / 1e3)));
  }
  EXPECT_EQ(control->failed(), "");
}

}  // namespace
}  // namespace creek::power
