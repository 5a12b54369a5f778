// SPDX-License-Identifier: Apache-2.0
#include "fork_detector.hpp"

#include <pthread.h>

#include <atomic>

#include <creek/core/execution_observer.hpp>
#include <creek/tasking/ext/executor.hpp>

#include "tasks/worker_set.hpp"

namespace creek::scc_backend {

namespace {

/// Counts fork() calls that led to this process.
std::atomic<unsigned> forks{0};

void note_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
  if (worker_set::driven_here() == nullptr) return;
  worker_set::drive(nullptr);
  execution_observer::exchange(nullptr);
  ext::set_foreign_scope(nullptr, nullptr);
}

unsigned noticed_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, &note_fork);
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

fork_detector::fork_detector() : forks_before_(noticed_forks()) {}

bool fork_detector::lost_in_fork() const noexcept {
  return forks_before_ != forks.load(std::memory_order_relaxed);
}

}  // namespace creek::scc_backend
