// SPDX-License-Identifier: Apache-2.0
// Detection of fork(): threads, and with them the workers of a runtime, stay in the parent.
#pragma once

namespace creek::scc_backend {

/// Knows whether the process is a child that fork() made after this object. In such a child the
/// thread that called fork() no longer drives a simulation.
class fork_detector {
 public:
  fork_detector();
  [[nodiscard]] bool lost_in_fork() const noexcept;

 private:
  unsigned forks_before_;
};

}  // namespace creek::scc_backend
