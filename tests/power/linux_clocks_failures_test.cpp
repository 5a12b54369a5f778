// SPDX-License-Identifier: Apache-2.0
// Machines without control, files that are wrong, disappear or refuse, clocks that are not granted:
// each gives one line with the reason, and no request is lost silently.
#include <creek/power/linux_clocks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

#include "power/recorded_machine.hpp"

namespace creek::power {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string why_not(std::vector<int> cpus) {
  const auto control = linux_clocks({.pinned = true, .cpus = std::move(cpus)});
  EXPECT_TRUE(control->clocks().empty());
  control->wish(0, 1);  // without effect, but allowed
  EXPECT_EQ(control->clock(0), units::hertz{});
  const std::string why = control->why_not();
  EXPECT_THAT(why, Not(HasSubstr("\n")));
  return why;
}

TEST(linux_clocks_failures, a_machine_without_clocks_says_so) {
  const recorded_machine machine("virtual_machine");
  EXPECT_THAT(why_not({0, 1}),
              AllOf(HasSubstr("/devices/system/cpu/cpufreq"), HasSubstr("virtual machine")));
  EXPECT_TRUE(linux_clock_policies().empty());
}

TEST(linux_clocks_failures, a_tree_that_is_not_there_is_a_usage_error) {
  setenv("CREEK_SYSFS", "/nowhere/at/all", 1);
  try {
    static_cast<void>(linux_clocks());
    ADD_FAILURE() << "no exception";
  } catch (const usage_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("CREEK_SYSFS='/nowhere/at/all' is not a folder"));
  }
  unsetenv("CREEK_SYSFS");
}

TEST(linux_clocks_failures, options_out_of_range_are_usage_errors) {
  const recorded_machine machine("intel_pstate_active");
  EXPECT_THROW(static_cast<void>(linux_clocks({.cpus = {0}, .steps = 1})), usage_error);
  EXPECT_THROW(static_cast<void>(linux_clocks({.cpus = {0}, .steps = 65})), usage_error);
  EXPECT_THROW(static_cast<void>(linux_clocks({.cpus = {-1}})), usage_error);
  EXPECT_THROW(
      static_cast<void>(linux_clocks({.cpus = {0}, .settle = std::chrono::nanoseconds(-1)})),
      usage_error);
}

TEST(linux_clocks_failures, a_cpu_without_policy_is_named) {
  const recorded_machine machine("intel_pstate_active");
  EXPECT_THAT(why_not({0, 17}), HasSubstr("has CPU 17"));
}

/// The file, its contents, and the message about it.
struct wrong_content {
  const char* file;
  const char* content;
  const char* complaint;
};

TEST(linux_clocks_failures, wrong_contents_are_named_with_their_file) {
  for (const auto& [file, content, complaint] : {
           wrong_content{"cpuinfo_max_freq", "", "cpuinfo_max_freq: it is empty"},
           wrong_content{"cpuinfo_max_freq", "fast", "cpuinfo_max_freq: it does not have"},
           wrong_content{"cpuinfo_max_freq", "-5", "cpuinfo_max_freq: it does not have"},
           wrong_content{"cpuinfo_max_freq", "99999999999999999999999", "cpuinfo_max_freq: "},
           wrong_content{"cpuinfo_min_freq", "0", "cpuinfo_min_freq: it does not have"},
           wrong_content{"cpuinfo_min_freq", "2300001", "cpuinfo_min_freq is above"},
           wrong_content{"scaling_available_frequencies", "2000000 junk", "frequencies: it does"},
           wrong_content{"scaling_available_frequencies", "2000000 0", "frequencies: it does"},
           wrong_content{"scaling_available_frequencies", "2000000", "only one clock"},
       }) {
    const recorded_machine machine("amd_acpi_cpufreq");
    machine.write(0, file, content);
    EXPECT_THAT(why_not({0}), HasSubstr(complaint)) << file << " holds '" << content << "'";
  }
}

TEST(linux_clocks_failures, lists_of_cpus_that_make_no_sense_are_named) {
  for (const char* content : {"", "some", "3-1", "0-99999999999", "1,,x"}) {
    const recorded_machine machine("amd_acpi_cpufreq");
    machine.write(0, "affected_cpus", content);
    machine.write(0, "related_cpus", content);
    EXPECT_THAT(why_not({0}), HasSubstr("policy0/affected_cpus")) << content;
  }
}

TEST(linux_clocks_failures, missing_files_are_named) {
  for (const char* file : {"cpuinfo_max_freq", "scaling_max_freq", "scaling_min_freq"}) {
    const recorded_machine machine("amd_acpi_cpufreq");
    machine.remove(0, file);
    EXPECT_THAT(why_not({0}), AllOf(HasSubstr(file), HasSubstr("No such file"))) << file;
  }
}

TEST(linux_clocks_failures, a_file_that_cannot_be_written_is_named) {
  const recorded_machine machine("intel_pstate_active");
  machine.make_folder(1, "scaling_max_freq");
  EXPECT_THAT(why_not({0, 1}), AllOf(HasSubstr("cannot write"),
                                     HasSubstr("policy1/scaling_max_freq: Is a directory")));
  EXPECT_EQ(linux_clock_policies()[0].why_not, "");
  EXPECT_THAT(linux_clock_policies()[1].why_not, HasSubstr("Is a directory"));
}

