// SPDX-License-Identifier: Apache-2.0
// The runtime with a power policy that a run is measured on; one at a time, since workers that poll
// would disturb those of another.
#pragma once
#include <memory>
#include <string>

#include <creek/tasking.hpp>

#include "../../support/watched_policy.hpp"

namespace bench::power {

/// The workloads of the creek peer run here while this object exists.
class policy_runtime {
 public:
  policy_runtime(const std::string& policy, unsigned workers);
  ~policy_runtime();
  policy_runtime(const policy_runtime&) = delete;
  policy_runtime& operator=(const policy_runtime&) = delete;
  creek::runtime& get() noexcept { return runtime_; }
  /// Return the CPU time of the workers so far, and the part of it without a task.
  double cpu_seconds() const noexcept { return watch_->cpu_seconds(); }
  double idle_cpu_seconds() const noexcept { return watch_->idle_cpu_seconds(); }

 private:
  std::shared_ptr<creek::tool::compare::watched_policy> watch_;
  creek::runtime runtime_;
};

}  // namespace bench::power
