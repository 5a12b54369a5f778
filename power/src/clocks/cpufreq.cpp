// SPDX-License-Identifier: Apache-2.0
#include "cpufreq.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sysfs.hpp"

namespace creek::power {

namespace {

std::string cpu_folder(const std::string& root) {
  return root + "/devices/system/cpu";
}

/// Returns the directories of settings: cpufreq/policyN, in older kernels cpuN/cpufreq.
std::vector<std::string> policy_folders(const std::string& root) {
  std::vector<std::string> found;
  const std::string all = cpu_folder(root);
  for (const std::string& name : sysfs::entries(all + "/cpufreq", "policy")) {
    if (sysfs::parse_number(std::string_view(name).substr(6)))
      found.push_back(all + "/cpufreq/" + name);
  }
  if (!found.empty()) return found;
  for (const std::string& name : sysfs::entries(all, "cpu")) {
    if (!sysfs::parse_number(std::string_view(name).substr(3))) continue;
    std::string folder = all + "/" + name + "/cpufreq";
    if (sysfs::read_line(folder + "/scaling_driver")) found.push_back(std::move(folder));
  }
  return found;
}

/// Records the first problem of a policy.
void blame(cpufreq_policy& policy, std::string what) {
  if (policy.problem.empty()) policy.problem = std::move(what);
}

std::uint64_t read_clock(cpufreq_policy& policy, std::string_view name) {
  const std::string path = policy.file(name);
  sysfs::number read = sysfs::read_number(path);
  if (read && read.value == 0) read.error = EINVAL;
  if (!read) blame(policy, sysfs::why("read", path, read.error));
  return read.value;
}

/// Reads the online CPUs of a policy, or all its CPUs if that file is unusable.
void read_cpus(cpufreq_policy& policy) {
  const std::string path = policy.file("affected_cpus");
  const sysfs::line read = sysfs::read_line(path);
  policy.cpus = sysfs::parse_cpus(read.text);
  if (!policy.cpus.empty()) return;
  policy.cpus = sysfs::parse_cpus(sysfs::read_line(policy.file("related_cpus")).text);
  if (!policy.cpus.empty()) return;
  const int error = read.error != 0 ? read.error : read.text.empty() ? ENODATA : EINVAL;
  blame(policy, sysfs::why("read", path, error));
}

void read_range(cpufreq_policy& policy) {
  policy.lowest = read_clock(policy, "cpuinfo_min_freq");
  policy.highest = read_clock(policy, "cpuinfo_max_freq");
  if (policy.lowest > policy.highest) {
    blame(policy, policy.file("cpuinfo_min_freq") + " is above cpuinfo_max_freq");
  }
}

/// Adds the clocks that a file lists, except those above `most`.
void read_list(cpufreq_policy& policy, const char* name, std::uint64_t most) {
  const std::string path = policy.file(name);
  const sysfs::line read = sysfs::read_line(path);
  for (const std::string& word : sysfs::words(read.text)) {
    const sysfs::number clock = sysfs::parse_number(word);
    if (!clock || clock.value == 0) {
      blame(policy, sysfs::why("read", path, EINVAL));
      return;
    }
    if (clock.value <= most) policy.clocks.push_back(clock.value);
  }
}

/// Reads the driver's table of clocks, with boost clocks if boosting is enabled: they are always
/// listed, but count for cpuinfo_max_freq only then. The table may end below that maximum, which
/// includes clocks that the hardware adds by itself.
void read_table(cpufreq_policy& policy) {
  read_list(policy, "scaling_available_frequencies", ~std::uint64_t{0});
  read_list(policy, "scaling_boost_frequencies", policy.highest);
  if (policy.clocks.empty()) return;
  std::sort(policy.clocks.begin(), policy.clocks.end());
  policy.clocks.erase(std::unique(policy.clocks.begin(), policy.clocks.end()), policy.clocks.end());
  policy.lowest = policy.clocks.front();
  policy.highest = policy.clocks.back();
}

cpufreq_policy read_policy(std::string folder) {
  cpufreq_policy policy;
  policy.folder = std::move(folder);
  read_cpus(policy);
  policy.driver = sysfs::read_line(policy.file("scaling_driver")).text;
  policy.governor = sysfs::read_line(policy.file("scaling_governor")).text;
  const auto governors =
      sysfs::words(sysfs::read_line(policy.file("scaling_available_governors")).text);
  policy.userspace = std::find(governors.begin(), governors.end(), "userspace") != governors.end();
  read_range(policy);
  read_table(policy);
  return policy;
}

}  // namespace

std::uint64_t cpufreq_policy::nearest(std::uint64_t wish) const noexcept {
  if (clocks.empty()) return std::clamp(wish, lowest, highest);
  const auto at = std::lower_bound(clocks.begin(), clocks.end(), wish);
  return at != clocks.end() ? *at : highest;
}

std::string cpufreq_policy::file(std::string_view name) const {
  return folder + "/" + std::string(name);
}

std::vector<cpufreq_policy> read_cpufreq(const std::string& root) {
  std::vector<cpufreq_policy> policies;
  for (std::string& folder : policy_folders(root)) {
    cpufreq_policy policy = read_policy(std::move(folder));
    // In older kernels each CPU's directory is a link to the policy that it shares.
    const bool known = std::any_of(policies.begin(), policies.end(), [&](const auto& earlier) {
      return !policy.cpus.empty() && earlier.cpus == policy.cpus;
    });
    if (!known) policies.push_back(std::move(policy));
  }
  return policies;
}

std::vector<int> share_clock_with(const std::string& root, const cpufreq_policy& policy) {
  std::vector<int> cpus = policy.cpus;
  const auto add = [&](const std::string& path) {
    const std::vector<int> more = sysfs::parse_cpus(sysfs::read_line(path).text);
    cpus.insert(cpus.end(), more.begin(), more.end());
  };
  add(policy.file("freqdomain_cpus"));
  for (const int cpu : policy.cpus) {
    add(cpu_folder(root) + "/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace creek::power
