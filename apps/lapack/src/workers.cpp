// SPDX-License-Identifier: Apache-2.0
#include "workers.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include <creek/core/threads/signals_blocked.hpp>
#include <creek/host.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/power/linux_clocks.hpp>
#include <creek/power/policies.hpp>
#include <creek/tasking/this_worker.hpp>

namespace creek::lapack {
namespace {

/// Minimum operations for which workers pay off, as measured with two of them: about 200 us of one
/// core. Products and QR gain from 5 million on, Cholesky and LU from 10 million on.
constexpr double worth_workers = 8e6;

/// Workers look for the next call for this long. A thread that was asleep comes late, and often to
/// the processor of the caller.
constexpr std::chrono::milliseconds between_calls{50};

/// The runtime of this process once there is one. Published by a compare-exchange and never freed:
/// no lock can stay locked over a fork(), exit waits for nothing, and calls from destructors of
/// static objects find it alive.
std::atomic<runtime*> current{nullptr};
/// Set if there would be one worker or none could be started: do not try again.
std::atomic<bool> none_wanted{false};

/// Forgets the runtime in a child, which has none of the workers; its memory leaks there.
void forget_runtime() {
  current.store(nullptr, std::memory_order_relaxed);
  none_wanted.store(false, std::memory_order_relaxed);
}
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, &forget_runtime);

/// Makes a runtime. Returns nullptr if it would have only one worker.
std::unique_ptr<runtime> make_runtime() {
  scheduler_options options = scheduler_options::from_environment();
  if (options.workers == 0) options.workers = host_backend::read_cpu_limit().workers;
  if (options.workers == 1) return nullptr;
  options.name = "lapack";
  if (std::getenv("CREEK_SPIN_WAIT") == nullptr) options.spin_wait = between_calls;
  if (const char* const policy = std::getenv("CREEK_POWER"); policy != nullptr && *policy != '\0') {
    options.policy = power::make_policy(policy);
    options.clocks = power::linux_clocks({.workers = options.workers, .pinned = options.pin});
  }
  const signals_blocked meanwhile;
  return std::make_unique<runtime>(host(std::move(options)));
}

runtime* first_call() noexcept {
  std::unique_ptr<runtime> made;
  try {
    made = make_runtime();
  } catch (const std::exception& failure) {
    if (!none_wanted.exchange(true)) {
      std::fprintf(stderr, "creek: lapack works in the calling thread: %s\n", failure.what());
    }
    return nullptr;
  }
  if (made == nullptr) {
    none_wanted.store(true);
    return nullptr;
  }
  runtime* expected = nullptr;
  if (!current.compare_exchange_strong(expected, made.get())) return expected;
  return made.release();
}

}  // namespace

runtime* runtime_for(double operations) noexcept {
  if (operations < worth_workers || this_worker() >= 0) return nullptr;
  if (runtime* const made = current.load(std::memory_order_acquire)) return made;
  return none_wanted.load(std::memory_order_relaxed) ? nullptr : first_call();
}

}  // namespace creek::lapack
