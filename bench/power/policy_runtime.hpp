// SPDX-License-Identifier: Apache-2.0
// The runtime that a run is measured on, with a power policy; one at a time, since workers that
// poll would disturb another's.
#pragma once
#include <string>

#include <creek/tasking.hpp>

namespace bench::power {

/// While it lives, the workloads of the creek peer run here.
class policy_runtime {
 public:
  policy_runtime(const std::string& policy, unsigned workers);
  ~policy_runtime();
  policy_runtime(const policy_runtime&) = delete;
  policy_runtime& operator=(const policy_runtime&) = delete;
  creek::runtime& get() noexcept { return runtime_; }

 private:
  creek::runtime runtime_;
};

/// User and system time of the process so far.
double cpu_seconds();

}  // namespace bench::power