TEST(linux_clocks_failures, without_permission_it_says_what_to_do) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give up its rights for a while";
  const recorded_machine machine("intel_pstate_active");
  for (const char* file : {"scaling_min_freq", "scaling_max_freq"}) {
    std::filesystem::permissions(
        machine.path(machine.policy(0, file)),
        std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
  }
  std::filesystem::permissions(machine.path(""), std::filesystem::perms::all);
  ASSERT_EQ(seteuid(65534), 0);
  const std::string why = why_not({0});
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_THAT(why, AllOf(HasSubstr("scaling_max_freq: Permission denied"), HasSubstr("run as root"),
                         HasSubstr("docs/power/clocks.md")));
}

std::shared_ptr<clock_control> control_of_one() {
  auto control = linux_clocks({.pinned = true, .cpus = {0}, .settle = {}});
  EXPECT_EQ(control->why_not(), "");
  return control;
}

TEST(linux_clocks_failures, limits_that_contradict_each_other_are_left_alone) {
  const recorded_machine machine("intel_pstate_active");
  machine.write(0, "scaling_min_freq", "4300000");
  const auto control = control_of_one();
  control->wish(0, 0);
  EXPECT_THAT(control->failed(), AllOf(HasSubstr("scaling_min_freq"), HasSubstr("cannot set")));
  EXPECT_EQ(machine.settings(0), "powersave 4300000 4200000");
  EXPECT_EQ(control->clock(0), units::hertz{}) << "it was not set";
}

TEST(linux_clocks_failures, a_file_that_vanishes_in_the_middle_is_told) {
  const recorded_machine machine("intel_pstate_active");
  const auto control = control_of_one();
  control->wish(0, 1);
  EXPECT_EQ(control->failed(), "");
  std::filesystem::remove_all(machine.path("devices/system/cpu/cpufreq/policy0"));
  control->wish(0, 2);
  EXPECT_THAT(control->failed(),
              AllOf(HasSubstr("scaling_min_freq"), HasSubstr("No such file or directory")));
}

TEST(linux_clocks_failures, limits_that_something_else_narrows_are_told) {
  const recorded_machine machine("intel_pstate_active");
  const auto control = control_of_one();
  control->wish(0, 7);
  machine.write(0, "scaling_max_freq", "2400000");
  EXPECT_THAT(control->failed(), HasSubstr("scaling_max_freq holds 2400000 where 4200000 was set"));
  machine.write(0, "scaling_max_freq", "4200000");
  EXPECT_EQ(control->failed(), "");
}

/// Requests clocks up and down until the control has found that a worker computed meanwhile.
std::string failed_after_checks(clock_control& control, std::size_t step) {
  std::string failed;
  for (int i = 0; i < 1'000'000 && failed.empty(); ++i) {
    control.wish(0, step);
    control.wish(0, 0);
    if (i % 100 == 0) failed = control.failed();
  }
  return failed;
}

TEST(linux_clocks_failures, a_clock_that_is_not_reached_is_told) {
  const recorded_machine machine("intel_pstate_active");
  machine.write(0, "scaling_cur_freq", "2400000");
  const auto control = control_of_one();
  EXPECT_THAT(failed_after_checks(*control, 7), HasSubstr("policy0 ran at 2400000 kHz where 4"));
}

TEST(linux_clocks_failures, the_hardwares_figure_is_preferred) {
  const recorded_machine machine("intel_pstate_active");
  machine.write(0, "scaling_cur_freq", "2400000");
  machine.write(0, "cpuinfo_avg_freq", "1111000");
  const auto control = control_of_one();
  EXPECT_THAT(failed_after_checks(*control, 7), HasSubstr("ran at 1111000 kHz"));
}

TEST(linux_clocks_failures, two_controls_do_not_take_each_others_settings_for_the_old_ones) {
  const recorded_machine machine("intel_pstate_active");
  {
    const auto first = control_of_one(), second = control_of_one();
    first->wish(0, 3);
    second->wish(0, 1);
    EXPECT_EQ(machine.settings(0), "powersave 2000000 2000000");
    EXPECT_EQ(first->failed(), "");
    EXPECT_THAT(second->failed(), HasSubstr("another control of this process"));
  }
  EXPECT_EQ(machine.settings(0), "powersave 400000 4200000");
  const auto later = control_of_one();
  later->wish(0, 1);
  EXPECT_EQ(later->failed(), "");
}

TEST(linux_clocks_failures, settings_of_another_process_are_left_alone) {
  const recorded_machine machine("intel_pstate_active");
  // A lock belongs to an open file, so this one could as well be another process's.
  const int other = open(machine.path(machine.policy(0, "scaling_max_freq")).c_str(), O_RDWR);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  const auto control = control_of_one();
  control->wish(0, 1);
  close(other);
  EXPECT_EQ(machine.settings(0), "powersave 400000 4200000");
  EXPECT_THAT(control->failed(), HasSubstr("policy0 is set by another process"));
}

TEST(linux_clocks_failures, a_worker_too_many_is_told) {
  const recorded_machine machine("intel_pstate_active");
  const auto control = control_of_one();
  control->wish(1, 0);
  EXPECT_THAT(control->failed(), HasSubstr("raise its option workers"));
  EXPECT_EQ(machine.settings(0), "powersave 400000 4200000");
}

}  // namespace
}  // namespace creek::power
