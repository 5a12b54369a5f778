// SPDX-License-Identifier: Apache-2.0
#include "policy_runtime.hpp"

#include <sys/resource.h>

#include <cassert>

#include <creek/power/policies.hpp>

#include "harness/creek_runtime.hpp"

namespace bench {

namespace {

creek::runtime* entered = nullptr;

}  // namespace

creek::runtime& kept_runtime(const settings&) {
  assert(entered != nullptr);
  return *entered;
}

std::vector<entry>& table() {
  static std::vector<entry> entries;
  return entries;
}

registration::registration(const description& what, run_function run) {
  table().push_back({what, run});
}

namespace power {

namespace {

creek::scheduler_options options_of(const std::string& policy, unsigned workers) {
  creek::scheduler_options options;
  options.workers = workers;
  options.policy = creek::power::make_policy(policy);
  return options;
}

}  // namespace

policy_runtime::policy_runtime(const std::string& policy, unsigned workers)
    : runtime_(options_of(policy, workers)) {
  entered = &runtime_;
}

policy_runtime::~policy_runtime() {
  entered = nullptr;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace power

}  // namespace bench
