// SPDX-License-Identifier: Apache-2.0
// The backend on oneTBB, chosen by value: `creek::runtime rt{creek::tbb_backend{8}};`
#pragma once

#include <memory>
#include <utility>

#include <creek/tasking/runtime.hpp>

namespace creek {

/// Workers of one oneTBB arena. Of scheduler_options it uses `workers` (0: one per CPU of the
/// affinity mask) and `name`; options for the host's own scheduler (scheduler, deque, idle,
/// stack_size, deque_capacity, seed) mean nothing here and are ignored.
struct tbb_backend {
  scheduler_options options;

  /// oneTBB never makes more threads than this for one process.
  static constexpr unsigned max_workers = 256;

  tbb_backend() = default;
  /// Takes this number of workers, and the defaults for all other options.
  explicit tbb_backend(unsigned workers) { options.workers = workers; }
  explicit tbb_backend(scheduler_options chosen) : options(std::move(chosen)) {}

  /// Throws usage_error for more than `max_workers`, for `pin`, which oneTBB's threads cannot
  /// promise, in a child of fork() whose parent had used this backend, and in a program compiled
  /// with AddressSanitizer or ThreadSanitizer, to which oneTBB announces nothing.
  std::unique_ptr<ext::backend> make() const;
};

}  // namespace creek
