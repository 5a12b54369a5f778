// SPDX-License-Identifier: Apache-2.0
// How a runtime schedules: one struct, every choice made at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace creek {

/// Who runs a task that its maker has not started yet.
enum class scheduler_kind : std::uint8_t {
  stealing_random,       ///< idle workers steal from victims chosen uniformly at random
  stealing_last_victim,  ///< ... first from the victim that last had work
  stealing_latency,      ///< ... from near workers first (shared cache, package, NUMA distance)
  sharing,               ///< workers put surplus in one shared queue; empty ones take from it
};

/// Which deque a worker owns. `mpb` is the published lock-based deque of fixed size.
enum class deque_kind : std::uint8_t { host, mpb };

/// What a worker without work does.
enum class idle_policy : std::uint8_t {
  poll,     ///< search without pause; lowest latency, burns the core
  backoff,  ///< search ever more rarely, giving the core away in between; never sleeps in the
            ///< kernel
  block,    ///< search for about the price of a wake-up, then sleep in the kernel
};

/// Everything a runtime can be told. Defaults fit a program that owns the CPUs it may use.
struct scheduler_options {
  /// Number of workers; 0 = as many as the process may use (hardware, affinity mask, CPU quota).
  /// More than `max_workers` is a usage_error.
  unsigned workers = 0;
  /// Bind worker i to the i-th processing unit of the affinity mask.
  bool pin = false;
  scheduler_kind scheduler = scheduler_kind::stealing_random;
  deque_kind deque = deque_kind::host;
  idle_policy idle = idle_policy::block;
  /// Bytes of a task's stack, rounded up to pages; only touched pages cost memory. 16 KiB to
  /// 4 GiB.
  std::size_t stack_size = std::size_t{1} << 20;
  /// Tasks a deque holds; further ones run inline at once. 2 to 2^20; 0 is what suits the backend:
  /// 2048 on host, 10 on scc.
  std::uint32_t deque_capacity = 0;
  /// Seed of the victim selection.
  std::uint64_t seed = 1;
  /// Prefix of the names of the worker threads, at most 10 characters.
  std::string name = "creek";

  static constexpr unsigned max_workers = 4096;

  /// The defaults overridden by CREEK_WORKERS, CREEK_PIN, CREEK_SCHEDULER, CREEK_DEQUE, CREEK_IDLE
  /// and CREEK_STACK_SIZE. Throws usage_error that names the variable and its valid values.
  static scheduler_options from_environment();
};

/// Names as the tool and the environment spell them; parsing an unknown one throws usage_error that
/// lists the valid ones.
std::string_view to_string(scheduler_kind kind);
std::string_view to_string(deque_kind kind);
std::string_view to_string(idle_policy policy);
scheduler_kind parse_scheduler(std::string_view name);
deque_kind parse_deque(std::string_view name);
idle_policy parse_idle(std::string_view name);

}  // namespace creek
