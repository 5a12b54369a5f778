// SPDX-License-Identifier: Apache-2.0
// The backend on the simulated chip, chosen by value: `creek::runtime rt{creek::scc{48}};`
// Tasks run for real, on one host thread; time is the chip's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <creek/core/measuring/counters.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

namespace scc_backend {

/// Cost of the tasks of a runtime so far, in virtual time.
struct task_report {
  counter_values counters;        ///< of all workers; times in virtual nanoseconds
  std::uint64_t lock_waits = 0;   ///< attempts at a test-and-set register that another core held
  std::uint64_t memory_full = 0;  ///< tasks run inline for want of memory for counter or result
  virtual_time ended;             ///< the latest clock of a worker
  units::joules energy;           ///< of the whole chip, from time zero to `ended`
  /// Time and energy of the cores while they ran tasks; the rest of `energy` went into making,
  /// finding and waiting for them, and into what no core has for itself. By counters.tasks: a task.
  account_usage tasks;
  usage_report usage;  ///< what each core did, from time zero to `ended`
  /// Hash of each task run, stolen, suspended and resumed: where, when. Equal for equal schedules.
  std::uint64_t schedule = 0;
  std::vector<fault> faults;  ///< what the coherence checker found; empty without one
};

/// The clock of the simulated core that the caller runs on; nothing on other threads.
std::optional<virtual_time> simulated_now();

}  // namespace scc_backend

/// Workers on the cores 0, 1, ... of a simulated chip. Of scheduler_options it uses `workers` (0:
/// all cores of the chip), `scheduler`, `deque_capacity` (tasks in a worker's deque in its
/// message-passing memory, 0: 10), `stack_size`, `seed`, and `idle`: `poll` searches without pause,
/// `backoff` rests ever longer between rounds, `block` halts the core until an interrupt.
/// `deque` is always mpb. Of machine_options it ignores `stack_bytes`, `stuck_after` and
/// `describe`, and refuses a `seed`: that of scheduler_options also says when the cores begin.
/// Faults that the checker finds go to the report, and to `on_faults` or, if that is empty, to
/// stderr.
struct scc {
  scheduler_options options;
  scc_backend::machine_options machine;
  /// Filled when the runtime ends, if not null.
  scc_backend::task_report* report = nullptr;
  /// Cost of waking a halted worker beside the entry of the interrupt: 0 on bare metal; 2000 cycles
  /// under Linux with the runtime in user space [Rotta 2012]. At most 1 s.
  cycles kernel_crossing{0};

  scc() = default;
  /// Takes that number of workers of an SCC and the defaults for all else.
  explicit scc(unsigned workers) { options.workers = workers; }
  explicit scc(scheduler_options chosen, scc_backend::machine_options chip = {})
      : options(std::move(chosen)), machine(std::move(chip)) {}

  /// Throws usage_error if the chip has fewer cores than workers are asked for, if the deque does
  /// not fit into the message-passing memory, or if an option is out of range or impossible here.
  std::unique_ptr<ext::backend> make() const;
};

}  // namespace creek
