// SPDX-License-Identifier: Apache-2.0
#include "policy_runtime.hpp"

#include <cassert>
#include <utility>

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

creek::scheduler_options options_of(std::shared_ptr<creek::power_policy> policy, unsigned workers) {
  creek::scheduler_options options;
  options.workers = workers;
  options.policy = std::move(policy);
  return options;
}

}  // namespace

policy_runtime::policy_runtime(const std::string& policy, unsigned workers)
    : watch_(std::make_shared<creek::tool::compare::watched_policy>(
          creek::power::make_policy(policy), nullptr)),
      runtime_(options_of(watch_, workers)) {
  entered = &runtime_;
}

policy_runtime::~policy_runtime() {
  entered = nullptr;
}

}  // namespace power

}  // namespace bench
