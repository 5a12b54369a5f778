// SPDX-License-Identifier: Apache-2.0
// The backend of host threads, chosen by value: `creek::runtime rt{creek::host{8}};`
#pragma once

#include <memory>

#include <creek/tasking/runtime.hpp>

namespace creek {

/// Workers on threads of this machine, with all of scheduler_options to choose from.
struct host {
  scheduler_options options;

  host() = default;
  /// Takes this number of workers, and the defaults for all other options.
  explicit host(unsigned workers) { options.workers = workers; }
  explicit host(scheduler_options chosen) : options(std::move(chosen)) {}

  /// Throws usage_error if an option is out of range, creek::error if the system refuses threads or
  /// memory.
  std::unique_ptr<ext::backend> make() const;
};

}  // namespace creek
