// SPDX-License-Identifier: Apache-2.0
// Options that say how a runtime schedules: one struct, every choice made at run time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek {

/// Ways in which workers get tasks that other workers have made and not started yet.
enum class scheduler_kind : std::uint8_t {
  stealing_random,       ///< idle workers steal from victims chosen uniformly at random
  stealing_last_victim,  ///< ... first from the victim that last had work
  stealing_latency,      ///< ... from near workers first (shared cache, package, NUMA distance)
  sharing,               ///< workers put surplus in one shared queue; empty ones take from it
};

/// The kind of deque of a worker. `mpb` is the lock-based deque of fixed size of [Prell 2011].
enum class deque_kind : std::uint8_t { host, mpb };

/// Protocol by which workers without shared memory send each other messages, for remote.hpp: one of
/// core's. (Host threads have rings of their own size.)
enum class message_protocol : std::uint8_t {
  notification_vector,  ///< a slot per sender, and a byte that says that it is full
  synchronized_ring,    ///< slots for all senders, allocated by an atomic counter
  flagged_slot,         ///< one slot for all, under a lock
  linked_messages,      ///< slots at the sender, linked into the receiver's list
  pair_ring,            ///< a ring of lines per sender, as long as the memory allows
};

/// A call of an object, or by call_on(), that keeps its worker busy: see stall_limit.
struct stall_report {
  core_id worker{0};
  std::uint64_t object = 0;         ///< its remote_address::generation; 0: none
  std::string method = {};          ///< what was called, as the compiler spells its type
  std::chrono::nanoseconds busy{};  ///< time so far, by the backend's clock
};

namespace detail {
/// Returns one second if the library was built with assertions, else zero.
std::chrono::nanoseconds default_stall_limit() noexcept;
}  // namespace detail

/// All options of a runtime. Defaults fit a program that owns the CPUs it may use.
struct scheduler_options {
  /// Number of workers; 0 = as many as the process may use (hardware, affinity mask, CPU quota).
  /// More than `max_workers` is a usage_error.
  unsigned workers = 0;
  /// Bind worker i to the i-th processing unit of the affinity mask.
  bool pin = false;
  scheduler_kind scheduler = scheduler_kind::stealing_random;
  deque_kind deque = deque_kind::host;
  idle_policy idle = idle_policy::block;
  /// Time for which a worker without work looks for some before it sleeps (idle_policy::block,
  /// without `policy`, on host). Calls that follow each other sooner find it awake, on a processor
  /// of its own; meanwhile it keeps that busy, and yields it to others.
  std::chrono::nanoseconds spin_wait = std::chrono::microseconds{100};
  /// Policy that decides how workers wait, instead of `idle`, and at which clock they run; null:
  /// none. Serves one runtime at a time; make one by creek::power::make_policy() or write your own.
  /// On tbb, whose workers wait as oneTBB does, a policy is a usage_error.
  std::shared_ptr<power_policy> policy = {};
  /// Clocks that `policy` acts through, such as creek::power::linux_clocks(); null: no control on
  /// host. Serves one runtime at a time. A backend that models its machine uses the clocks of that.
  std::shared_ptr<clock_control> clocks = {};
  message_protocol messages = message_protocol::synchronized_ring;
  /// Workers that take no tasks, only calls of objects that live on them (remote.hpp) and of
  /// call_on(). What such a call forks or spawns may run elsewhere, too. A worker that does not
  /// exist, or no worker left for tasks, is a usage_error; so is the first worker where tasks from
  /// outside begin on it. On tbb, where a worker is just a number, the option has no effect.
  std::vector<core_id> serve_only = {};
  /// A call that runs on its worker for longer than this without waiting is reported, once and
  /// while it still runs; zero: none is reported. Tasks are not, nor is suspended time. Measured in
  /// wall time by a thread that looks four times per limit, or by the backend's own clock.
  std::chrono::nanoseconds stall_limit = detail::default_stall_limit();
  /// Called with each report, instead of writing a line to standard error. Runs on a thread of its
  /// own, or on the one that runs all workers: it must not wait for the runtime, nor
  /// throw.
  std::function<void(const stall_report&)> on_stall = {};
  /// If nothing runs for this long while tasks are suspended, these tasks and what they wait for
  /// are reported, once; zero: never. On the host backend with idle_policy::block.
  std::chrono::nanoseconds hang_limit = std::chrono::seconds{10};
  /// Called with the tasks, instead of writing lines to standard error. Runs on a thread of the
  /// runtime: it must not wait for the runtime, nor throw.
  std::function<void(std::span<const waiting_task>)> on_hang = {};
  /// Writes what runtime::dump() writes to standard error whenever the process gets SIGQUIT
  /// (Ctrl-\), which then does not end it. On the host backend.
  bool dump_on_sigquit = false;
  /// Bytes per task stack, rounded up to pages; only touched pages cost memory. 16 KiB to 4
  /// GiB.
  std::size_t stack_size = std::size_t{1} << 20;
  /// Tasks per deque. A strand that makes more has some of them run first on another stack (host
  /// with its own deque), or runs the new one at once. 2 to 2^20; 0 is what suits the backend: 2048
  /// on host, 10 in message-passing memory.
  std::uint32_t deque_capacity = 0;
  /// Seed of the victim selection.
  std::uint64_t seed = 1;
  /// Prefix of the names of the worker threads, at most 10 characters.
  std::string name = "creek";

  static constexpr unsigned max_workers = 4096;

  /// Returns the defaults, overridden by CREEK_WORKERS, CREEK_PIN, CREEK_SCHEDULER, CREEK_DEQUE,
  /// CREEK_IDLE, CREEK_SPIN_WAIT, CREEK_MESSAGES, CREEK_SERVE_ONLY, CREEK_STALL_LIMIT,
  /// CREEK_HANG_LIMIT, CREEK_DUMP_ON_SIGQUIT and CREEK_STACK_SIZE. Throws usage_error that names
  /// the variable and its valid values.
  static scheduler_options from_environment();
};

/// Converts names as the tool and the environment spell them; parsing an unknown one throws
/// usage_error that lists the valid ones.
std::string_view to_string(scheduler_kind kind);
std::string_view to_string(deque_kind kind);
std::string_view to_string(idle_policy policy);
std::string_view to_string(message_protocol protocol);
scheduler_kind parse_scheduler(std::string_view name);
deque_kind parse_deque(std::string_view name);
idle_policy parse_idle(std::string_view name);
message_protocol parse_messages(std::string_view name);

namespace ext {
/// Checks `serve_only` and drops workers named twice. Called by backends that have settled the
/// number of workers. Throws usage_error.
void check_serve_only(scheduler_options& options);
bool serves_only(const scheduler_options& options, unsigned worker) noexcept;
}  // namespace ext

}  // namespace creek
