// SPDX-License-Identifier: Apache-2.0
// The CPU limits on recorded trees: cgroup v1, v2 and hybrid, nested groups, containers with and
// without namespaces, and files that are missing or invalid.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include <creek/host/affinity.hpp>
#include <creek/host/cpu_limit.hpp>

#include "machine/recent_limit.hpp"
#include "support/temporary_folder.hpp"

namespace creek::host_backend {
namespace {

namespace fs = std::filesystem;

const std::string v2_mount =
    "29 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string v1_mount =
    "32 29 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
const std::string hybrid_mount =
    "30 29 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:5 - cgroup2 cgroup2 rw\n";
const std::string other_mounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "31 29 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

class cpu_limits : public testing::Test {
 protected:
  cpu_limits() { file("sys/devices/system/cpu/online", "0-15\n"); }

  void file(const fs::path& path, const std::string& content) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  void process(const std::string& groups, const std::string& mounts) const {
    file("proc/self/cgroup", groups);
    file("proc/self/mountinfo", other_mounts + mounts);
  }
  void v1_quota(const fs::path& folder, const std::string& quota, const std::string& period) const {
    file(folder / "cpu.cfs_quota_us", quota);
    file(folder / "cpu.cfs_period_us", period);
  }
  cpu_limit limit(unsigned affinity = 16) const { return read_cpu_limit(root_, affinity); }

