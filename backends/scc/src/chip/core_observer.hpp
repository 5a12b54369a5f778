// SPDX-License-Identifier: Apache-2.0
// Charges the work that programs state to the simulated core that runs.
#pragma once

#include <creek/core/execution_observer.hpp>

#include "machine.hpp"

namespace creek::scc_backend {

/// Must not throw: a program is told of a failure at its next wait or load, and run() reports it.
class core_observer : public execution_observer {
 public:
  explicit core_observer(machine& on) noexcept : on_{on} {}

  void computed(cycles length) noexcept override;
  /// Charges the sum of the work at once: other cores may run after each charge.
  void worked(std::span<const work_amount> done) noexcept override;
  void moved(std::uint64_t block, std::size_t bytes, bool written) noexcept override;
  std::optional<std::chrono::nanoseconds> time() noexcept override;

 protected:
  ~core_observer() = default;

 private:
  machine& on_;
};

}  // namespace creek::scc_backend
