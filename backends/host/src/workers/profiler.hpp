// SPDX-License-Identifier: Apache-2.0
// The profile of a scheduler, if CREEK_PROFILE asks for one.
#pragma once

#include <exception>
#include <optional>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/profile.hpp>

#include "worker_set.hpp"

namespace creek::host_backend {

/// Has the workers account for their time from before their threads start until after they ended.
class profiler {
 public:
  /// Throws usage_error if the variable has no valid value, error if its file cannot be opened.
  profiler();
  ~profiler();
  profiler(const profiler&) = delete;
  profiler& operator=(const profiler&) = delete;

  /// Called before the threads start.
  void begin(worker_set& workers);
  /// Called when they have ended. Returns the error if the profile could not be written, or null.
  std::exception_ptr end(worker_set& workers) noexcept;

 private:
  std::optional<profile_output> output_;
  ticks begin_{};
};

}  // namespace creek::host_backend
