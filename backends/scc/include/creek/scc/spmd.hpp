// SPDX-License-Identifier: Apache-2.0
// Runs one function on the cores of a simulated chip that send each other messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/io/atomic_file.hpp>
#include <creek/core/messages/communicator.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/scc/check.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/memory.hpp>
#include <creek/scc/usage.hpp>

namespace creek {

namespace scc_backend {

/// Cost of a simulated run, in virtual time except for `switches`.
struct run_report {
  std::vector<virtual_time>
      ended;                   ///< when each core's function returned, from the run's time zero
  std::vector<fault> faults;   ///< what the coherence checker found; empty without one
  std::uint64_t switches = 0;  ///< the simulator's own: changes of the core it works on
  usage_report usage;          ///< time by activity, energy, traffic, from zero to length()
  [[nodiscard]] virtual_time length() const noexcept;
};

/// How the cores of run_cores() and simulate() wait in wait_until() and wait_poll(), and at which
/// clock: core i is the policy's worker i. Before a wait the policy is told that the worker is
/// idle, after it that a task is about to run. A plan to block halts the core: signalling its word,
/// which looks at one more word, interrupts it, and it takes `interrupt_entry` cycles to go on.
struct wait_options {
  /// Null: all poll, at the cost of computing, and signals are plain stores.
  std::shared_ptr<power_policy> policy = nullptr;
  /// Cost of waking a halted core beside the entry of the interrupt: 0 on bare metal; 2000 cycles
  /// under Linux, with the program in user space [Rotta 2012]. At most one second.
  cycles kernel_crossing{0};
};

/// Way in which blocks of shared memory move that a program only states (creek::charge_shared_read,
/// charge_shared_write): at the throughput of one core [van Tol 2011], with the contention of all.
enum class block_moves : std::uint8_t {
  uncached,  ///< word by word past the caches: 20 MB/s
  combined,  ///< as MPBT memory, in lines: 107 MB/s read, 125 MB/s written
};

struct machine_options {
  chip description = chip::scc_533();
  /// Bytes of a simulated core's stack; only touched pages cost memory.
  std::size_t stack_bytes = std::size_t{256} << 10;
  /// 0: all cores begin at time zero. Otherwise each begins at a time of its own, drawn from the
  /// seed, within chip::start_skew: another seed, another schedule.
  std::uint64_t seed = 0;
  /// Polling that pauses between its looks costs host time for as long as it goes on. When cores
  /// have done nothing else for this long, none of them ever will: a deadlock. Zero: poll for ever.
  /// A loop over loads of words is polling, too, unless computing is measured (below): what it
  /// computes between them might be what the program is about.
  virtual_time stuck_after = {1'000'000'000'000'000};  // a second
  /// Follows every access to memory that is not private; reports wrong uses (creek/scc/check.hpp).
  bool check = false;
  /// Called once with the faults, if there are any, also before a run throws.
  std::function<void(const std::vector<fault>&)> on_faults = {};
  /// 0: a core computes for as long as the program states (creek/core/charge.hpp). Otherwise that
  /// is ignored, and each stretch between two operations of the chip or calls of a runtime takes
  /// the CPU time that it takes this machine, times this number: core cycles per second here, as
  /// `creek scc calibrate` finds it. Such a run does not repeat. Not negative.
  double cycles_a_host_second = 0;
  block_moves blocks = block_moves::uncached;
  /// Chrome/Perfetto trace in virtual time, opened before the run and written when it ends, also if
  /// it fails. Empty: none, at no cost.
  std::string trace_file = {};
  /// SVG of the mesh: busy time, message-passing traffic and power of each core. Empty: none.
  std::string heatmap_file = {};
  /// Kinds of existing files that the two may replace.
  atomic_file::targets records_may_be = atomic_file::targets::any;
  /// How cores wait; a runtime of tasks (creek/scc.hpp) goes by scheduler_options::policy instead.
  wait_options waits = {};
  /// Returns, for the report of a deadlock, what a core was doing; null: nothing is said.
  std::function<std::string(core_id)> describe = nullptr;
};

/// Calls `core(memory)` once on every core of a fresh chip. Rethrows the first
/// exception of a core; the waits of all others then throw too. A deadlock is an exception that
/// says what each core waits for.
run_report run_cores(const machine_options& options, const std::function<void(memory&)>& core);

/// Returns the first `ranks` cores. Throws usage_error if the chip has fewer.
[[nodiscard]] std::vector<core_id> first_cores(const chip& on, int ranks);
/// Throws usage_error if a core is not on the chip or is named twice.
void require_cores(const chip& on, const std::vector<core_id>& cores);

}  // namespace scc_backend

/// One rank of a program on a simulated chip.
using scc_communicator = communicator<scc_backend::memory>;

/// Like spmd() on host threads (creek/host/spmd.hpp), on a simulated chip: rank i is core
/// `cores[i]`. Throws usage_error if a core is not on the chip or is named twice.
template <class F>
scc_backend::run_report simulate_on(const std::vector<core_id>& cores, F&& f,
                                    const scc_backend::machine_options& options = {},
                                    communicator_options messages = {}) {
  scc_backend::require_cores(options.description, cores);
  return scc_backend::run_cores(options, [&](scc_backend::memory& memory) {
    if (std::find(cores.begin(), cores.end(), memory.self()) == cores.end()) return;
    symmetric_allocator allocator{0, memory.mpm_bytes(), scc_backend::memory::line_bytes};
    allocator.observe(memory.allocations());
    scc_communicator c{memory, allocator, team{cores, memory.self()}, messages};
    if constexpr (std::is_invocable_v<F&, scc_communicator&, symmetric_allocator&>) {
      f(c, allocator);
    } else {
      f(c);
    }
  });
}

/// Calls simulate_on() with the first `ranks` cores. Throws usage_error if the chip has fewer.
template <class F>
scc_backend::run_report simulate(int ranks, F&& f, const scc_backend::machine_options& options = {},
                                 communicator_options messages = {}) {
  return simulate_on(scc_backend::first_cores(options.description, ranks), std::forward<F>(f),
                     options, messages);
}

}  // namespace creek