  support::temporary_folder root_;
};

TEST_F(cpu_limits, without_groups_hardware_and_mask_decide) {
  EXPECT_EQ(limit(16).workers, 16U);
  EXPECT_EQ(limit(16).decided_by, limit_kind::hardware);
  EXPECT_EQ(limit(3).workers, 3U);
  EXPECT_EQ(limit(3).decided_by, limit_kind::affinity);
  EXPECT_FALSE(limit().quota);
}

TEST_F(cpu_limits, v2_quota_is_rounded_up) {
  process("0::/app.slice\n", v2_mount);
  file("sys/fs/cgroup/app.slice/cpu.max", "250000 100000\n");
  const cpu_limit found = limit();
  EXPECT_EQ(found.workers, 3U);
  EXPECT_EQ(found.decided_by, limit_kind::quota);
  ASSERT_TRUE(found.quota);
  EXPECT_DOUBLE_EQ(found.quota->cpus, 2.5);
  EXPECT_EQ(found.quota->from, "/sys/fs/cgroup/app.slice");
  EXPECT_EQ(found.quota->version, 2);
}

TEST_F(cpu_limits, a_fraction_of_a_cpu_still_runs_one_worker) {
  process("0::/app\n", v2_mount);
  file("sys/fs/cgroup/app/cpu.max", "1000 100000\n");
  EXPECT_EQ(limit().workers, 1U);
}

TEST_F(cpu_limits, whole_cpus_are_not_rounded_further) {
  process("0::/app\n", v2_mount);
  file("sys/fs/cgroup/app/cpu.max", "400000 100000\n");
  EXPECT_EQ(limit().workers, 4U);
}

TEST_F(cpu_limits, the_tightest_ancestor_counts) {
  process("0::/a/b/c\n", v2_mount);
  file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(limit().workers, 2U);
  EXPECT_EQ(limit().quota->from, "/sys/fs/cgroup/a");
}

TEST_F(cpu_limits, a_sibling_group_does_not_count) {
  process("0::/a/b\n", v2_mount);
  file("sys/fs/cgroup/a/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(limit().workers, 16U);
}

TEST_F(cpu_limits, max_is_no_limit) {
  process("0::/\n", v2_mount);
  file("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(limit().quota);
  EXPECT_EQ(limit().decided_by, limit_kind::hardware);
}

TEST_F(cpu_limits, v1_quota_of_nested_groups) {
  process("5:memory:/x\n4:cpu,cpuacct:/a/b\n1:name=systemd:/s\n", v1_mount);
  v1_quota("sys/fs/cgroup/cpu,cpuacct", "-1\n", "100000\n");
  v1_quota("sys/fs/cgroup/cpu,cpuacct/a", "150000\n", "50000\n");
  v1_quota("sys/fs/cgroup/cpu,cpuacct/a/b", "-1\n", "100000\n");
  EXPECT_EQ(limit().workers, 3U);
  EXPECT_EQ(limit().quota->version, 1);
  EXPECT_EQ(limit().quota->from, "/sys/fs/cgroup/cpu,cpuacct/a");
}

TEST_F(cpu_limits, hybrid_looks_at_both_hierarchies) {
  process("4:cpu,cpuacct:/v1\n0::/v2\n", v1_mount + hybrid_mount);
  v1_quota("sys/fs/cgroup/cpu,cpuacct/v1", "500000\n", "100000\n");
  EXPECT_EQ(limit().workers, 5U);
  file("sys/fs/cgroup/unified/v2/cpu.max", "200000 100000\n");
  EXPECT_EQ(limit().workers, 2U);
}

TEST_F(cpu_limits, only_the_controller_cpu_limits_cpu_time) {
  process("4:cpuset,cpuacct:/a\n", v1_mount);
  v1_quota("sys/fs/cgroup/cpu,cpuacct/a", "100000\n", "100000\n");
  EXPECT_FALSE(limit().quota);
}

// A container without a namespace of its own: the process sees the host's path, and its group is
// the mounted one.
TEST_F(cpu_limits, a_mounted_subtree_starts_at_the_mount_point) {
  process("4:cpu,cpuacct:/docker/4f2\n",
          "40 39 0:30 /docker/4f2 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  v1_quota("sys/fs/cgroup/cpu", "300000\n", "100000\n");
  EXPECT_EQ(limit().workers, 3U);
}

TEST_F(cpu_limits, a_group_outside_the_mounted_part_falls_back_to_the_mount_point) {
  process("0::/../elsewhere\n", v2_mount);
  file("sys/fs/cgroup/cpu.max", "600000 100000\n");
  file("sys/fs/elsewhere/cpu.max", "100000 100000\n");  // must not be reached
  EXPECT_EQ(limit().workers, 6U);
}

TEST_F(cpu_limits, mount_points_with_escaped_spaces) {
  process("0::/a b:c\n", "29 22 0:26 / /my\\040cgroups rw - cgroup2 none rw\n");
  file("my cgroups/a b:c/cpu.max", "700000 100000\n");
  EXPECT_EQ(limit().workers, 7U);
}

TEST_F(cpu_limits, malformed_quotas_do_not_limit) {
  process("0::/a\n", v2_mount);
  for (const char* nonsense : {"", "\n", "abc 100000", "100000", "100000 0", "0 100000",
                               "-5 100000", "1e5 100000", "99999999999999999999 100000"}) {
    file("sys/fs/cgroup/a/cpu.max", nonsense);
    EXPECT_FALSE(limit().quota) << nonsense;
  }
}

TEST_F(cpu_limits, malformed_process_files_do_not_limit) {
  file("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  for (const char* nonsense : {"", ":", "0:", "0::", "0::a\n", "x:cpu\n", "\n\n\n"}) {
    process(nonsense, v2_mount);
    EXPECT_FALSE(limit().quota) << nonsense;
  }
  for (const char* nonsense : {"", "-", "29 22 0:26 / /sys/fs/cgroup rw", "a b c d e f - cgroup2",
                               "- cgroup2 cgroup2 rw", "29 22 0:26 / - cgroup2 x rw"}) {
    process("0::/a\n", nonsense);
    EXPECT_EQ(limit().workers, 16U) << nonsense;
  }
}

TEST_F(cpu_limits, online_units_may_be_a_list_with_holes) {
  file("sys/devices/system/cpu/online", "0-3,8,10-11\n");
  EXPECT_EQ(limit().hardware, 7U);
  for (const char* nonsense : {"", "x", "3-1", "0-", ",", "0-99999999999"}) {
    file("sys/devices/system/cpu/online", nonsense);
    EXPECT_GE(limit().hardware, 1U) << nonsense;
  }
}

TEST_F(cpu_limits, a_huge_quota_is_no_overflow) {
  process("0::/a\n", v2_mount);
  file("sys/fs/cgroup/a/cpu.max", "9000000000000000000 1\n");
  EXPECT_EQ(limit().workers, 16U);
}

TEST_F(cpu_limits, more_workers_than_the_least_limit_are_too_many) {
  EXPECT_FALSE(oversubscribed(4, limit(4)));
  EXPECT_TRUE(oversubscribed(5, limit(4)));
}

TEST_F(cpu_limits, a_root_without_anything_falls_back_to_this_machine) {
  const cpu_limit found = read_cpu_limit(root_ / "nothing", 1);
  EXPECT_GE(found.hardware, 1U);
  EXPECT_EQ(found.workers, 1U);
}

TEST_F(cpu_limits, are_read_again_after_100_ms) {
  using namespace std::chrono_literals;
  process("0::/a\n", v2_mount);
  file("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  recent_limit recent;
  const auto at = [&](std::chrono::nanoseconds now) {
    return recent.get(now, [&] { return limit().workers; });
  };
  EXPECT_EQ(at(5s), 3U);
  file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(at(5s + 99ms), 3U);
  EXPECT_EQ(at(5s + 100ms), 2U);
  file("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  EXPECT_EQ(at(5s + 199ms), 2U);
  EXPECT_EQ(at(5s + 200ms), 1U);
}

TEST(the_recent_limit, follows_the_affinity_mask_at_once) {
  const auto before = affinity_mask();
  EXPECT_EQ(recent_cpu_limit(), read_cpu_limit().workers);
  bind_this_thread(before.front());
  EXPECT_EQ(recent_cpu_limit(), 1U);
  allow_this_thread(before);
  EXPECT_EQ(recent_cpu_limit(), read_cpu_limit().workers);
}

TEST(cpu_limit_here, agrees_with_the_mask) {
  const cpu_limit found = read_cpu_limit();
  EXPECT_EQ(found.affinity, affinity_mask().size());
  EXPECT_GE(found.workers, 1U);
  EXPECT_LE(found.workers, found.affinity);
}

}  // namespace
}  // namespace creek::host_backend
